"""What a net keeps of tokens it has read, so that the next stretch of the same sequences need not read them again.

A memory is made by `net.memory(...)`, is part of a call, and grows with it. It keeps each sequence's length, and any of
them may be shorter than the others, be dropped, or be taken several times. N sequences, T tokens, R rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain

import torch
from jaxtyping import Float, Int
from torch import Tensor

from bough.core.kernels import Layout, Rows
from bough.errors import BoughError
from bough.packed import Packed

Stream = Float[Tensor, "tokens width"]
Context = Float[Tensor, "rows width"]
Heads = Float[Tensor, "rows heads _"]
Pair = tuple[Tensor, Tensor]
Source = tuple[Tensor, tuple[int, ...]]
"""The states of all that is read of a source, and how many are each sequence's."""


class Nothing:
    """No memory: every call stands alone."""

    lengths: tuple[int, ...] = ()
    """How many tokens of each sequence have been read."""
    bytes: int = 0
    """How much it holds."""

    def begin(self, batch: Packed) -> tuple[Nothing, Packed]:
        """Make ready for more tokens of each sequence: what the call's layers ask, and the batch with its positions."""
        return self, batch

    def layout(self, batch: Packed) -> Layout:
        """Who asks and who is asked, in the rows that `context` and `extend` give."""
        rows = Rows.packed(batch.lengths, batch.firsts)
        return Layout(rows, rows, batch.ids.device)

    def positions(self, batch: Packed) -> Int[Tensor, " rows"]:
        """Where in its sequence each row of `context` is."""
        return batch.positions

    def source(self, read: Callable[[], Source]) -> Source:
        """The source's last states and lengths: read now, or kept from the first time."""
        return read()

    def context(self, depth: int, x_TW: Stream) -> Context:
        """What a layer's attention reads, given what the layer below says of the new tokens."""
        return x_TW

    def extend(self, depth: int, k: Heads, v: Heads) -> Pair:
        """The keys and values of all that is read, given those of the new tokens."""
        return k, v

    def crossed(self, depth: int, project: Callable[[], Pair]) -> Pair:
        """The source's keys and values: projected now, or kept from the first time."""
        return project()

    def drop(self, *numbers: int) -> None:
        """Forget sequences; those behind them move up."""
        self.reorder([number for number in range(len(self.lengths)) if number not in numbers])

    def reorder(self, order: Sequence[int]) -> None:
        """Keep these sequences in this order; one may be taken several times, as beams do."""


class _Lengths(Nothing):
    """What any memory knows of its sequences."""

    def __init__(self) -> None:
        self.lengths = ()
        self.kept: Source | None = None

    def begin(self, batch: Packed) -> tuple[Nothing, Packed]:
        before = self.lengths or (0,) * len(batch.lengths)
        if len(before) != len(batch.lengths):
            raise BoughError(
                f"memory: it holds {len(before)} sequences and the batch has {len(batch.lengths)}; give each that it "
                "holds, if only with no tokens, or drop it"
            )
        self.lengths = tuple(old + new for old, new in zip(before, batch.lengths, strict=True))
        return self, batch.after(before)

    def reorder(self, order: Sequence[int]) -> None:
        self.lengths = tuple(self.lengths[number] for number in order)


