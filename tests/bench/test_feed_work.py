"""The feed is measured against learning from the very batches it gives."""

from __future__ import annotations

from pathlib import Path

from bough.bench import OWN, WORKS, Effort
from bough.bench.engine import measure
from bough.bench.feed import QUICK, feed, small, task

TINY = small().but(vocabulary=200, width=16, depth=1, heads=2)


def quiet(doing: str) -> None:
    """Hear nothing."""


def test_learning_takes_the_batches_that_are_given(tmp_path: Path) -> None:
    work = task(tmp_path / "store", 60, TINY, "cpu")
    outcome = measure("feed", work, 2, quiet)
    given, learned = outcome.rows
    assert (given.runner, learned.runner) == ("given", "learned from")
    assert learned.agreement
    assert learned.agreement.error == 0
    assert learned.ratio
    assert len(learned.seconds) == 2


def test_every_token_is_counted_with_those_around_it(tmp_path: Path) -> None:
    from bough.bench.encode import sentences

    work = task(tmp_path / "store", 60, TINY, "cpu")
    assert work.amount == sum(len(ids) + 2 for ids in sentences(60, TINY))


def test_the_work_is_the_promised_one() -> None:
    assert WORKS["feed"] is feed
    assert "feed" in OWN
    with feed(Effort(quick=True)) as work:
        assert work.says == (
            f"masked words of {QUICK} sequences in batches of 2,048 tokens; BERT, 4 layers of width 256, 30,522 words"
        )
