"""Vocabularies learnt and texts written beside the library used directly: the same answers, so that times compare."""

from __future__ import annotations

import inspect
import random
import sys
from pathlib import Path

import pytest

from bough.bench import OWN, WORKS, Effort
from bough.bench.document import Outcome
from bough.bench.engine import measure
from bough.bench.show import notes
from bough.bench.tokenize import DIRECTLY, LEARNT, WRITTEN, task, tokenize

LINES = [line for line in inspect.getsource(random).splitlines() if line.strip()]


def quiet(doing: str) -> None:
    """Hear nothing."""


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return measure("tokenize", task(LINES[::2], LINES[1::2][:100], 600), 1, quiet)


def test_what_is_learnt_and_written_is_what_the_library_learns_and_writes(outcome: Outcome) -> None:
    assert list(outcome.cases) == [*(f"learn {kind}" for kind in LEARNT), *(f"write {kind}" for kind in WRITTEN)]
    for case, (ours, theirs) in outcome.cases.items():
        assert (ours.runner, theirs.runner) == ("bough", DIRECTLY)
        assert ours.agreement is None, case
        assert theirs.agreement
        assert theirs.agreement.same, case
    for case in ("learn word", "learn bytes", "write bytes", "write wordpiece"):
        assert outcome.cases[case][1].agreement.error == 0


def test_answers_are_told_to_be_compared_within_a_case(outcome: Outcome) -> None:
    assert next(iter(notes(outcome))).endswith("of answers to those of bough in the same case.")


def test_the_work_is_known_and_reads_a_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for side in ("train", "test"):
        (tmp_path / f"{side}.txt").write_text("\n\n".join(LINES))
    monkeypatch.setattr(sys.modules["bough.bench.tokenize"], "get", lambda name: tmp_path)
    assert WORKS["tokenize"] is tokenize
    assert "tokenize" in OWN
    with tokenize(Effort(quick=True)) as quick, tokenize(Effort()) as whole:
        assert whole.amount == sum(len(line.encode()) for line in LINES)
        assert quick.amount < whole.amount / 4
