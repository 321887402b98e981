"""From examples to batches: a way to lay examples out, and what the sequences should come to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from bough.data.batch import Batch, Example, Lengths
from bough.data.draw import Draw
from bough.data.laid import Given, Laid
from bough.data.runs import Numbers
from bough.data.wrap import FIRST
from bough.errors import BoughError


@runtime_checkable
class Lay(Protocol):
    """A way to lay examples out."""

    def __call__(self, given: Given) -> Laid:
        """The sequences of these examples."""
        ...

    def length(self, lengths: Lengths) -> Numbers:
        """How many tokens each of these items takes."""
        ...


@runtime_checkable
class Goal(Protocol):
    """What sequences should come to say."""

    def __call__(self, laid: Laid, given: Given) -> Laid:
        """The sequences with their goals, and changed where the goal is to tell what was there."""
        ...


@dataclass(frozen=True)
class Collation:
    """Examples laid out one way, with goals that stand side by side: masked words and a label of the pair, say."""

    lay: Lay
    goals: tuple[Goal, ...] = ()

    def __call__(self, examples: Sequence[Example], items: Sequence[int], draw: Draw) -> Batch:
        """The batch of these examples."""
        given = Given(examples, items, draw)
        laid = self.lay(given)
        for goal in self.goals:
            laid = goal(laid, given)
        return laid.batch(items)

    def length(self, lengths: Lengths) -> Numbers:
        """How many tokens each of these items takes."""
        return self.lay.length(lengths)


@dataclass(frozen=True)
class Label:
    """A number of each sequence: that of its class, or what is to be estimated of it."""

    column: str = "label"
    name: str = "labels"
    """What the goal is called."""
    kind: Literal["class", "number"] = "class"

    def __call__(self, laid: Laid, given: Given) -> Laid:
        kind = np.int64 if self.kind == "class" else np.float32
        return laid.aiming(**{self.name: np.array(given.column(self.column), kind)})


@dataclass(frozen=True)
class ManyLabels:
    """Of several classes, 1 for those that each sequence is of and 0 for the others."""

    count: int
    """How many classes there are."""
    column: str = "labels"

    def __call__(self, laid: Laid, given: Given) -> Laid:
        numbers, runs = given.ragged(self.column)
        labels = np.zeros((len(given), self.count), np.float32)
        labels[runs.owners, numbers] = 1
        return laid.aiming(labels=labels)


@dataclass(frozen=True)
class Tags:
    """A number of each word of the first text, to be said at the word's first token; the others say nothing."""

    column: str = "labels"

    def __call__(self, laid: Laid, given: Given) -> Laid:
        body, (tags, words) = given.body(*FIRST), given.ragged(self.column)
        if laid.starts is None or body.starts is None:
            raise BoughError(f"{FIRST[1]}: the examples do not say where words start; prepare the data with it")
        self._check(body.runs.sums(body.starts), words.lengths, given.items)
        at = np.flatnonzero(laid.starts & (laid.bodies == 0))
        word = body.starts.cumsum() - 1
        return laid.aiming(at=at, labels=tags[word[laid.index(at, body.runs)]])

    def _check(self, words: Numbers, tags: Numbers, items: Sequence[int]) -> None:
        if np.any(words != tags):
            one = int(np.argmax(words != tags))
            raise BoughError(f"item {items[one]}: has {words[one]} words and {tags[one]} tags; give one for each")


@dataclass(frozen=True)
class Answers:
    """The rows of an answer's first and last token; of one that was cut, or is none, both are its sequence's first."""

    first: str = "answer_start"
    """The column of the token that it starts with, counted in its text."""
    last: str = "answer_end"
    text: Literal[0, 1] = 1
    """Which text it lies in: the second, where the first is a question."""

    def __call__(self, laid: Laid, given: Given) -> Laid:
        first, last = (self._rows(laid, given.each(column)) for column in (self.first, self.last))
        whole = (first >= 0) & (last >= 0)
        nowhere = laid.runs.starts
        return laid.aiming(starts=np.where(whole, first, nowhere), ends=np.where(whole, last, nowhere))

    def _rows(self, laid: Laid, places: Numbers) -> Numbers:
        """The row of the token at each place of the text; -1 where there is none."""
        rows = np.full(len(places), -1)
        found = np.flatnonzero((laid.bodies == self.text) & (laid.places == laid.runs.spread(places)))
        rows[laid.runs.owners[found]] = found
        return rows


@dataclass(frozen=True)
class Next:
    """The token behind each one; the last of a sequence says nothing, nor does one behind which something was cut."""

    boundaries: Literal["join", "keep"] = "join"
    """Whether a document's first token is to be said from the end of the one before, where a sequence holds both."""

    def __call__(self, laid: Laid, given: Given) -> Laid:
        followed = laid.runs.places < laid.runs.spread(laid.runs.lengths - 1)
        followed[:-1] &= (laid.places[1:] == laid.places[:-1] + 1) | (laid.bodies[1:] != laid.bodies[:-1])
        if self.boundaries == "keep":
            begins, runs = given.ragged("begins")
            inside = np.flatnonzero((laid.bodies == 0) & (laid.places > 0))
            followed[inside[begins[laid.index(inside, runs)] > 0] - 1] = False
        at = np.flatnonzero(followed)
        return laid.aiming(at=at, words=laid.ids[at + 1])
