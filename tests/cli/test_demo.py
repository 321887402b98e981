"""The demo: what it claims of the pretrained encoder holds, and its page is fit for any terminal, pipe or program."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import subprocess

import pytest
import torch
from rich.console import Console

import bough
from bough import samples
from bough.cli import main
from bough.cli.demo import PAIRS, SENSES, WORD, Report, measured
from bough.cli.demo_page import page


@pytest.fixture(scope="module")
def report() -> Report:
    samples.encoder()
    return measured()


def shown(report: Report, width: int, **kind: bool) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False, **kind)
    console.print(page(report))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_sentences_of_one_meaning_are_nearer_than_sentences_of_one_word(report: Report) -> None:
    cosines = {
        kind: [one.cosine for one in report.sentences.pairs if one.kind == kind] for kind in ("meaning", "words")
    }
    assert min(cosines["meaning"]) > max(cosines["words"]) + 0.2
    shared = {one.kind: one.shared_words for one in report.sentences.pairs}
    assert shared["meaning"] == [], "else its words could explain it"
    assert len(report.sentences.pairs) == len(PAIRS)


def test_the_senses_of_a_word_begin_together_and_end_apart(report: Report) -> None:
    first, *_, last = report.word.layers
    assert min(first.same_sense + first.other_sense) > 0.9
    assert min(last.same_sense) > max(last.other_sense)
    assert first.nearest_has_same_sense < last.nearest_has_same_sense == len(report.word.texts)


def test_the_word_is_compared_by_its_own_states(report: Report) -> None:
    model = bough.load(samples.folder())
    texts = [text for group in SENSES.values() for text in group]
    encodings = [model.tokenizer.encode(text) for text in texts]
    for layer in (0, 3, 6):
        states = [model.hidden([one.ids], layer=layer)[0][one.tokens.index(WORD)] for one in encodings]
        table = torch.tensor(report.word.layers[layer].cosines)
        for a, b in itertools.product(range(len(texts)), repeat=2):
            torch.testing.assert_close(table[a, b], torch.cosine_similarity(states[a], states[b], dim=0))


def test_json_has_every_number_of_the_page(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = dataclasses.asdict(report)
    assert found.pop("seconds").keys() == expected.pop("seconds").keys()
    assert found == expected


def test_the_page_says_where_the_model_is_and_what_to_type_next(
    report: Report, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["demo"]) == 0
    said = capsys.readouterr().out
    assert str(samples.folder()).removeprefix(report.encoder.folder.split("/.cache")[0]) in said
    for command in ("bough families", "bough verify", "bough embed"):
        assert command in said


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(report: Report, width: int) -> None:
    lines = shown(report, width).splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    for text in (*report.sentences.texts, *report.word.texts):
        assert any(text in line for line in lines)


def test_in_forty_columns_every_line_still_fits(report: Report) -> None:
    assert max(map(len, shown(report, 40).splitlines())) <= 40


def test_the_folder_is_shown_as_a_shell_takes_it(report: Report) -> None:
    odd = dataclasses.replace(report.encoder, folder="/cache [bold]/of mine")
    assert "bough verify '/cache [bold]/of mine'" in shown(dataclasses.replace(report, encoder=odd), 200)


def test_a_pipe_gets_no_escape_codes(report: Report) -> None:
    assert "\x1b" not in shown(report, 80)


def test_no_color_is_obeyed_and_the_page_is_still_told_apart(report: Report) -> None:
    plain = shown(report, 80, force_terminal=True, no_color=True)
    assert "\x1b[3" not in plain
    assert "38;2;" not in plain
    assert {"●", "○", "━", "╍", "■", "□"} <= set(plain)


def test_a_second_run_fetches_nothing(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("pip was asked again")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert "fetch" not in measured().seconds
