"""Spans of texts: how long each is and where it lies, drawn for every text of a batch at once.

How many things of a text are covered is decided before; the draws say which.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from bough.data.goals.chance import Chance, Purpose
from bough.data.goals.runs import Flags, Numbers, Runs


@dataclass(frozen=True, eq=False)
class Spans:
    """Stretches of texts that do not overlap, in order; one may have no width."""

    texts: Runs
    """The things of each text."""
    runs: Runs
    """The spans of each text."""
    starts: Numbers
    """Where in its text each span starts."""
    widths: Numbers
    """How many things each span covers."""

    @property
    def rows(self) -> Numbers:
        """Where each span starts among the things of all texts."""
        return self.texts.starts[self.runs.owners] + self.starts

    @functools.cached_property
    def within(self) -> Runs:
        """The things that each span covers."""
        return Runs(self.widths)

    @functools.cached_property
    def covered(self) -> Flags:
        """Which things of the texts a span covers."""
        flags = np.zeros(self.texts.total, np.bool_)
        flags[self.within.spread(self.rows) + self.within.places] = True
        return flags


def geometric(texts: Runs, counts: Numbers, rate: float, most: int, chance: Chance) -> Spans:
    """Spans whose lengths fall off by `1 - rate` from 1 to `most`, until so many things of each text are covered."""
    shares = (1 - rate) ** np.arange(most)
    bounds = shares.cumsum() / shares.sum()
    # There is a draw for each thing to cover, as if every span were of one; those behind the last needed are not used.
    tried = Runs(counts)
    widths = 1 + np.minimum(bounds.searchsorted(chance(Purpose.SPAN_LENGTH, tried), "right"), most - 1)
    left = tried.spread(counts) - tried.before(widths)
    used = left > 0
    return _scattered(texts, Runs(tried.sums(used)), np.minimum(widths, left)[used], chance)


def poisson(texts: Runs, counts: Numbers, spans: Numbers, chance: Chance) -> Spans:
    """So many spans over so many things of each text, their lengths those of a Poisson process; some have none.

    Lengths that are each Poisson, given what they sum to, are those that come of throwing each thing into any span.
    """
    runs, thrown = Runs(spans), Runs(counts)
    chosen = runs.starts[thrown.owners] + chance.below(thrown.spread(spans), Purpose.SPAN_LENGTH, thrown)
    return _scattered(texts, runs, np.bincount(chosen, minlength=runs.total), chance)


def separate(texts: Runs, counts: Numbers, spans: Numbers, chance: Chance) -> Spans:
    """So many spans over so many things of each text, none empty and no two side by side; all such are as likely."""
    runs, gaps = Runs(spans), Runs(texts.lengths - counts + 1)
    taken = gaps.ranks(chance(Purpose.SPAN_PLACE, gaps)) < gaps.spread(spans)
    widths = _parts(Runs(counts), runs, chance)
    return Spans(texts, runs, gaps.places[taken] + runs.before(widths), widths)


def _scattered(texts: Runs, runs: Runs, widths: Numbers, chance: Chance) -> Spans:
    """Spans of these widths, set down anywhere among the things that none covers."""
    slots = Runs(texts.lengths - runs.sums(widths) + runs.lengths)
    ranks = slots.ranks(chance(Purpose.SPAN_PLACE, slots))
    taken = ranks < slots.spread(runs.lengths)
    # The slot drawn first has the first width, so that a last one that was cut short may lie anywhere.
    placed = widths[(slots.spread(runs.starts) + ranks)[taken]]
    filled = np.ones(slots.total, np.int64)
    filled[taken] = placed
    return Spans(texts, runs, slots.before(filled)[taken], placed)


def _parts(things: Runs, parts: Runs, chance: Chance) -> Numbers:
    """How long each part of each run is, none empty; every way of cutting is as likely. Of nothing there is no part."""
    inner = Runs(np.maximum(things.lengths - 1, 0))
    firsts = things.places == 0
    firsts[~firsts] = inner.ranks(chance(Purpose.SPAN_LENGTH, inner)) < inner.spread(parts.lengths - 1)
    return np.diff(np.append(np.flatnonzero(firsts), things.total))
