"""Runs of things laid end to end in numpy: whose each one is and where in its run, and draws within every run at once.

Numbers drawn for a thing follow from its item and its place alone, so that they are the same in any company.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Uniform = NDArray[np.float64]
"""Numbers from 0 up to, but without, 1."""

FINE = 44
"""Bits of a draw that count when things are put in order by it; the rest of 63 tell runs apart."""


@dataclass(frozen=True, eq=False)
class Runs:
    """How long each run is; everything else about their layout derives from that, once."""

    lengths: Numbers

    @classmethod
    def of_equals(cls, values: Numbers) -> Runs:
        """Neighbours that are equal."""
        return cls(np.diff(np.append(np.flatnonzero(np.diff(values, prepend=-1)), len(values))))

    @functools.cached_property
    def bounds(self) -> Numbers:
        """Where each run starts, and after them where the last one ends."""
        return np.concatenate((np.zeros(1, np.int64), self.lengths.cumsum()))

    @property
    def starts(self) -> Numbers:
        """Where each run starts."""
        return self.bounds[:-1]

    @property
    def total(self) -> int:
        """How many things there are."""
        return int(self.bounds[-1])

    @functools.cached_property
    def owners(self) -> Numbers:
        """The run that each thing is of."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @functools.cached_property
    def places(self) -> Numbers:
        """Where in its run each thing is."""
        return np.arange(self.total) - np.repeat(self.starts, self.lengths)

    def spread(self, values: Numbers) -> Numbers:
        """What is said of each run, said of each thing in it."""
        return np.repeat(values, self.lengths)

    def ranks(self, draws: Uniform) -> Numbers:
        """The place that each thing would have in its run, were that in the order of its draws."""
        # Cut to fixed bits, two draws that are nearly equal compare alike whichever runs lie before theirs.
        keys = (self.owners << FINE) | (draws * (1 << FINE)).astype(np.int64)
        ranks = np.empty(self.total, np.int64)
        ranks[keys.argsort(kind="stable")] = self.places
        return ranks

    def sums(self, values: Numbers | Flags) -> Numbers:
        """The sum over each run."""
        before = np.concatenate((np.zeros(1, np.int64), values.cumsum(dtype=np.int64)))
        return before[self.bounds[1:]] - before[self.starts]

    def before(self, values: Numbers | Flags) -> Numbers:
        """The sum, for each thing, over those before it in its run."""
        running = values.cumsum(dtype=np.int64) - values
        firsts = np.concatenate((running, np.zeros(1, np.int64)))[self.starts]
        return running - self.spread(firsts)


def end_to_end(parts: Sequence[NDArray[np.integer]]) -> tuple[Numbers, Runs]:
    """Arrays laid end to end, with where they lie."""
    runs = Runs(np.fromiter(map(len, parts), np.int64, len(parts)))
    laid = np.concatenate(parts).astype(np.int64) if len(parts) else np.zeros(0, np.int64)
    return laid, runs
