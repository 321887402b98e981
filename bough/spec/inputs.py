"""What a token is before the first layer: words or patches, their positions, and what is added to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bough.record import Record
from bough.spec.layers import Norm
from bough.spec.parts import Count, Rate, Size, Tensors, linear


@dataclass(frozen=True)
class Learned(Record):
    """A learned vector for each of `size` positions; the first token takes row `offset`."""

    size: Size = 512
    offset: Count = 0

    @property
    def limit(self) -> int:
        """The longest sequence that has a position for each token."""
        return self.size - self.offset


@dataclass(frozen=True)
class Sinusoid(Record):
    """Sines and cosines of falling frequency in a table that is kept with the weights but not trained."""

    size: Size = 512
    offset: Count = 0
    layout: Literal["interleaved", "halves"] = "interleaved"
    """Sines and cosines in turn, or all sines and then all cosines (Marian)."""

    @property
    def limit(self) -> int:
        """The longest sequence that has a position for each token."""
        return self.size - self.offset


@dataclass(frozen=True)
class Factored(Record):
    """A learned vector for each coordinate of a position, summed: its row and its column, say (Sparse Transformer)."""

    sizes: tuple[Size, ...] = (96, 128)
    """How many values each coordinate takes, the slowest first."""

    @property
    def size(self) -> int:
        """How many vectors there are."""
        return sum(self.sizes)

    @property
    def limit(self) -> int:
        """The longest sequence that has a position for each token."""
        return math.prod(self.sizes)


Positions: TypeAlias = Learned | Sinusoid | Factored | None


@dataclass(frozen=True)
class Patches(Record):
    """Pictures cut into equal pieces, each projected to a token; a token of its own leads them (ViT, ViViT).

    Positions are learned for the grid of one size of picture; other sizes take theirs between the learned ones.
    """

    shape: tuple[Size, ...] = (16, 16)
    """The numbers of rows and columns of a piece, behind that of frames in a video."""
    grid: tuple[Size, ...] = (14, 14)
    """How many pieces a picture of the trained size has in each direction."""
    channels: Size = 3

    @property
    def count(self) -> int:
        """How many pieces a picture of the trained size has."""
        return math.prod(self.grid)

    def tensors(self, name: str, width: int) -> Tensors:
        yield f"{name}.first", (width,)
        yield from linear(f"{name}.project", self.channels * math.prod(self.shape), width)


@dataclass(frozen=True)
class Clusters(Record):
    """Words by how rare they are: each cluster in a narrower table than the last, projected to the trunk's width."""

    cutoffs: tuple[Size, ...] = (20000, 40000, 200000)
    """Where each cluster but the last ends; the vocabulary ends that one."""
    factor: Size = 4
    """How many times narrower each cluster's table is than the one before; at 1 there is one table for all."""

    def bounds(self, vocabulary: int) -> tuple[tuple[int, int], ...]:
        """The first word of each table and the one behind its last."""
        if self.factor == 1:
            return ((0, vocabulary),)
        return tuple(zip((0, *self.cutoffs), (*self.cutoffs, vocabulary), strict=True))

    def tensors(self, name: str, vocabulary: int, table: int, width: int) -> Tensors:
        for i, (start, end) in enumerate(self.bounds(vocabulary)):
            narrow = table // self.factor**i
            yield f"{name}.tables.{i}.weight", (end - start, narrow)
            if self.factor > 1 or narrow != width:
                yield f"{name}.projects.{i}.weight", (width, narrow)


@dataclass(frozen=True)
class Embedding(Record):
    """What a token is before the first layer: the sum of its tables, then norm, dropout and a projection."""

    positions: Positions = Learned()
    segments: Count = 0
    """How many kinds of segment (sentence A, sentence B, …) have a vector; 0 for none."""
    languages: Count = 0
    """How many languages have a vector; 0 for none."""
    norm: Norm | None = None
    dropout: Rate = 0.1
    width: Size | None = None
    """Width of the tables where it is not the trunk's, with a projection between the two (ALBERT)."""
    scaled: bool = False
    """Multiply words' vectors by the root of the trunk's width (the original Transformer)."""
    clusters: Clusters | None = None
    """Rare words behind narrower tables (adaptive input)."""
    patches: Patches | None = None
    """Pictures in place of words."""
