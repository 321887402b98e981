"""What a work is: data, and callables that do the same thing to it with different tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

from torch import Tensor

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


@dataclass(frozen=True)
class Task:
    """A work with its data laid out. All answers are compared with those of the first case's own runner."""

    says: str
    """What is done to what, in a line."""
    unit: str
    """What speed counts, in the plural."""
    amount: int
    """How many of them one run does."""
    cases: tuple[Case, ...]


Opener: TypeAlias = Callable[[Effort], AbstractContextManager[Task]]
"""A work: it lays its data out, and clears up behind it."""
