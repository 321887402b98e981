"""Configs: what is read can be written, what cannot be said is an error naming it, and nothing is lost in silence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jaxtyping import config

from bough.errors import BoughError, FieldError
from bough.settings import INNER, Choice, OrSoFar, Refused, Setting, Switch, Where, keys, read, write
from bough.spec import Causal, Full, Learned, Outputs, Sinusoid, Spec, Tied, Untied, Words

BASE = Spec("bert", vocabulary=100, width=12, depth=2, heads=3)


def length(theirs: Any, current: Any) -> int:
    if not isinstance(theirs, str):
        raise ValueError(f"must be strokes, not {theirs}")
    return len(theirs)


RULES = (
    Setting("d", "width", also=("n_embd",)),
    Setting("h", "heads"),
    Setting("layers", "depth", codec=Where(length, lambda depth: "|" * depth)),
    Setting("inner", "feed.inner", codec=INNER),
    Setting("sines", "embedding.positions", codec=Switch(off=Learned, on=Sinusoid)),
    Setting("room", "embedding.positions.size"),
    Setting("causal", "attention.mask", codec=Choice(((False, Full()), (True, Causal())))),
    Setting("p", "attention.dropout", "feed.dropout"),
    Setting("q", "feed.dropout", codec=OrSoFar()),
    Setting("tied", "outputs.words.projection", codec=Switch(off=Untied, on=Tied)),
    Setting("unsaid", "embedding.segments", unsaid=2),
    Refused("cross", (False, None), "there is nothing to look at"),
)


@pytest.fixture(autouse=True)
def as_for_users() -> Iterator[None]:
    """Without the check of annotations, which would complain of a wrong type before the rules do."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"width": 24, "heads": 4, "depth": 5},
        {"feed.inner": 7},
        {"embedding.positions": Sinusoid(9)},
        {"attention.mask": Causal(), "attention.dropout": 0.3, "feed.dropout": 0.2},
        {"outputs": Outputs(words=Words(projection=Untied()))},
        {"embedding.segments": 5},
    ],
)
def test_what_is_written_reads_back_the_same(changes: dict[str, Any]) -> None:
    spec = BASE.but(**{"embedding.segments": 2}).but(**changes)
    base = BASE.but(outputs=spec.outputs)
    assert read(RULES, base, write(RULES, base, spec)) == spec


def test_what_a_config_has_no_words_for_is_an_error_rather_than_lost() -> None:
    with pytest.raises(BoughError) as error:
        write(RULES, BASE, BASE.but(**{"embedding.segments": 2, "norm.epsilon": 1e-3}))
    assert str(error.value) == (
        "norm.epsilon: a bert checkpoint cannot say 0.001 here (it would be read as 1e-05); "
        "set it to what the family has, or keep the spec as JSON"
    )


def test_a_later_setting_sees_what_an_earlier_one_decided() -> None:
    spec = read(RULES, BASE, {"p": 0.4, "q": None, "sines": True, "room": 7})
    assert (spec.attention.dropout, spec.feed.dropout) == (0.4, 0.4)
    assert spec.embedding.positions == Sinusoid(7)
    assert read(RULES, BASE, {"p": 0.4, "q": 0.1}).feed.dropout == 0.1


def test_an_older_spelling_is_read_and_the_newer_wins_and_is_written() -> None:
    assert read(RULES, BASE, {"n_embd": 24}).width == 24
    assert read(RULES, BASE, {"d": 36, "n_embd": 24}).width == 36
    assert "n_embd" not in write(RULES, BASE, BASE.but(**{"embedding.segments": 2}))
    assert {"d", "n_embd", "cross"} <= keys(RULES)


def test_a_part_that_the_spec_lacks_is_passed_over_and_not_written() -> None:
    assert read(RULES, BASE, {"tied": False}) == BASE.but(**{"embedding.segments": 2})
    assert "tied" not in write(RULES, BASE, BASE.but(**{"embedding.segments": 2}))


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"d": "wide"}, "d: must be a whole number from 1 to 16,777,216, not 'wide'"),
        ({"n_embd": -1}, "n_embd: must be a whole number from 1 to 16,777,216, not -1"),
        ({"h": 5}, "h: 5 heads do not divide a width of 12"),
        ({"layers": 2}, "layers: must be strokes, not 2"),
        ({"causal": "yes"}, "causal: must be one of False, True, not 'yes'"),
        ({"causal": 1}, "causal: must be one of False, True, not 1"),
        ({"sines": 1}, "sines: must be true or false, not 1"),
        ({"room": 0}, "room: must be a whole number from 1 to 16,777,216, not 0"),
        ({"cross": True}, "cross: True is refused: there is nothing to look at"),
        ({"cross": 0}, "cross: 0 is refused: there is nothing to look at"),
        ({"q": []}, "q: must be a finite number from 0 to 1, not []"),
    ],
)
def test_a_value_that_cannot_be_is_an_error_that_names_their_key(said: dict[str, Any], complaint: str) -> None:
    with pytest.raises(FieldError) as error:
        read(RULES, BASE, said)
    assert str(error.value) == complaint
