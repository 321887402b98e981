"""A batch on its way from examples to tensors: texts end to end in numpy, with what objectives ask of each token."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bough.data.draw import Draw
from bough.data.feeding.batch import Batch, Example
from bough.data.goals.chance import Chance
from bough.data.goals.runs import Flags, Numbers, Runs, end_to_end
from bough.errors import BoughError
from bough.packed import Packed


@dataclass(frozen=True, eq=False)
class Body:
    """A text of each example, end to end."""

    ids: Numbers
    runs: Runs
    places: Numbers
    """Which token of its text each is, counted before any was cut."""
    starts: Flags | None = None
    """Where a word starts, if the examples tell."""

    @classmethod
    def whole(cls, ids: Numbers, runs: Runs, starts: Flags | None = None) -> Body:
        """Texts of which nothing was cut."""
        return cls(ids, runs, runs.places, starts)

    def only(self, kept: Flags) -> Body:
        """What is left of them."""
        starts = None if self.starts is None else self.starts[kept]
        return Body(self.ids[kept], Runs(self.runs.sums(kept)), self.places[kept], starts)


class Given:
    """The examples of a batch by column, and what is left to chance in them."""

    def __init__(self, examples: Sequence[Example], items: Sequence[int], draw: Draw) -> None:
        self.items = items
        self.chance = Chance(draw, items)
        self._examples = examples

    def __len__(self) -> int:
        return len(self._examples)

    def has(self, column: str) -> bool:
        """Whether the examples have this column."""
        return all(column in example for example in self._examples)

    def column(self, name: str) -> list[Any]:
        """What each example has in a column."""
        if not self.has(name):
            has = ", ".join(sorted(set[str]().union(*self._examples)))
            raise BoughError(f"{name}: the examples have no such column (they have {has}); prepare the data with it")
        return [example[name] for example in self._examples]

    def ragged(self, name: str) -> tuple[Numbers, Runs]:
        """The numbers that the examples have in a column, end to end."""
        return end_to_end(self.column(name))

    def body(self, ids: str, starts: str) -> Body:
        """The text that lies in these columns."""
        numbers, runs = self.ragged(ids)
        return Body.whole(numbers, runs, self.ragged(starts)[0] > 0 if self.has(starts) else None)

    def each(self, value: int | str) -> Numbers:
        """A number for each example: the same for all, or from a column."""
        return np.asarray(self.column(value) if isinstance(value, str) else [value] * len(self), np.int64)


@dataclass(frozen=True, eq=False)
class Laid:
    """Sequences end to end. An objective makes of it another with goals."""

    ids: Numbers
    runs: Runs
    """The tokens of each sequence."""
    segments: Numbers
    bodies: Numbers
    """Which text of its example each token is of; -1 for the special tokens around them."""
    places: Numbers
    """Which token of that text it is, counted before any was cut."""
    starts: Flags | None = None
    """Where a word starts, if the examples tell."""
    languages: Numbers | None = None
    """The language that each token is in, if that is said."""
    positions: Numbers | None = None
    """Where each token is, if that is not where it lies."""
    source: Laid | None = None
    """What these are written from."""
    goals: Mapping[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]])

    def reading(self, ids: Numbers) -> Laid:
        """The same with other tokens."""
        return dataclasses.replace(self, ids=ids)

    def aiming(self, **goals: NDArray[Any]) -> Laid:
        """The same with more goals."""
        return dataclasses.replace(self, goals={**self.goals, **goals})

    def index(self, rows: Numbers, texts: Runs) -> Numbers:
        """Where a column that tells of each token of the texts tells of these rows, which are tokens of them."""
        return texts.starts[self.runs.owners[rows]] + self.places[rows]

    def packed(self) -> Packed:
        """As a net reads it."""
        return Packed(
            torch.from_numpy(self.ids),
            tuple(self.runs.lengths.tolist()),
            torch.from_numpy(self.segments),
            _tensor(self.languages),
            self.source and self.source.packed(),
            places=_tensor(self.positions),
        )

    def batch(self, items: Sequence[int]) -> Batch:
        """With its goals, as a step of training takes it."""
        tokens = self.runs.total + (self.source.runs.total if self.source else 0)
        goals = {name: torch.from_numpy(goal) for name, goal in self.goals.items()}
        return Batch(self.packed(), goals, tuple(items), tokens)


def _tensor(values: Numbers | None) -> Tensor | None:
    return None if values is None else torch.from_numpy(values)
