"""Damaged texts for an encoder to read, and for a decoder to write what makes them whole (T5, BART)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.data.feeding.batch import Lengths
from bough.data.goals.damage import Damage
from bough.data.goals.laid import Given, Laid
from bough.data.goals.parallel import written
from bough.data.goals.runs import Numbers
from bough.data.goals.wrap import FIRST, Wrap, check, cut
from bough.errors import BoughError
from bough.text import Limit, Template


@dataclass(frozen=True)
class Infill:
    """Damaged texts to be read, and what is to be said of them to be written, every word of it a goal."""

    damage: Damage
    source: Template
    target: Template
    start: int | None
    """What the decoder reads before the first word it has to say; None is the last word of each target (mBART)."""
    limit: Limit | None = None
    """Of what is read and of what is written; a text is cut before it is damaged."""

    def __post_init__(self) -> None:
        if self.limit:
            check(self.limit)
            special = max(self.source.length, self.target.length)
            if self.longest < 1:
                raise BoughError(f"limit: {self.limit.length} leaves no token beside the {special} special ones")

    @functools.cached_property
    def longest(self) -> int:
        """How long a text may be that fits on both sides, damaged and wrapped: blocks of this length fill them."""
        assert self.limit
        count = 1
        while (sides := self._sides(np.arange(count))).max() <= self.limit.length:
            count *= 2
        return int(np.argmax(sides.max(axis=0) > self.limit.length)) - 1

    def length(self, lengths: Lengths) -> Numbers:
        """How many tokens each example takes, read and written."""
        return self._sides(self._kept(lengths[FIRST[0]])).sum(axis=0)

    def __call__(self, given: Given) -> Laid:
        """What is read and what is said of these examples."""
        body = given.body(*FIRST)
        if self.limit:
            self._check(body.runs.lengths, self.limit, given.items)
            body = cut(body, self._kept(body.runs.lengths), self.limit)
        damaged, said = self.damage(body, given.chance)
        source, target = Wrap(self.source), Wrap(self.target)
        return written(source.around([damaged], given.items), target.around([said], given.items), self.start)

    def _sides(self, lengths: Numbers) -> Numbers:
        """How many tokens texts of these lengths take, read and written."""
        read, said = self.damage.lengths(lengths)
        return np.stack((read + self.source.length, said + self.target.length))

    def _kept(self, lengths: Numbers) -> Numbers:
        """How many tokens of each text stay."""
        return lengths if not self.limit or self.limit.policy == "error" else np.minimum(lengths, self.longest)

    def _check(self, lengths: Numbers, limit: Limit, items: Sequence[int]) -> None:
        if limit.policy == "error" and np.any(lengths > self.longest):
            one = int(np.argmax(lengths > self.longest))
            raise BoughError(
                f"item {items[one]}: has {lengths[one]:,} tokens, and {self.longest:,} come to the limit of "
                f"{limit.length:,} once they are damaged; shorten it, or let the policy be truncate or head-tail"
            )
