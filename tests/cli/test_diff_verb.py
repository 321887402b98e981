"""`bough diff`: what differs, in sentences; and that there are words for all that can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from running import Run

import bough
from bough.cli.words import PHRASES, phrase, sentence
from bough.families import FAMILIES
from bough.model import Model
from bough.record import Difference, Record, _kinds, _options, plain
from bough.spec import Spec

SAMPLES = {int: 7, float: 0.25, str: "bert", bool: True, type(None): None}


def values(kind: Any) -> Iterator[Any]:
    """A value of each sort that a field may hold."""
    for option in _options(kind):
        if get_origin(option) is Annotated:
            yield from values(get_args(option)[0])
        elif get_origin(option) is Literal:
            yield from get_args(option)
        elif get_origin(option) is tuple:
            yield tuple(values(get_args(option)[0]))
        elif option is bool:
            yield from (True, False)
        else:
            yield option() if issubclass(option, Record) else SAMPLES[option]


def paths(record: type[Record], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every path that a record of this kind may have, with each sort of value there."""
    for name, kind in _kinds(record).items():
        found = list(values(kind))
        for value in found:
            if len(found) > 1 or not isinstance(value, Record):
                yield prefix + name, value
            if isinstance(value, Record):
                yield from paths(type(value), f"{prefix}{name}.")


@pytest.mark.parametrize(("path", "value"), list(dict.fromkeys(paths(Spec))), ids=str)
def test_there_are_words_for_every_value_of_every_path(path: str, value: Any) -> None:
    said = phrase(path, value)
    assert said
    assert "{" not in said
    assert sentence(Difference(path, value, value), "A", "B").startswith(f"B {said} where A ")


def test_no_words_are_left_over_for_paths_that_are_no_more() -> None:
    assert set(PHRASES) == {path for path, _ in paths(Spec)}


@pytest.mark.parametrize("a", FAMILIES)
@pytest.mark.parametrize("b", FAMILIES)
def test_any_two_families_can_be_compared_in_sentences(run: Run, a: str, b: str) -> None:
    differences = run("diff", a, b, "--json").document
    assert [one["path"] for one in differences] == [
        one.path for one in FAMILIES[a].published.diff(FAMILIES[b].published)
    ]
    assert all(one["says"].endswith(".") for one in differences)


def test_it_reads_like_a_textbook(run: Run) -> None:
    assert (
        "GPT-2 puts the norms in front of each sublayer where GPT puts them behind." in run("diff", "gpt", "gpt2").out
    )


def test_sizes_of_one_family_are_called_by_their_own_names(run: Run) -> None:
    assert run("diff", "bert-base", "bert-large").out == (
        "bert-base has 109,514,298 parameters.\n"
        "bert-large has 335,174,458 parameters.\n"
        "• bert-large is 1,024 wide where bert-base is 768.\n"
        "• bert-large is 24 layers deep where bert-base is 12.\n"
        "• bert-large has 16 attention heads in each layer where bert-base has 12.\n"
    )


def test_json_has_path_both_values_and_the_sentence(run: Run) -> None:
    assert {
        "path": "embedding.positions.size",
        "a": 512,
        "b": 1024,
        "says": "GPT-2 has a table of 1,024 positions where GPT has one of 512.",
    } in run("diff", "gpt", "gpt2", "--json").document


def test_equal_architectures_differ_in_nothing(run: Run) -> None:
    assert "nothing differs" in run("diff", "bert", "bert-base").out
    assert run("diff", "bert", "bert-base", "--json").document == []


def test_a_checkpoint_is_compared_by_what_it_holds(run: Run, tmp_path: Path) -> None:
    family = FAMILIES["gpt2"]
    spec = family.preset("gpt2-tiny").but(vocabulary=50, depth=1, outputs=family.outputs.only("tag"))
    Model(spec, bough.build(spec)).save(tmp_path / "mine")
    differences = run("diff", tmp_path / "mine", "gpt2-tiny", "--json").document
    assert [(one["path"], one["a"], one["b"]) for one in differences] == [
        (one.path, plain(one.ours), plain(one.theirs)) for one in spec.diff(bough.spec("gpt2-tiny"))
    ]
    assert "gpt2-tiny has a vocabulary of 50,257 where mine has one of 50." in [one["says"] for one in differences]


def test_labels_that_are_many_are_not_all_said() -> None:
    many = Difference("outputs.tag.labels", ("yes", "no"), tuple(f"LABEL_{i}" for i in range(1000)))
    assert sentence(many, "A", "B") == (
        "B labels tokens LABEL_0, LABEL_1, LABEL_2, LABEL_3 … LABEL_999 (1000 in all) where A labels them yes, no."
    )
