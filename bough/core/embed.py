"""What a token is before the first layer: the sum of its tables, then norm, dropout and a projection."""

from __future__ import annotations

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


class Positions(nn.Module):
    """Adds the vector of each token's position, counted from `offset`."""

    def __init__(self, rows: int, width: int, offset: int, trained: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width), requires_grad=trained)
        self.offset = offset

    def forward(self, x_TW: Stream, batch: Packed) -> Stream:
        return x_TW + F.embedding(batch.positions + self.offset, self.weight)


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


class Embed(nn.Module):
    """The embedding, whole."""

    def __init__(
        self,
        tokens: Table,
        positions: Positions | Nothing,
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
        x = self.tokens(batch.ids)
        for table in (self.positions, self.segments, self.languages):
            x = table(x, batch)
        return self.project(self.dropout(self.norm(x)))
