"""Batches for training, the same in the same order for any number of ranks and workers, resumable behind each one."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bough.data.draw import Draw
from bough.data.feeding.batch import Batch, Collate
from bough.data.feeding.items import Items
from bough.data.feeding.order import Numbers, share
from bough.data.feeding.plan import BEGIN, Place, Plan
from bough.data.feeding.workers import ahead
from bough.errors import ArtefactError, BoughError

NO_PLACE = "state: does not say where a feed stands; begin anew"


class Feed:
    """Items as batches of at most `budget` tokens over all ranks, of which this rank is given its share.

    A share is empty where a batch has fewer items than there are ranks.
    With `epochs` it ends when all items have been given so often, with whatever batch is left; without, never.
    Without `shuffle` items come as they stand, those of one pool the longest first; lanes always come in order.
    """

    def __init__(
        self,
        items: Items,
        collate: Collate,
        budget: int,
        seed: int = 0,
        *,
        epochs: int | None = None,
        shuffle: bool = True,
        rank: int = 0,
        ranks: int = 1,
        workers: int = 0,
    ) -> None:
        if not 0 <= rank < ranks:
            raise BoughError(f"rank: {rank} is none of {ranks}; ranks count from 0")
        self._items, self._rank, self._ranks, self._workers = items, rank, ranks, workers
        self._plan = Plan(items, collate, budget, Draw(seed), epochs, shuffle)
        self._make = functools.partial(_batch, items, collate, Draw(seed))
        own = {"items": len(items), "tokens": self.tokens, "budget": budget, "seed": seed, "shuffle": shuffle}
        self._made_of: Mapping[str, Any] = {**items.made_of, **own}
        self._place = BEGIN

    def __iter__(self) -> Iterator[Batch]:
        """The batches from where it stands. It has moved on behind a batch when that is handed out."""
        places = deque[Place]()
        shares = self._shares(places)
        for batch in ahead(self._make, shares, self._workers) if self._workers else map(self._make, shares):
            self._place = places.popleft()
            yield batch

    @property
    def tokens(self) -> int:
        """How many tokens an epoch has; of very many items, reckoned from some."""
        return self._plan.tokens

    def begin(self) -> None:
        """Stand before the first batch again."""
        self._place = BEGIN

    def state(self) -> dict[str, Any]:
        """Where it stands, as JSON can hold it; batches that workers have made, but nobody was given, are ahead."""
        place = self._place
        stands = {"epoch": place.epoch, "pool": place.pool, "batch": place.batch, "left": place.left.tolist()}
        return {"made_of": dict(self._made_of), **stands}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Stand where a feed of the same batches did; how many ranks and workers it had does not matter."""
        try:
            then = dict(state["made_of"])
            left = np.array(state["left"], np.int64)
            place = Place(int(state["epoch"]), int(state["pool"]), int(state["batch"]), left)
        except (KeyError, TypeError, ValueError):
            raise ArtefactError(NO_PLACE) from None
        both = [(name, then.get(name), self._made_of.get(name)) for name in dict.fromkeys([*self._made_of, *then])]
        apart = [f"{name} was {_brief(before)} and is {_brief(now)}" for name, before, now in both if before != now]
        if apart:
            raise ArtefactError(
                f"state: fingerprint mismatch, because {' and '.join(apart)}; "
                "resume with what the run began with, or begin anew"
            )
        if not self._plan.has(place):
            raise ArtefactError(NO_PLACE)
        self._place = place

    def _shares(self, places: deque[Place]) -> Iterator[Numbers]:
        """This rank's items of each batch from where it stands; the place behind each is noted."""
        for items, behind in self._plan.after(self._place):
            places.append(behind)
            yield items[share(self._plan.lengths(items), self._ranks)[self._rank]] if self._ranks > 1 else items


def _batch(items: Items, collate: Collate, draw: Draw, numbers: Numbers) -> Batch:
    count = len(items)
    examples = [items.get(number % count, number // count) for number in numbers.tolist()]
    return collate(examples, numbers.tolist(), draw)


def _brief(value: Any) -> str:
    """Of a hash, as much as tells it from another."""
    return str(value)[:12]
