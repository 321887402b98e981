"""Texts damaged for an encoder to read and a decoder to mend: spans taken out as T5 does it, or as BART does.

How many tokens are taken from a text, and in how many spans, follows from its length, so that it is known before it is
read how many tokens it will come to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from bough.data.goals.chance import Chance, Purpose
from bough.data.goals.laid import Body
from bough.data.goals.runs import Numbers, Runs
from bough.data.goals.spans import Spans, poisson, separate
from bough.errors import BoughError
from bough.text import Tokenizer

ENDS = frozenset(".!?…\u3002\uff01\uff1f\u0964\u061f")
"""What a sentence ends with."""


@runtime_checkable
class Damage(Protocol):
    """A way to damage texts."""

    def lengths(self, lengths: Numbers) -> tuple[Numbers, Numbers]:
        """How many tokens texts of these lengths have once they are damaged, and how many are to be said of them."""
        ...

    def __call__(self, body: Body, chance: Chance) -> tuple[Body, Body]:
        """The damaged texts, and what is to be said of each."""
        ...


@dataclass(frozen=True, eq=False)
class Sentinels:
    """Each span becomes a token of its own, behind which is to be said what the span held (T5).

    Spans may lie anywhere. As first published, a text begins with none and ends with one, and a short text, having but
    one, would always lose its end.
    """

    sentinels: Numbers
    """Those tokens, in the order in which they stand in a text."""
    rate: float = 0.15
    """The share of a text that is taken out."""
    mean: float = 3.0
    """How many tokens a span has in the mean."""

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Sentinels:
        """With those that T5's vocabularies have: `<extra_id_0>`, `<extra_id_1>` …"""
        found: list[int] = []
        while (one := tokenizer.id(f"<extra_id_{len(found)}>")) is not None:
            found.append(one)
        if not found:
            raise BoughError(
                "<extra_id_0>: the vocabulary has no such token to stand for a span; train a tokenizer of the family "
                "t5, or damage texts as BART does, which takes a mask"
            )
        return cls(np.array(found))

    def lengths(self, lengths: Numbers) -> tuple[Numbers, Numbers]:
        counts, spans = self._counts(lengths)
        return lengths - counts + spans, counts + spans

    def __call__(self, body: Body, chance: Chance) -> tuple[Body, Body]:
        spans = separate(body.runs, *self._counts(body.runs.lengths), chance)
        sentinels = self.sentinels[spans.runs.places]
        return _punched(body, spans, sentinels), _taken(body, spans, sentinels)

    def _counts(self, lengths: Numbers) -> tuple[Numbers, Numbers]:
        """How many tokens of each text are taken out, and in how many spans; of a single token, none."""
        counts = np.rint(lengths * self.rate).astype(np.int64)
        counts = np.where(lengths > 1, np.minimum(np.maximum(counts, 1), lengths - 1), 0)
        spans = np.maximum(np.rint(counts / self.mean).astype(np.int64), 1)
        return counts, np.minimum.reduce([spans, counts, np.full_like(counts, len(self.sentinels))])


@dataclass(frozen=True, eq=False)
class Masks:
    """Each span becomes a mask, one of no tokens too; sentences change places; and all is to be said again (BART)."""

    mask: int
    ends: Numbers
    """The tokens that end a sentence; where there are none, sentences stay where they are."""
    rate: float = 0.3
    """The share of a text that is taken out."""
    mean: float = 3.0
    """How many tokens a span has in the mean."""

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Masks:
        """With this vocabulary's mask and ends of sentences."""
        if tokenizer.specials.mask is None:
            raise BoughError(
                "mask: the vocabulary has no mask token to stand for a span; train a tokenizer of a family that has "
                "one, such as bart"
            )
        ends = sorted(number for word, number in tokenizer.vocabulary.items() if word and ENDS.issuperset(word))
        return cls(tokenizer.specials.mask, np.array(ends, np.int64))

    def lengths(self, lengths: Numbers) -> tuple[Numbers, Numbers]:
        counts, spans = self._counts(lengths)
        return lengths - counts + spans, lengths

    def __call__(self, body: Body, chance: Chance) -> tuple[Body, Body]:
        moved = Body.whole(body.ids[self._order(body, chance)], body.runs)
        spans = poisson(body.runs, *self._counts(body.runs.lengths), chance)
        return _punched(moved, spans, np.full(spans.runs.total, self.mask)), body

    def _counts(self, lengths: Numbers) -> tuple[Numbers, Numbers]:
        counts = np.ceil(lengths * self.rate).astype(np.int64)
        return counts, np.minimum(counts, np.maximum(np.rint(counts / self.mean).astype(np.int64), 1))

    def _order(self, body: Body, chance: Chance) -> Numbers:
        """The tokens of each text with its sentences in another order."""
        ends = np.isin(body.ids, self.ends)
        # Of ends in a row the last one counts, so that dots stay together.
        ends[:-1] &= ~ends[1:]
        begins = body.runs.places == 0
        begins[1:] |= ends[:-1]
        sentences = Runs(body.runs.sums(begins))
        ranks = sentences.ranks(chance(Purpose.SENTENCE_ORDER, sentences))
        return np.lexsort((ranks[begins.cumsum() - 1], body.runs.owners))


def _punched(body: Body, spans: Spans, tokens: Numbers) -> Body:
    """Texts with each span taken out and a token put in its place."""
    runs = Runs(body.runs.lengths - spans.runs.sums(spans.widths) + spans.runs.lengths)
    left = spans.starts - spans.runs.before(spans.widths)
    return _mixed(body.ids[~spans.covered], tokens, runs, runs.starts[spans.runs.owners] + left + spans.runs.places)


def _taken(body: Body, spans: Spans, tokens: Numbers) -> Body:
    """What was taken out of each text, every span led by its token."""
    runs = Runs(spans.runs.sums(spans.widths) + spans.runs.lengths)
    return _mixed(body.ids[spans.covered], tokens, runs, spans.within.starts + np.arange(spans.runs.total))


def _mixed(ids: Numbers, tokens: Numbers, runs: Runs, rows: Numbers) -> Body:
    """Texts of ids, with other tokens at these rows."""
    given = np.zeros(runs.total, np.bool_)
    given[rows] = True
    mixed = np.empty(runs.total, np.int64)
    mixed[given], mixed[~given] = tokens, ids
    return Body.whole(mixed, runs)
