"""Words behind a memory have the scores of the whole text, however many are read at once, and that is checked."""

from __future__ import annotations

import pytest
import torch

from bough.bench import WORKS, Effort
from bough.bench.document import Curves
from bough.bench.engine import follow
from bough.bench.recur import AGAIN, CONTEXTS, QUICK, STEPS, STRETCHES, Text, recur, small, sweep
from bough.core import build

TINY = small().but(
    vocabulary=23, width=16, heads=2, **{"embedding.clusters.cutoffs": (5, 11), "embedding.clusters.factor": 2}
)


def quiet(doing: str) -> None:
    """Hear nothing."""


def followed() -> Curves:
    return follow("recur", sweep(TINY, (3, 20), (1, 5, 32)), 2, quiet)


def test_every_way_gives_the_scores_of_the_whole_text() -> None:
    curves = followed()
    assert [line.way for line in curves.lines] == [
        "read again", "memory, 1 at once", "memory, 5 at once", "memory, 32 at once",
    ]  # fmt: skip
    assert curves.lengths == (3, 20)
    for line, tokens in zip(curves.lines, (AGAIN, STEPS, 15, 32), strict=True):
        assert [point.tokens for point in line.points] == [tokens, tokens]
        assert line.agreement
        assert line.agreement.equal
        assert line.growth == ()
        assert all(point.memory is None and point.attention == () for point in line.points)


def test_a_memory_that_forgets_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Text.of.__func__

    def forgetful(kind: type[Text], *given: object) -> Text:
        text = made(kind, *given)
        return Text(text.net, text.ids, text.context, [torch.zeros_like(one) for one in text.held], text.scores)

    monkeypatch.setattr(Text, "of", classmethod(forgetful))
    again, *remembered = followed().lines
    assert again.agreement
    assert again.agreement.equal
    assert not any(line.agreement and line.agreement.equal for line in remembered)


def test_a_run_leaves_the_memory_as_it_was() -> None:
    text = Text.of(build(TINY).eval(), TINY.vocabulary, 16, 6)
    for trial in (text.remembered(1), text.remembered(4), text.again()):
        first, second = trial.run(), trial.run()
        torch.testing.assert_close(first[0], second[0], rtol=0, atol=0)
        assert len(first[0]) == trial.tokens


def test_the_work_is_the_promised_one_and_quick_is_shorter() -> None:
    assert WORKS["recur"] is recur
    with recur(Effort()) as whole, recur(Effort(quick=True)) as short:
        assert (whole.lengths, short.lengths) == (CONTEXTS, QUICK)
        assert len(QUICK) < len(CONTEXTS)
        assert len(whole.ways) == 1 + len(STRETCHES)
        assert whole.says.endswith("Transformer-XL, 2 layers of width 128, 10,000 words")
