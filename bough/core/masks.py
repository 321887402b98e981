"""Who may look at whom: each mask is a predicate on a query's position and a key's, both in the same sequence.

A sparse mask also says where to look: routes, which lay the positions out so that what a query sees lies in few cells.
A route is a rectangle of queries and one of keys, row by row; -1 is an empty cell. Between them, the routes of a mask
hold every pair that it lets see, and each pair once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from bough.spec import Causal, Fixed, Full, Mask, Strided, Window

Positions: TypeAlias = Int[Tensor, "..."]
Seen: TypeAlias = Bool[Tensor, "..."]
Predicate = Callable[[Positions, Positions], Seen]


@dataclass(frozen=True, eq=False)
class Route:
    """Cells to look into: each row of queries meets the row of keys beside it, as far as the predicate allows."""

    queries: Int[Tensor, "rows queries"]
    keys: Int[Tensor, "rows keys"]
    seen: Predicate

    def visible(self) -> Bool[Tensor, "rows queries keys"]:
        """Which cells are pairs that see."""
        query, key = self.queries[:, :, None], self.keys[:, None, :]
        return (key >= 0) & (query >= 0) & self.seen(query, key)


@runtime_checkable
class Sparse(Protocol):
    """A mask that knows where to look."""

    def __call__(self, query: Positions, key: Positions) -> Seen: ...

    def routes(self, length: int) -> list[Route]:
        """Where to look in a sequence of this length."""
        ...


def everything(query: Positions, key: Positions) -> Seen:
    """Any position sees any other."""
    return torch.ones_like(query + key, dtype=torch.bool)


def the_past(query: Positions, key: Positions) -> Seen:
    """A position sees itself and what came before."""
    return key <= query


@dataclass(frozen=True)
class Near:
    """A position sees itself and the `reach` positions before it."""

    reach: int

    def __call__(self, query: Positions, key: Positions) -> Seen:
        return (key <= query) & (query - key <= self.reach)

    def routes(self, length: int) -> list[Route]:
        return [_stretches(length, max(self.reach, 1), before=1, seen=self)]


@dataclass(frozen=True)
class Column:
    """A position sees those that lie a whole number of strides back, itself first."""

    stride: int

    def __call__(self, query: Positions, key: Positions) -> Seen:
        return (key <= query) & ((query - key) % self.stride == 0)

    def routes(self, length: int) -> list[Route]:
        return [_columns(length, self.stride, self)]


@dataclass(frozen=True)
class Stretch:
    """A position sees its own stretch up to itself."""

    stride: int

    def __call__(self, query: Positions, key: Positions) -> Seen:
        return (key <= query) & (key // self.stride == query // self.stride)

    def routes(self, length: int) -> list[Route]:
        return [_stretches(length, self.stride, before=0, seen=self)]


@dataclass(frozen=True)
class Summary:
    """A position sees, up to itself, the last few positions of every stretch."""

    stride: int
    count: int

    def __call__(self, query: Positions, key: Positions) -> Seen:
        return (key <= query) & (key % self.stride >= self.stride - self.count)

    def routes(self, length: int) -> list[Route]:
        return [_summaries(length, self.stride, self.count, self)]


@dataclass(frozen=True)
class NearAndColumn:
    """What is near, and the column."""

    stride: int

    def __call__(self, query: Positions, key: Positions) -> Seen:
        return Near(self.stride)(query, key) | Column(self.stride)(query, key)

    def routes(self, length: int) -> list[Route]:
        return [*Near(self.stride).routes(length), _columns(length, self.stride, self._far)]

    def _far(self, query: Positions, key: Positions) -> Seen:
        return Column(self.stride)(query, key) & (query - key > self.stride)


@dataclass(frozen=True)
class StretchAndSummary:
    """One's own stretch, and the summaries of those before."""

    stride: int
    count: int

    def __call__(self, query: Positions, key: Positions) -> Seen:
        return Stretch(self.stride)(query, key) | Summary(self.stride, self.count)(query, key)

    def routes(self, length: int) -> list[Route]:
        return [*Stretch(self.stride).routes(length), _summaries(length, self.stride, self.count, self._before)]

    def _before(self, query: Positions, key: Positions) -> Seen:
        return Summary(self.stride, self.count)(query, key) & (key // self.stride < query // self.stride)


@dataclass(frozen=True)
class Halves:
    """One mask for the first half of the heads, another for the rest."""

    first: Predicate
    second: Predicate


Seeing: TypeAlias = Predicate | Halves
"""What a layer's heads see."""


def seeing(mask: Mask, depth: int) -> Seeing:
    """What the layer at this depth sees."""
    match mask:
        case Full():
            return everything
        case Causal():
            return the_past
        case Window():
            return Near(mask.size - 1)
        case Strided():
            parts = Near(mask.stride), Column(mask.stride)
            return _shared_out(parts, NearAndColumn(mask.stride), mask.over, depth)
        case Fixed():
            parts = Stretch(mask.stride), Summary(mask.stride, mask.summary)
            return _shared_out(parts, StretchAndSummary(mask.stride, mask.summary), mask.over, depth)


def _shared_out(parts: tuple[Predicate, Predicate], union: Predicate, over: str, depth: int) -> Seeing:
    return {"layers": parts[depth % 2], "heads": Halves(*parts), "union": union}[over]


def _stretches(length: int, stride: int, before: int, seen: Predicate) -> Route:
    """Each stretch of positions beside itself and as many stretches before it."""
    count = -(-length // stride)
    starts = torch.arange(count)[:, None] * stride
    queries = starts + torch.arange(stride)
    keys = starts - before * stride + torch.arange((1 + before) * stride)
    return Route(_within(queries, length), _within(keys, length), seen)


def _columns(length: int, stride: int, seen: Predicate) -> Route:
    """The positions of each column beside themselves."""
    columns = torch.arange(min(stride, length))[:, None] + stride * torch.arange(-(-length // stride))
    return Route(_within(columns, length), _within(columns, length), seen)


def _summaries(length: int, stride: int, count: int, seen: Predicate) -> Route:
    """All positions beside all summaries, of which a short sequence has none."""
    every = torch.arange(length)
    return Route(every[None], every[every % stride >= stride - count][None], seen)


def _within(positions: Positions, length: int) -> Positions:
    return positions.masked_fill((positions < 0) | (positions >= length), -1)
