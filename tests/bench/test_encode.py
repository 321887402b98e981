"""The first work: real lengths, the same ids for all, and a peer whose answers are ours."""

from __future__ import annotations

import importlib.util
import statistics

import pytest

import bough
from bough.bench import WORKS, Effort, engine
from bough.bench.document import Outcome
from bough.bench.encode import LONGEST, MEAN, encode, sentences
from bough.bench.engine import measure

TINY = bough.spec("bert-base").but(vocabulary=97, width=32, depth=2, heads=4)


def quiet(doing: str) -> None:
    """Hear nothing."""


def measured(spec: bough.Spec, sequences: int = 8) -> Outcome:
    with encode(Effort(sequences, spec)) as task:
        return measure("encode", task, 1, quiet)


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_the_peer_gives_our_answers(family: str) -> None:
    spec = bough.families()[family].base.but(vocabulary=97, width=32, depth=2, heads=4)
    outcome = measured(spec)
    assert [(row.case, row.runner) for row in outcome.rows] == [
        (precision, runner)
        for precision in ("fp32", "bf16")
        for runner in ("bough", "transformers, as given", "transformers, sorted")
    ]
    for row in outcome.rows[1:]:
        assert row.agreement
        assert row.agreement.error < (2e-5 if row.case == "fp32" else 0.2)
        assert row.agreement.cosine > (0.999999 if row.case == "fp32" else 0.999)
        assert (row.ratio is None) == (row.runner == "bough")
        assert len(row.seconds) == 1


def test_a_task_says_what_is_done_and_counts_real_tokens() -> None:
    lengths = [len(one) for one in sentences(8, TINY)]
    with encode(Effort(8, TINY)) as task:
        assert task.amount == sum(lengths)
        assert task.says == (
            f"hidden states of 8 sequences of {min(lengths)} to {max(lengths)} tokens, "
            f"{statistics.mean(lengths):.0f} in the mean; BERT, 0 million parameters"
        )


def test_lengths_are_log_normal_and_the_same_on_every_run() -> None:
    ids = sentences(2000, TINY)
    lengths = [len(one) for one in ids]
    assert statistics.mean(lengths) == pytest.approx(MEAN, rel=0.05)
    assert statistics.median(lengths) < MEAN - 5
    assert max(lengths) == LONGEST
    assert min(lengths) >= 1
    assert ids == sentences(2000, TINY)


def test_no_sequence_is_longer_than_the_net_can_read() -> None:
    short = TINY.but(**{"embedding.positions.size": 16})
    assert max(len(one) for one in sentences(100, short)) == 16


def test_the_notes_tell_what_padding_costs() -> None:
    lengths = [len(one) for one in sentences(40, TINY)]
    cells = [
        32 * max(order[:32]) + 8 * max(order[32:])  # batches of 32
        for order in (lengths, sorted(lengths))
    ]
    with encode(Effort(40, TINY)) as task:
        notes = [peer.note for peer in task.cases[0].peers]
    assert notes == [f"padded to {one / sum(lengths):.2f} cells for each token" for one in cells]


def test_without_the_peer_ours_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(engine, "installed", lambda name: name != "transformers" and there(name) is not None)
    outcome = measured(TINY)
    assert [row.runner for row in outcome.rows] == ["bough", "bough"]
    assert [(one.package, one.runners) for one in outcome.missing] == [
        ("transformers", ("transformers, as given", "transformers, sorted"))
    ]


def test_it_is_a_work_that_the_command_knows() -> None:
    assert WORKS["encode"] is encode
