"""`bough embed`: a line for each text, in order, from wherever the texts come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from running import Run

import bough
from bough.model import Pooling

TEXTS = ["the river flooded", "", "the bank lent money"]


def vectors(out: str) -> torch.Tensor:
    return torch.tensor([[float(one) for one in row.split()] for row in out.splitlines()])


@pytest.fixture
def expected(encoder: Path) -> torch.Tensor:
    return bough.load(encoder).embed(TEXTS)


def test_texts_of_the_line_become_lines_of_numbers(run: Run, encoder: Path, expected: torch.Tensor) -> None:
    torch.testing.assert_close(vectors(run("embed", encoder, *TEXTS).out), expected, atol=1e-5, rtol=0)


def test_json_lines_carry_the_text_and_the_exact_vector(run: Run, encoder: Path, expected: torch.Tensor) -> None:
    rows = [json.loads(row) for row in run("embed", encoder, *TEXTS, "--json").out.splitlines()]
    assert [row["text"] for row in rows] == TEXTS
    assert torch.equal(torch.tensor([row["vector"] for row in rows]), expected)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_each_line_of_a_file_has_its_vector_the_empty_ones_too(
    run: Run, encoder: Path, expected: torch.Tensor, tmp_path: Path, ends: str, start: bytes
) -> None:
    (tmp_path / "texts.txt").write_bytes(start + ends.join(TEXTS).encode())
    out = run("embed", encoder, "--file", tmp_path / "texts.txt").out
    torch.testing.assert_close(vectors(out), expected, atol=1e-5, rtol=0)


def test_a_dash_reads_stdin_however_many_lines_there_are(
    run: Run, encoder: Path, expected: torch.Tensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS * 400))
    with (tmp_path / "texts.txt").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        out = run("embed", encoder, "-").out
    torch.testing.assert_close(vectors(out), expected.repeat(400, 1), atol=1e-5, rtol=0)


def test_bytes_that_are_no_text_are_named_by_file_and_line(run: Run, encoder: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_bytes(b"the bank\nthe \xff river\n")
    done = run("embed", encoder, "--file", tmp_path / "texts.txt")
    assert (done.code, done.err) == (
        2, f"bough: {tmp_path}/texts.txt:2: not UTF-8 (invalid start byte at byte 5); convert it\n"
    )  # fmt: skip


def test_a_line_without_end_is_refused_before_it_fills_the_memory(run: Run, encoder: Path, tmp_path: Path) -> None:
    with (tmp_path / "texts.txt").open("wb") as file:
        file.truncate(2**34)
    done = run("embed", encoder, "--file", tmp_path / "texts.txt")
    assert (done.code, done.err) == (
        2, f"bough: {tmp_path}/texts.txt:1: a line of more than 16 MiB; split it into texts\n"
    )  # fmt: skip


@pytest.mark.parametrize("pooling", ["mean", "first", "last", "max"])
def test_pooling_layer_and_length_are_as_asked(run: Run, encoder: Path, pooling: Pooling) -> None:
    out = run("embed", encoder, *TEXTS, "--pooling", pooling, "--layer", "1", "--no-normalize").out
    expected = bough.load(encoder).embed(TEXTS, pooling, layer=1, normalize=False)
    torch.testing.assert_close(vectors(out), expected, atol=1e-5, rtol=1e-5)


def test_texts_that_were_cut_are_told_of_on_stderr(run: Run, encoder: Path, caplog: pytest.LogCaptureFixture) -> None:
    run("embed", encoder, "the " * 50)
    assert caplog.messages == ["1 of 1 texts were cut to 12 tokens"]


def test_a_text_that_no_tokenizer_can_read_is_refused(run: Run, encoder: Path) -> None:
    done = run("embed", encoder, "the \udcff bank")
    assert done.code == 2
    said = "letter 5 is half a character, U+DCFF (a lone surrogate), which no vocabulary has; replace it"
    assert done.err == f"bough: text 0: {said}\n"
