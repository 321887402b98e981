"""From examples to batches: a way to lay examples out, and what the sequences should come to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from bough.data.draw import Draw
from bough.data.feeding.batch import Batch, Example, Lengths
from bough.data.goals.laid import Given, Laid
from bough.data.goals.runs import Numbers
from bough.data.goals.wrap import FIRST
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
    """A number of each token of the first text that has one; of a word its first has. -1 stands where there is none."""

    column: str = "labels"

    def __call__(self, laid: Laid, given: Given) -> Laid:
        tags, texts = given.ragged(self.column)
        self._check(texts.lengths, given.body(*FIRST).runs.lengths, given.items)
        inside = np.flatnonzero(laid.bodies == 0)
        said = tags[laid.index(inside, texts)]
        return laid.aiming(at=inside[said >= 0], labels=said[said >= 0])

    def _check(self, tags: Numbers, tokens: Numbers, items: Sequence[int]) -> None:
        if np.any(tags != tokens):
            one = int(np.argmax(tags != tokens))
            raise BoughError(
                f"item {items[one]}: has {tokens[one]} tokens and {tags[one]} tags; store one for each, by tags.spread"
            )


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
    """The token behind each one; nothing is said by one behind which something was cut.

    The last of a sequence says nothing either, unless it is of a text with nothing around it and the examples tell what
    comes `after`: then every token of a stream is said once, wherever it was cut.
    """

    boundaries: Literal["join", "keep"] = "join"
    """Whether a document's first token is to be said from the end of the one before, where a sequence holds both."""

    def __call__(self, laid: Laid, given: Given) -> Laid:
        followed = laid.runs.places < laid.runs.spread(laid.runs.lengths - 1)
        within = (laid.bodies[1:] >= 0) & (laid.bodies[1:] == laid.bodies[:-1])
        followed[:-1] &= ~within | (np.diff(laid.places) == 1)
        behind, texts = np.append(laid.ids[1:], 0), np.append(within & followed[:-1], [False] * (len(laid.ids) > 0))
        if given.has("after"):
            lasts, words = _behind(laid, given)
            followed[lasts], behind[lasts], texts[lasts] = True, words, True
        if self.boundaries == "keep":
            begins, runs = given.ragged("begins")
            before = np.flatnonzero(texts)
            followed[before[begins[laid.index(before, runs) + 1] > 0]] = False
        at = np.flatnonzero(followed)
        return laid.aiming(at=at, words=behind[at])


def _behind(laid: Laid, given: Given) -> tuple[Numbers, Numbers]:
    """The last row of each sequence that is a bare and whole text, and the token that comes after it."""
    after, runs = given.ragged("after")
    sequences = np.flatnonzero((laid.runs.lengths > 0) & (runs.lengths > 0))
    firsts, lasts = laid.runs.starts[sequences], laid.runs.bounds[1:][sequences] - 1
    whole = given.ragged("ids")[1].lengths[sequences] - 1
    bare = (laid.bodies[firsts] == 0) & (laid.bodies[lasts] == 0) & (laid.places[lasts] == whole)
    return lasts[bare], after[runs.starts[sequences[bare]]]
