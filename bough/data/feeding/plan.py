"""Which items each batch of a run has: no batch is made, and any stretch of the run can be planned by itself.

An epoch's items are permuted; a stretch of the permutation is a pool, whose items are put together by length and cut
into batches of a budget of tokens, which come in any order. The unfilled batch of a pool is filled up from the next.
So where a run stands is an epoch, a pool, a batch, and what was left over; to go on from there takes that pool alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bough.data.draw import Draw
from bough.data.feeding.batch import Collate
from bough.data.feeding.items import Items
from bough.data.feeding.order import Numbers, Purpose, cut, permuted
from bough.errors import BoughError

POOL = 64
"""About as many batches as a pool has."""
SAMPLE = 2**16
"""As many items as are looked at for how long items are."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where a run stands: before a batch of a pool of an epoch."""

    epoch: int
    pool: int
    batch: int
    left: Numbers
    """What the pools before left over."""


BEGIN = Place(0, 0, 0, np.zeros(0, np.int64))


class Plan:
    """The batches of a run. Items are counted on from epoch to epoch, so that each is given once."""

    def __init__(
        self, items: Items, collate: Collate, budget: int, draw: Draw, epochs: int | None, shuffle: bool
    ) -> None:
        self._items, self._collate, self._budget, self._draw = items, collate, budget, draw
        self._epochs, self._shuffle, self._count, self._lanes = epochs, shuffle, len(items), items.lanes
        self.tokens = self._counted()
        """How many tokens an epoch has; of very many items, reckoned from some."""
        self._pools = max(1, round(self.tokens / (POOL * budget)))

    def has(self, place: Place) -> bool:
        """Whether there is such a place in it."""
        numbers = [place.epoch, place.batch, self._pools - 1 - place.pool, place.pool, *place.left.tolist()]
        return min(numbers) >= 0 and max(place.left.tolist(), default=0) < (place.epoch + 1) * self._count

    def after(self, place: Place) -> Iterator[tuple[Numbers, Place]]:
        """The items of each batch from a place on, and the place behind it."""
        while self._epochs is None or place.epoch < self._epochs:
            batches, behind = self._pool(place)
            for number in range(place.batch, len(batches)):
                yield batches[number], replace(place, batch=number + 1) if number + 1 < len(batches) else behind
            place = behind

    def lengths(self, items: Numbers) -> Numbers:
        """How many tokens each of these takes; none takes nothing."""
        lengths = np.ones(len(items), np.int64)
        for epoch in np.unique(items // self._count):
            inside = items // self._count == epoch
            numbers = items[inside] % self._count
            lengths[inside] = self._collate.length(self._items.lengths(numbers, int(epoch)))
        if len(lengths) and lengths.max() > self._budget:
            raise BoughError(
                f"item {items[lengths.argmax()] % self._count}: takes {lengths.max():,} tokens, and a batch has room "
                f"for {self._budget:,}; raise the budget, or cut texts by a limit"
            )
        return np.maximum(lengths, 1)

    def _pool(self, place: Place) -> tuple[list[Numbers], Place]:
        """The batches of the pool that a place is in, and the place behind them."""
        together = self._lanes or 1
        first, last = (
            self._count // together * pool // self._pools * together for pool in (place.pool, place.pool + 1)
        )
        behind = Place(place.epoch, place.pool + 1, 0, BEGIN.left)
        if last == self._count:
            behind = Place(place.epoch + 1, 0, 0, BEGIN.left)
        numbers = np.arange(first, last)
        if self._lanes:
            return [place.epoch * self._count + step for step in numbers.reshape(-1, self._lanes)], behind
        if self._shuffle:
            numbers = permuted(numbers, self._count, self._draw, place.epoch)
        batches = self._cut(place.epoch * self._count + numbers, place.left)
        if behind.epoch != self._epochs:
            behind = replace(behind, left=batches.pop())
        if self._shuffle:
            pool = place.epoch * self._pools + place.pool
            drawn = self._draw.uniform(Purpose.BATCHES, pool, np.arange(len(batches)))
            batches = [batches[int(number)] for number in drawn.argsort()]
        return batches, behind

    def _cut(self, items: Numbers, left: Numbers) -> list[Numbers]:
        """These in batches, of which the first begins with what was left."""
        held = int(self.lengths(left).sum())
        first, *others = (items[one] for one in cut(self.lengths(items), self._budget, held))
        return [np.concatenate((left, first)), *others]

    def _counted(self) -> int:
        """How many tokens an epoch has, once it is known that batches can be made of them."""
        if not self._count:
            raise BoughError("data: holds nothing to make batches of; name files that have some")
        looked_at = min(self._count, SAMPLE)
        lengths = self.lengths(np.arange(looked_at) * self._count // looked_at)
        tokens = round(float(lengths.mean()) * self._count)
        if self._lanes:
            at_once = self._lanes * int(lengths.max())
            if at_once > self._budget:
                raise BoughError(
                    f"lanes: {self._lanes:,} take {at_once:,} tokens at once, and a batch has room for "
                    f"{self._budget:,}; raise the budget, or ask for fewer or shorter ones"
                )
        elif self._shuffle and tokens < self._budget:
            raise BoughError(
                f"data: has {tokens:,} tokens, fewer than the {self._budget:,} of a batch; "
                "add data, or lower the budget"
            )
        return tokens
