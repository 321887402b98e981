"""Pairs of stretches of documents: does the second follow the first (BERT), or do both stand in order (ALBERT)?

Documents are cut into stretches once, at ends of rows wherever there are some. Where a stretch is cut in two, and what
becomes of its parts, is drawn anew in every epoch. None of it needs a token to be read.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from bough.data.draw import Draw
from bough.data.feeding.batch import Example, Lengths
from bough.data.goals.chance import Purpose
from bough.data.goals.runs import Numbers, Runs, Uniform
from bough.data.storing.store import Store
from bough.errors import BoughError

Span = tuple[Numbers, Numbers]
"""Where in the store texts begin and end."""


class Plan(NamedTuple):
    """What pairs are made of."""

    first: Span
    second: Span
    labels: Numbers


class Stretches(NamedTuple):
    """The stretches that pairs are made of, in order, by the rows they are made of."""

    bounds: Numbers
    """Where each row begins in the store, and each part of one that is too long; and where the last one ends."""
    firsts: Numbers
    """With which of those each stretch begins."""
    lasts: Numbers
    """Before which of those it ends."""
    ends: Numbers
    """Before which of those its document ends."""
    alike: Runs
    """The stretches of each document."""


@dataclass(frozen=True)
class SentencePairs:
    """The stretches of a store's documents, each an item; of those with fewer than two tokens there is no pair.

    `next`: the second part follows the first in its document, or as often is of another document. `order`: the parts
    stand in order, or as often the other way round. The column `pair` is 0 for the former and 1 for the latter, as
    published checkpoints have it.
    """

    store: Store
    length: int
    """How many tokens a pair has at most, beside special ones."""
    asks: Literal["next", "order"] = "next"
    seed: int = 0
    lanes = None

    def __post_init__(self) -> None:
        if self.length < 2:
            raise BoughError(f"length: {self.length} tokens hold no pair; give 2 or more")
        if not len(self):
            raise BoughError("pairs: no document has two tokens, so there is nothing to pair; give longer texts")
        if self.asks == "next" and len(self.stretches.alike.lengths) < 2:
            raise BoughError(
                "pairs: there is one document, and what does not follow comes from another; separate documents by "
                "blank lines, or ask for the order"
            )

    def __len__(self) -> int:
        return len(self.stretches.firsts)

    @property
    def made_of(self) -> Mapping[str, Any]:
        """The fingerprints of the store, and what pairs are made of it."""
        return {**self.store.about.get("fingerprints", {}), "pairs": [self.asks, self.length, self.seed]}

    def lengths(self, numbers: Numbers, epoch: int) -> Lengths:
        """How many tokens the texts of these pairs have."""
        (first, cut), (second, end), _ = self.plan(numbers, epoch)
        return {"ids": cut - first, "ids_pair": end - second}

    def get(self, number: int, epoch: int) -> Example:
        """A pair."""
        plan = self.plan(np.array([number]), epoch)
        found: dict[str, Any] = {"pair": int(plan.labels[0])}
        for name in ("ids", "starts"):
            if name in self.store.ragged:
                for suffix, (begin, end) in (("", plan.first), ("_pair", plan.second)):
                    found[name + suffix] = self.store.ragged[name].flat[int(begin[0]) : int(end[0])]
        return found

    def plan(self, numbers: Numbers, epoch: int) -> Plan:
        """What these pairs are made of."""
        drawn = Draw(self.seed).uniform(Purpose.PAIR, numbers, 3 * epoch + np.arange(3)[:, None])
        begin, cut, end = self._parts(numbers, drawn[0])
        labels = (2 * drawn[1]).astype(np.int64)
        ahead, behind = (begin, cut), (cut, end)
        if self.asks == "order":
            return Plan(_chosen(labels, ahead, behind), _chosen(labels, behind, ahead), labels)
        other = self._other(numbers, drawn[2], self.length - (cut - begin))
        return Plan(ahead, _chosen(labels, behind, other), labels)

    @functools.cached_property
    def stretches(self) -> Stretches:
        """The stretches of all documents."""
        bounds, documents = self._rows()
        rows = Runs.of_equals(documents)
        ends = rows.spread(rows.bounds[1:])
        behind = np.minimum(bounds.searchsorted(bounds[:-1] + self.length, "right") - 1, ends)
        chain = [0]
        while chain[-1] < len(documents):
            chain.append(int(behind[chain[-1]]))
        firsts, lasts = np.array(chain[:-1], np.int64), np.array(chain[1:], np.int64)
        long = bounds[lasts] - bounds[firsts] > 1
        firsts, lasts = firsts[long], lasts[long]
        return Stretches(bounds, firsts, lasts, ends[firsts], Runs.of_equals(documents[firsts]))

    def _rows(self) -> tuple[Numbers, Numbers]:
        """Where each row begins, or a part of one too long, and where the last ends; and the document of each."""
        ids = self.store.ragged["ids"]
        documents = self.store.plain.get("document", np.arange(len(ids))).astype(np.int64)
        parts = Runs(-(-ids.lengths // self.length))
        begins = parts.spread(ids.bounds[:-1].astype(np.int64)) + parts.places * self.length
        return np.append(begins, len(ids.flat)), parts.spread(documents)

    def _parts(self, numbers: Numbers, drawn: Uniform) -> tuple[Numbers, Numbers, Numbers]:
        """Where these stretches begin, are cut in two, and end: cut between rows, or anywhere in the only one."""
        bounds, firsts, lasts, *_ = self.stretches
        first, last = firsts[numbers], lasts[numbers]
        begin, end = bounds[first], bounds[last]
        row = first + 1 + (drawn * (last - first - 1)).astype(np.int64)
        inside = begin + 1 + (drawn * (end - begin - 1)).astype(np.int64)
        return begin, np.where(last - first > 1, bounds[row], inside), end

    def _other(self, numbers: Numbers, drawn: Uniform, room: Numbers) -> Span:
        """As many rows of another document as there is room for, from the start of a stretch on; or a part of one."""
        bounds, firsts, _, ends, alike = self.stretches
        mine = alike.owners[numbers]
        other = (drawn * (alike.total - alike.lengths[mine])).astype(np.int64)
        other += np.where(other >= alike.starts[mine], alike.lengths[mine], 0)
        begin = bounds[firsts[other]]
        last = bounds[np.minimum(bounds.searchsorted(begin + room, "right") - 1, ends[other])]
        return begin, np.where(last > begin, last, begin + room)


def _chosen(labels: Numbers, where_0: Span, where_1: Span) -> Span:
    """The one or the other, by label."""
    return np.where(labels, where_1[0], where_0[0]), np.where(labels, where_1[1], where_0[1])
