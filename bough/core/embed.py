"""What a token is before the first layer: words or pieces of pictures, what is added to them, then norm and dropout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from bough.packed import Packed

Stream = Float[Tensor, "tokens width"]


class Table(nn.Module):
    """A vector for each of so many things."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width))

    def forward(self, rows: Int[Tensor, " tokens"]) -> Stream:
        return F.embedding(rows, self.weight)


class WordTable(Table):
    """The vector of each token's word, multiplied by a factor."""

    def __init__(self, rows: int, width: int, scale: float) -> None:
        super().__init__(rows, width)
        self.scale = scale

    def forward(self, batch: Packed) -> Stream:  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().forward(batch.ids) * self.scale


class SameWords(nn.Module):
    """The words of another embedding."""

    def __init__(self, words: WordTable) -> None:
        super().__init__()
        # In a tuple, torch does not register the table a second time: files know it by one name.
        self.tables = (words,)

    def forward(self, batch: Packed) -> Stream:
        return self.tables[0](batch)


class WordClusters(nn.Module):
    """The vector of each token's word from the table of its cluster, projected to the width."""

    def __init__(
        self, bounds: Sequence[tuple[int, int]], tables: Sequence[Table], projects: Sequence[nn.Module], scale: float
    ) -> None:
        super().__init__()
        self.bounds = bounds
        self.tables = nn.ModuleList(tables)
        self.projects = nn.ModuleList(projects)
        self.scale = scale

    def forward(self, batch: Packed) -> Stream:
        parts: list[Tensor] = []
        places: list[Tensor] = []
        for (start, end), table, project in zip(self.bounds, self.tables, self.projects, strict=True):
            places.append(((batch.ids >= start) & (batch.ids < end)).nonzero()[:, 0])
            parts.append(project(table(batch.ids[places[-1]] - start)))
        return torch.cat(parts)[torch.cat(places).argsort()] * self.scale

    def vectors(self) -> list[Tensor]:
        """The vectors of each cluster's words."""
        return [cast("Table", table).weight for table in self.tables]


class Pieces(nn.Module):
    """Each picture as its first token and then its pieces, projected."""

    def __init__(self, numbers: int, width: int) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.empty(width))
        self.project = nn.Linear(numbers, width)

    def forward(self, batch: Packed) -> Stream:
        assert batch.pieces is not None, "pictures are read, not words"
        pieces = self.project(batch.pieces.to(self.project.weight.dtype))
        x_TW = self.first.to(pieces.dtype).expand(len(batch.ids), -1)
        return x_TW.index_copy(0, (batch.positions > 0).nonzero()[:, 0], pieces)


class GridPositions(nn.Module):
    """Adds the vector of each piece's place; where a picture has another grid, vectors between the learned ones."""

    def __init__(self, grid: tuple[int, ...], rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width))
        self.grid = grid

    def forward(self, x_TW: Stream, batch: Packed) -> Stream:
        tables = {grid: self._table(grid) for grid in dict.fromkeys(batch.grids)}
        return x_TW + torch.cat([tables[grid] for grid in batch.grids])

    def _table(self, grid: tuple[int, ...]) -> Stream:
        """The learned table, stretched to a grid: time in a straight line, the picture by cubic curves."""
        if grid == self.grid:
            return self.weight
        width = self.weight.shape[1]
        table = self.weight[1:].view(*self.grid, width)
        if len(grid) == 3 and grid[0] != self.grid[0]:
            line = F.interpolate(table.flatten(1).t()[None], grid[0], mode="linear", align_corners=False)
            table = line[0].t().reshape(grid[0], *self.grid[1:], width)
        planes = table.reshape(-1, *self.grid[-2:], width).permute(0, 3, 1, 2)
        planes = F.interpolate(planes, grid[-2:], mode="bicubic", align_corners=False)
        return torch.cat((self.weight[:1], planes.permute(0, 2, 3, 1).flatten(0, 2)))


class Positions(nn.Module):
    """Adds the vector of each token's position, counted from `offset`."""

    def __init__(self, rows: int, width: int, offset: int, trained: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width), requires_grad=trained)
        self.offset = offset

    def forward(self, x_TW: Stream, batch: Packed) -> Stream:
        return x_TW + F.embedding(batch.positions + self.offset, self.weight)


class Coordinates(nn.Module):
    """Adds a vector for each coordinate of each token's position."""

    def __init__(self, sizes: Sequence[int], width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(sum(sizes), width))
        self.sizes = tuple(sizes)

    def forward(self, x_TW: Stream, batch: Packed) -> Stream:
        first, step = 0, math.prod(self.sizes)
        for size in self.sizes:
            step //= size
            x_TW = x_TW + F.embedding(first + batch.positions // step % size, self.weight)
            first += size
        return x_TW


class Segments(Table):
    """Adds the vector of each token's segment."""

    def forward(self, x_TW: Stream, batch: Packed) -> Stream:  # pyright: ignore[reportIncompatibleMethodOverride]
        return x_TW + super().forward(batch.segments)


class Languages(Table):
    """Adds the vector of each token's language, where the batch says one."""

    def forward(self, x_TW: Stream, batch: Packed) -> Stream:  # pyright: ignore[reportIncompatibleMethodOverride]
        return x_TW if batch.languages is None else x_TW + super().forward(batch.languages)


class Nothing(nn.Module):
    """Adds nothing: stands where an architecture has no such table."""

    def forward(self, x_TW: Stream, batch: Packed) -> Stream:
        return x_TW


Added = Positions | Coordinates | GridPositions | Nothing
"""What tells positions."""


class Embed(nn.Module):
    """The embedding, whole."""

    def __init__(
        self,
        tokens: nn.Module,
        positions: Added,
        segments: Segments | Nothing,
        languages: Languages | Nothing,
        norm: nn.Module,
        dropout: float,
        project: nn.Module,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        self.positions = positions
        self.segments = segments
        self.languages = languages
        self.norm = norm
        self.dropout = nn.Dropout(dropout)
        self.project = project

    def forward(self, batch: Packed) -> Stream:
        x = self.tokens(batch)
        for table in (self.positions, self.segments, self.languages):
            x = table(x, batch)
        return self.project(self.dropout(self.norm(x)))
