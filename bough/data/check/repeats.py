"""Rows that say what another row says, or nearly: within a set, across sets, and with another label."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from bough.data.check.findings import Finding, Hits, Severity
from bough.data.check.kept import Kept, Numbered, digest
from bough.data.check.wanted import Wanted
from bough.data.near import Sketches, confirmed, fold

SLIGHT = 40
"""Letters. Lines of plain text that are shorter, such as headings, may well stand twice."""


class Repeats:
    """Finds them by hashes of folded texts and by sketches: some 150 bytes of each row."""

    def __init__(self, wanted: Wanted) -> None:
        self._most = wanted.places
        self._sketches = Sketches()
        self._texts, self._labels = array("Q"), array("Q")

    def read(self, rows: Sequence[Numbered]) -> None:
        """Keep a hash of each row's texts and of its label, and a sketch."""
        folded = [_folded(one) for one in rows]
        self._sketches.add(folded)
        self._texts.extend(map(digest, folded))
        self._labels.extend(digest(repr(one.row.values.get("label", ""))) for one in rows)

    def found(self, kept: Kept) -> list[Finding]:
        """Rows that stand in an earlier set too, or earlier in their own; labels that contradict; and near rows."""
        sets = kept.each()
        within, across = _Across(self._most, kept), _Across(self._most, kept)
        other_label = Hits(self._most)
        leaks = set[int]()
        for number, first in self._again():
            if sets[number] != sets[first]:
                leaks.add(number)
                across.add(number, first)
            if self._labels[number] != self._labels[first]:
                other_label.add(number, beside=first)
            elif sets[number] == sets[first]:
                within.add(number, first)
        near, nearly_across = _Across(self._most, kept), _Across(self._most, kept)
        for pair in confirmed(self._sketches, kept.text, sets=sets):
            if self._texts[pair.first] != self._texts[pair.second] and pair.second not in leaks:
                (near if sets[pair.first] == sets[pair.second] else nearly_across).add(pair.second, pair.first)
        return list(
            chain(
                across.told("error", "leak", "of {1} also in {0}"),
                nearly_across.told("warning", "near-leak", "of {1} nearly also in {0}"),
                other_label.rows("warning", "contradiction", "labelled otherwise than the same text before", kept),
                within.told("warning", "repeated", "of {1} repeating an earlier one"),
                near.told("note", "near", "of {1} nearly repeating an earlier one"),
            )
        )

    def _again(self) -> Iterator[tuple[int, int]]:
        """Each row whose text was there before, and the first row that had it."""
        texts = np.frombuffer(self._texts, np.uint64)
        _, firsts, inverse = np.unique(texts, return_index=True, return_inverse=True)
        first = firsts[inverse]
        again = np.flatnonzero((first != np.arange(len(texts))) & (texts != 0))
        return zip(again.tolist(), first[again].tolist(), strict=True)


class _Across:
    """Rows that are like an earlier one, by the sets that the two are of; a row counts once."""

    def __init__(self, most: int, kept: Kept) -> None:
        self._most, self._kept = most, kept
        self._hits: dict[tuple[int, int], Hits] = {}
        self._seen = set[int]()

    def add(self, number: int, first: int) -> None:
        if number not in self._seen:
            self._seen.add(number)
            sets = self._kept.part_of(first), self._kept.part_of(number)
            self._hits.setdefault(sets, Hits(self._most)).add(number, beside=first)

    def told(self, severity: Severity, kind: str, says: str) -> Iterator[Finding]:
        for sets, hits in sorted(self._hits.items(), key=lambda one: one[0]):
            yield from hits.rows(severity, kind, says.format(*(self._kept.sets[one] for one in sets)), self._kept)


def _folded(one: Numbered) -> str:
    """What a row says; nothing where that is too slight to count."""
    folded = fold(one.whole)
    return "" if len(folded) < SLIGHT and one.plain else folded
