"""Texts of ids as a model reads them: cut to a limit, special tokens around, those of a whole batch at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.data.feeding.batch import Lengths
from bough.data.goals.laid import Body, Given, Laid
from bough.data.goals.runs import Numbers, Runs
from bough.errors import BoughError
from bough.text import Limit, Template, Tokenizer

Columns = tuple[str, str]
"""The columns that a text lies in: its ids, and where its words start."""
FIRST: Columns = ("ids", "starts")
SECOND: Columns = ("ids_pair", "starts_pair")
TARGET: Columns = ("target", "starts_target")


@dataclass(frozen=True)
class Wrap:
    """One text of each example, or two, as a sequence."""

    template: Template
    limit: Limit | None = None
    columns: tuple[Columns, ...] = (FIRST,)
    language: int | str | None = None
    """The language that the tokens are in, or the column that says it of each example."""

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.template.bodies):
            raise BoughError(f"template: it holds {len(self.template.bodies)} texts, and {len(self.columns)} are given")
        if self.limit:
            check(self.limit)
            self.limit.room(self.template.length, len(self.columns))

    @classmethod
    def of(cls, tokenizer: Tokenizer, limit: Limit | int | None = None, pair: bool = False) -> Wrap:
        """As this tokenizer wraps; a number for the limit means truncate."""
        limit = Limit(limit) if isinstance(limit, int) else limit
        return cls(tokenizer.template(pair), limit, (FIRST, SECOND) if pair else (FIRST,))

    def length(self, lengths: Lengths) -> Numbers:
        """How many tokens each example takes."""
        return np.add.reduce(self._shares([lengths[ids] for ids, _ in self.columns])) + self.template.length

    def __call__(self, given: Given) -> Laid:
        """The sequences of these examples."""
        laid = self.around([given.body(*columns) for columns in self.columns], given.items)
        if self.language is None:
            return laid
        return dataclasses.replace(laid, languages=laid.runs.spread(given.each(self.language)))

    def around(self, bodies: Sequence[Body], items: Sequence[int]) -> Laid:
        """The sequences of these texts, one of each kind for each item."""
        lengths = [body.runs.lengths for body in bodies]
        if not self.limit:
            return _joined(self.template, bodies, len(items))
        if self.limit.policy == "error":
            self._check(np.add.reduce(lengths) + self.template.length, self.limit.length, items)
        shares = zip(bodies, self._shares(lengths), strict=True)
        return _joined(self.template, [cut(body, share, self.limit) for body, share in shares], len(items))

    def _shares(self, lengths: Sequence[Numbers]) -> Sequence[Numbers]:
        """How many tokens each text keeps, by the rule of Limit, for every example at once."""
        if not self.limit or self.limit.policy == "error":
            return lengths
        room = self.limit.length - self.template.length
        if len(lengths) == 1:
            return [np.minimum(lengths[0], room)]
        first, second = lengths
        less = np.minimum(np.minimum(first, second), room // 2)
        firsts = np.where(first > second, room - less, less)
        fits = first + second <= room
        return [np.where(fits, first, firsts), np.where(fits, second, room - firsts)]

    def _check(self, whole: Numbers, limit: int, items: Sequence[int]) -> None:
        if np.any(whole > limit):
            one = int(np.argmax(whole > limit))
            raise BoughError(
                f"item {items[one]}: has {whole[one]:,} tokens, special ones included, and the limit is {limit:,}; "
                "shorten it, or let the policy be truncate or head-tail"
            )


def check(limit: Limit) -> None:
    """Raise where a limit asks for what a batch of examples cannot give."""
    if limit.policy == "window":
        raise BoughError(
            "limit: the policy 'window' makes several sequences of one text, and a batch has one of each; cut texts "
            "into windows before they are stored, or let the policy be error, truncate or head-tail"
        )


def cut(body: Body, shares: Numbers, limit: Limit) -> Body:
    """Texts of which only so many tokens stay: the first, or as the policy may be the first and the last."""
    tails = shares // 2 if limit.policy == "head-tail" else np.zeros_like(shares)
    runs = body.runs
    head = runs.places < runs.spread(shares - tails)
    return body.only(head | (runs.places >= runs.spread(runs.lengths - tails)))


def _joined(template: Template, bodies: Sequence[Body], count: int) -> Laid:
    """Texts with special tokens around. Each sequence is made of parts: special tokens, a text, special tokens …"""
    lengths = np.empty((count, 2 * len(bodies) + 1), np.int64)
    lengths[:, ::2] = [len(part) for part in template.around]
    lengths[:, 1::2] = np.stack([body.runs.lengths for body in bodies], axis=1)
    parts = np.repeat(np.tile(np.arange(lengths.shape[1]), count), lengths.ravel())
    ids, segments, places = np.zeros((3, len(parts)), np.int64)
    starts = np.zeros(len(parts), np.bool_)
    for number, (around, numbers) in enumerate(zip(template.around, template.segments, strict=True)):
        here = parts == 2 * number
        ids[here], segments[here] = np.tile(around, count), np.tile(numbers, count)
    for number, body in enumerate(bodies):
        here = parts == 2 * number + 1
        ids[here], segments[here], places[here] = body.ids, template.bodies[number], body.places
        starts[here] = False if body.starts is None else body.starts
    told = all(body.starts is not None for body in bodies)
    texts = np.where(parts % 2, parts // 2, -1)
    return Laid(ids, Runs(lengths.sum(axis=1)), segments, texts, places, starts if told else None)
