"""What batches are made of: rows as they are, documents cut into blocks, or streams read in order for a recurrence."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bough.data.draw import Draw
from bough.data.feeding.batch import Example, Lengths
from bough.data.feeding.order import Numbers, Purpose
from bough.data.storing.store import Store
from bough.errors import BoughError

STRIDE = 32
"""How many documents lie between two whose count of blocks before them is remembered."""
CHUNK = 2**20


@runtime_checkable
class Items(Protocol):
    """Numbered things to be given in every epoch, any of which can be had at once."""

    def __len__(self) -> int:
        """How many there are, the same in every epoch."""
        ...

    @property
    def made_of(self) -> Mapping[str, Any]:
        """What decides what they are: fingerprints and settings. A run resumes only where these are as they were."""
        ...

    @property
    def lanes(self) -> int | None:
        """How many make a batch, where they have to come in order; None where any may come with any other."""
        ...

    def lengths(self, numbers: Numbers, epoch: int) -> Lengths:
        """How long these are."""
        ...

    def get(self, number: int, epoch: int) -> Example:
        """One of them."""
        ...


@dataclass(frozen=True)
class Rows:
    """The rows of a store, each an item."""

    store: Store
    lanes = None

    def __len__(self) -> int:
        return len(self.store)

    @property
    def made_of(self) -> Mapping[str, Any]:
        """The fingerprints of the store."""
        return _fingerprints(self.store)

    def lengths(self, numbers: Numbers, epoch: int) -> Lengths:
        """How long these rows are, column by column."""
        return {name: column.lengths_of(numbers) for name, column in self.store.ragged.items()}

    def get(self, number: int, epoch: int) -> Example:
        """All columns of a row."""
        ragged = {name: column[number] for name, column in self.store.ragged.items()}
        return ragged | {name: column[number].item() for name, column in self.store.plain.items()}


@dataclass(frozen=True)
class Stream:
    """The rows of a store as documents, end to end, with a separator behind each where there is one."""

    store: Store
    separator: int | None = None

    @property
    def size(self) -> int:
        """How many tokens it has."""
        return int(self.begins(np.array([len(self.store)]))[0])

    def begins(self, documents: Numbers) -> Numbers:
        """Where these documents begin; the one behind the last begins where the stream ends."""
        return self.store.ragged["ids"].bounds[documents].astype(np.int64) + documents * self._more

    def stretch(self, first: int, last: int, end: int | None = None) -> Example:
        """Its tokens from one place to before another, and `after`, the one behind them unless they reach the end.

        `begins` is 1 where a document does, the token behind too.
        """
        count, last = last - first, min(last + 1, self.size if end is None else end)
        before, behind = self._ended(first), self._ended(last)
        flat = slice(first - before * self._more, last - behind * self._more)
        found: dict[str, NDArray[Any]] = {"begins": np.zeros(last - first, np.uint8)}
        begins = self.begins(np.arange(before, min(behind + 1, len(self.store)))) - first
        found["begins"][begins[(begins >= 0) & (begins < last - first)]] = 1
        for name, mark in (("ids", self.separator), ("starts", 1)):
            if name in self.store.ragged:
                found[name] = self.store.ragged[name].flat[flat]
                if self.separator is not None:
                    ends = self.store.ragged[name].bounds[before + 1 : behind + 1].astype(np.int64)
                    found[name] = np.insert(found[name].astype(np.int64), ends - flat.start, mark or 0)
        found["after"] = found["ids"][count:]
        return {name: column[:count] if name in ("ids", "starts") else column for name, column in found.items()}

    @property
    def _more(self) -> int:
        """How many tokens a document has besides its own."""
        return 0 if self.separator is None else 1

    def _ended(self, place: int) -> int:
        """How many documents lie whole before a place."""
        bounds = self.store.ragged["ids"].bounds
        return bisect_right(range(1, len(bounds)), place, key=lambda one: int(bounds[one]) + one * self._more)


@dataclass(frozen=True)
class Blocks:
    """Documents cut into blocks of at most so many tokens; an item is a block.

    Each document is cut by itself (`keep`), so that no block reaches over its end; or all are joined, and cut as one.
    Where the cuts lie is drawn anew for every epoch behind the first, which begins with whole blocks.
    """

    store: Store
    length: int
    boundaries: Literal["keep", "join"] = "keep"
    separator: int | None = None
    """An id that stands behind every document."""
    seed: int = 0
    lanes = None

    def __post_init__(self) -> None:
        if self.length < 1:
            raise BoughError(f"length: blocks of {self.length} tokens hold nothing; give 1 or more")

    def __len__(self) -> int:
        return int(self._before[-1])

    @property
    def made_of(self) -> Mapping[str, Any]:
        """The fingerprints of the store, and how it is cut."""
        how = {"length": self.length, "boundaries": self.boundaries, "separator": self.separator, "cuts": self.seed}
        return {**_fingerprints(self.store), **how}

    def lengths(self, numbers: Numbers, epoch: int) -> Lengths:
        """How many tokens these blocks have."""
        first, last, _ = self._places(numbers, epoch)
        return {"ids": last - first}

    def get(self, number: int, epoch: int) -> Example:
        """A block."""
        (first,), (last,), (end,) = self._places(np.array([number]), epoch)
        return self._stream.stretch(int(first), int(last), int(end))

    def _places(self, numbers: Numbers, epoch: int) -> tuple[Numbers, Numbers, Numbers]:
        """Where in the stream these blocks begin and end, and where what they are cut from does."""
        documents, blocks = self._found(numbers)
        begin, end = self._span(documents), self._span(documents + 1)
        spare = self._count(documents) * self.length - (end - begin)
        # The first block is cut short by what is drawn, and the last one fills up by as much.
        drawn = Draw(self.seed).below(spare + 1, Purpose.CUT, documents, epoch) if epoch else np.zeros_like(spare)
        first = begin - drawn + blocks * self.length
        return np.maximum(first, begin), np.minimum(first + self.length, end), end

    def _found(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The document that each block is of, and which of its blocks it is."""
        group = np.searchsorted(self._before, numbers, "right") - 1
        inside = numbers - self._before[group]
        documents = group[:, None] * STRIDE + np.arange(STRIDE)
        running = self._count(np.minimum(documents, self._documents - 1)).cumsum(1)
        which = (running <= inside[:, None]).sum(1)
        before = np.where(which > 0, np.take_along_axis(running, np.maximum(which - 1, 0)[:, None], 1)[:, 0], 0)
        return group * STRIDE + which, inside - before

    def _count(self, documents: Numbers) -> Numbers:
        """How many blocks these documents make."""
        return -(-(self._span(documents + 1) - self._span(documents)) // self.length)

    def _span(self, documents: Numbers) -> Numbers:
        """Where these documents begin in the stream, of which all are one where they are joined."""
        return documents * self._stream.size if self.boundaries == "join" else self._stream.begins(documents)

    @property
    def _documents(self) -> int:
        return 1 if self.boundaries == "join" else len(self.store)

    @functools.cached_property
    def _stream(self) -> Stream:
        return Stream(self.store, self.separator)

    @functools.cached_property
    def _before(self) -> Numbers:
        """How many blocks lie before every so-manieth document, and how many there are."""
        totals = [np.zeros(1, np.int64)]
        for first in range(0, self._documents, CHUNK):
            counts = self._count(np.arange(first, min(first + CHUNK, self._documents)))
            totals.append(np.add.reduceat(counts, np.arange(0, len(counts), STRIDE)))
        return np.concatenate(totals).cumsum()


@dataclass(frozen=True)
class Lanes:
    """The documents of a store in order, as so many streams side by side, each read stretch by stretch.

    A batch is the next stretch of every lane, so that what a recurrence remembers of a lane is what came before it.
    At most one token for each lane is left over at the end.
    """

    store: Store
    lanes: int
    length: int
    """How many tokens a stretch has; the last one of a lane may have fewer."""
    separator: int | None = None

    def __post_init__(self) -> None:
        if self.length < 1 or self.lanes < 1:
            raise BoughError(
                f"lanes: {self.lanes} of {self.length} tokens at once hold nothing; give 1 or more of each"
            )
        if not self._each:
            raise BoughError(f"lanes: {self._stream.size:,} tokens cannot fill {self.lanes:,} lanes; ask for fewer")

    def __len__(self) -> int:
        return self.lanes * -(-self._each // self.length)

    @property
    def made_of(self) -> Mapping[str, Any]:
        """The fingerprints of the store, and how it is read."""
        how = {"lanes": self.lanes, "length": self.length, "separator": self.separator}
        return {**_fingerprints(self.store), **how}

    def lengths(self, numbers: Numbers, epoch: int) -> Lengths:
        """How many tokens these stretches have."""
        return {"ids": np.minimum(self.length, self._each - numbers // self.lanes * self.length)}

    def get(self, number: int, epoch: int) -> Example:
        """A stretch of a lane."""
        step, lane = divmod(number, self.lanes)
        first = lane * self._each + step * self.length
        return self._stream.stretch(first, min(first + self.length, (lane + 1) * self._each))

    @functools.cached_property
    def _stream(self) -> Stream:
        return Stream(self.store, self.separator)

    @functools.cached_property
    def _each(self) -> int:
        """How many tokens a lane has."""
        return self._stream.size // self.lanes


def _fingerprints(store: Store) -> Mapping[str, Any]:
    return store.about.get("fingerprints", {})
