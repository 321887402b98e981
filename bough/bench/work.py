"""What a work is: data, and callables that do the same thing to it with different tools, or in different ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from bough.bench.document import Growth, Point
from bough.spec import Spec

Answers: TypeAlias = Sequence[Tensor]
"""What a tool makes of the data, vectors in the last dimension, in an order that all tools share."""
Run: TypeAlias = Callable[[], Answers]


@dataclass(frozen=True)
class Effort:
    """How much of a work to do."""

    sequences: int = 256
    spec: Spec | None = None
    """The architecture, where it is not the work's own."""
    device: str = "cpu"
    quick: bool = False
    """Fewer lengths, where a work has several."""


@dataclass(frozen=True)
class Runner:
    """One tool doing the work in one way."""

    name: str
    prepare: Callable[[], Run]
    """Loads what is needed; what it returns is timed."""
    needs: str = "bough"
    """The package it is; without it the runner is left out."""
    note: str = ""
    """What a reader should know of how it does the work."""


@dataclass(frozen=True)
class Case:
    """One form of the work, such as one precision: ours, and the peers it is measured against."""

    name: str
    ours: Runner
    peers: tuple[Runner, ...]
    alone: bool = False
    """Whether it is no form of the work before it, so that its answers are compared with those of its own runner."""


@dataclass(frozen=True)
class Task:
    """A work with its data laid out. Answers are compared with those of the first case's own runner."""

    says: str
    """What is done to what, in a line."""
    unit: str
    """What speed counts, in the plural."""
    amount: int
    """How many of them one run does."""
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Trial:
    """One way made ready at one length."""

    tokens: int
    """How many are read, or scored, in a run."""
    run: Run
    attention: Callable[[], float] | None = None
    """How many seconds of the last run were attention."""
    pairs: int | None = None
    """How many times a token sees another."""
    expected: Answers | None = None
    """What the run has to answer, where others have answered it before."""


@dataclass(frozen=True)
class Way:
    """One way of doing a thing that is done at many lengths."""

    name: str
    at: Callable[[int], Trial]


def not_fitted(points: Sequence[Point]) -> tuple[Growth, ...]:
    """What a line has where nobody asks how it grows."""
    return ()


@dataclass(frozen=True)
class Sweep:
    """A thing to be done in several ways at ever greater lengths. All are measured against the first."""

    says: str
    along: str
    """What length counts."""
    lengths: tuple[int, ...]
    ways: tuple[Way, ...]
    notes: tuple[str, ...] = ()
    """What a reader should know of what is measured."""
    memory: bool = False
    """Whether to measure that too."""
    growth: Callable[[Sequence[Point]], tuple[Growth, ...]] = not_fitted
    """What is told of how a line grows."""


def words(vocabulary: int, count: int) -> list[int]:
    """Random ids, the same on every run."""
    drawn = torch.randint(vocabulary, (count,), generator=torch.Generator().manual_seed(0))
    return [int(one) for one in drawn]


Opener: TypeAlias = Callable[[Effort], AbstractContextManager[Task | Sweep]]
"""A work: it lays its data out, and clears up behind it."""