class Cache(_Lengths):
    """The keys and values of every layer, and of the source where there is one. For answering, not for training.

    Each sequence has room for as many rows as any; the room doubles when it is full.
    """

    def __init__(self) -> None:
        super().__init__()
        self.room = 0
        self.pairs: dict[int, Pair] = {}
        self.sources: dict[int, Pair] = {}
        self.rows = torch.empty(0, dtype=torch.long)

    @property
    def bytes(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How much it holds, with the room it has not filled."""
        held = chain.from_iterable((*self.pairs.values(), *self.sources.values()))
        return sum(one.nbytes for one in held) + (self.kept[0].nbytes if self.kept else 0)

    def begin(self, batch: Packed) -> tuple[Nothing, Packed]:
        _, placed = super().begin(batch)
        before = placed.firsts
        needed = max(self.lengths, default=0)
        if needed > self.room:
            self._grow(max(needed, 2 * self.room), len(before))
        rows = Rows(tuple(n * self.room + old for n, old in enumerate(before)), batch.lengths, before)
        self.rows = rows.index(batch.ids.device)
        return self, placed

    def layout(self, batch: Packed) -> Layout:
        starts = tuple(number * self.room for number in range(len(self.lengths)))
        keys = Rows(starts, self.lengths, (0,) * len(starts))
        return Layout(Rows.packed(batch.lengths, batch.firsts), keys, batch.ids.device)

    def source(self, read: Callable[[], Source]) -> Source:
        self.kept = self.kept or read()
        return self.kept

    def extend(self, depth: int, k: Heads, v: Heads) -> Pair:
        if depth not in self.pairs:
            size = len(self.lengths) * self.room
            self.pairs[depth] = k.new_zeros(size, *k.shape[1:]), v.new_zeros(size, *v.shape[1:])
        keys, values = self.pairs[depth]
        keys[self.rows], values[self.rows] = k, v
        return keys, values

    def crossed(self, depth: int, project: Callable[[], Pair]) -> Pair:
        if depth not in self.sources:
            self.sources[depth] = project()
        return self.sources[depth]

    def reorder(self, order: Sequence[int]) -> None:
        rows = self.rows.new_tensor([n * self.room + i for n in order for i in range(self.room)])
        self.pairs = {depth: _chosen(pair, rows) for depth, pair in self.pairs.items()}
        if self.kept:
            states, lengths = self.kept
            starts = tuple(accumulate((0, *lengths)))
            own = self.rows.new_tensor([starts[n] + i for n in order for i in range(lengths[n])])
            self.kept = states[own], tuple(lengths[number] for number in order)
            self.sources = {depth: _chosen(pair, own) for depth, pair in self.sources.items()}
        super().reorder(order)

    def _grow(self, room: int, count: int) -> None:
        for depth, pair in self.pairs.items():
            larger = tuple(one.new_zeros(count * room, *one.shape[1:]) for one in pair)
            for old, new in zip(pair, larger, strict=True):
                new.unflatten(0, (count, room))[:, : self.room] = old.unflatten(0, (count, self.room))
            self.pairs[depth] = larger[0], larger[1]
        self.room = room


class Recurrence(_Lengths):
    """What every layer read of each sequence's last tokens, which the next stretch reads again; gradients end there."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length
        self.states: dict[int, Tensor] = {}

    @property
    def bytes(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How much it holds."""
        return sum(one.nbytes for one in self.states.values())

    def begin(self, batch: Packed) -> tuple[Nothing, Packed]:
        _, placed = super().begin(batch)
        stretch = _Stretch(placed, self.length, self.states)
        self.states = stretch.after
        return stretch, placed

    def filled(self, states: Sequence[Float[Tensor, "sequences tokens width"]]) -> Recurrence:
        """Itself, as if what is given for each layer had been read: what another tool kept, or begins with."""
        count, tokens, _ = states[0].shape
        self.length, self.lengths = max(self.length, tokens), (tokens,) * count
        self.states = {depth: one.detach().flatten(0, 1) for depth, one in enumerate(states)}
        return self

    def reorder(self, order: Sequence[int]) -> None:
        kept = [min(self.length, length) for length in self.lengths]
        starts = Rows.packed(kept).starts
        rows = torch.tensor([starts[n] + i for n in order for i in range(kept[n])], dtype=torch.long)
        self.states = {depth: one[rows.to(one.device)] for depth, one in self.states.items()}
        super().reorder(order)


class _Stretch(Nothing):
    """One call of a recurrence: what it was given, and what it keeps for the next.

    Its layers may be run again on the way back, when the memory has gone on to other stretches.
    """

    def __init__(self, batch: Packed, length: int, before: Mapping[int, Tensor]) -> None:
        self.before = before
        self.after: dict[int, Tensor] = {}
        self.held = tuple(min(length, first) for first in batch.firsts)
        old, new = Rows.packed(self.held).starts, Rows.packed(batch.lengths).starts
        # What was kept lies in front of the batch; a sequence's own rows are brought together, and the last kept again.
        rows: list[int] = []
        keep: list[int] = []
        for number, (held, count) in enumerate(zip(self.held, batch.lengths, strict=True)):
            rows += range(old[number], old[number] + held)
            rows += range(sum(self.held) + new[number], sum(self.held) + new[number] + count)
            keep += range(len(rows) - min(length, held + count), len(rows))
        device = batch.ids.device
        self.gather, self.keep = (torch.tensor(one, dtype=torch.long, device=device) for one in (rows, keep))
        self.at_R = self.layout(batch).keys.positions(device)

    def layout(self, batch: Packed) -> Layout:
        lengths = tuple(held + count for held, count in zip(self.held, batch.lengths, strict=True))
        firsts = tuple(first - held for first, held in zip(batch.firsts, self.held, strict=True))
        keys = Rows.packed(lengths, firsts)
        starts = tuple(start + held for start, held in zip(keys.starts, self.held, strict=True))
        return Layout(Rows(starts, batch.lengths, batch.firsts), keys, batch.ids.device)

    def positions(self, batch: Packed) -> Int[Tensor, " rows"]:
        return self.at_R

    def context(self, depth: int, x_TW: Stream) -> Context:
        before = self.before.get(depth, x_TW[:0])
        rows_RW = torch.cat((before, x_TW))[self.gather]
        self.after[depth] = rows_RW.detach()[self.keep]
        return rows_RW


def _chosen(pair: Pair, rows: Tensor) -> Pair:
    return pair[0][rows], pair[1][rows]
