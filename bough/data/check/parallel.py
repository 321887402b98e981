"""Parallel text: sides that are empty or the same, lengths that do not fit, one target for many sources."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from bough.data.check.findings import Finding, Hits, excerpt
from bough.data.check.kept import Kept, Numbered, digest
from bough.data.check.wanted import Wanted
from bough.data.near import fold

SHORT = 20
"""Letters. Where neither side has so many, their lengths say little."""
FAR = 3.0
"""One side may be so many times as long, against the other, as is usual."""
MANY = 5
"""So many sources that are said alike are no accident."""


class Parallel:
    """The two sides of rows that have a source and a target: 28 bytes of each."""

    def __init__(self, wanted: Wanted) -> None:
        self._most = wanted.places
        self._same = Hits(wanted.places)
        self._numbers, self._sources, self._targets = array("Q"), array("Q"), array("Q")
        self._ratios = array("f")

    def read(self, rows: Sequence[Numbered]) -> None:
        """Compare the two sides of each."""
        for one in rows:
            texts = dict(one.texts)
            source, target = fold(texts.get("source", "")), fold(texts.get("target", ""))
            if not source or not target:
                continue
            if source == target and any(map(str.isalpha, source)):
                self._same.add(one.number)
            long = max(len(source), len(target)) >= SHORT
            self._numbers.append(one.number)
            self._ratios.append(len(target) / len(source) if long else float("nan"))
            self._sources.append(digest(source))
            self._targets.append(digest(target))

    def found(self, kept: Kept) -> list[Finding]:
        """What does not look like a translation."""
        same = self._same.rows("warning", "copied", "of which the target is the source", kept)
        return list(chain(same, self._far(kept), self._often(kept)))

    def _far(self, kept: Kept) -> Iterator[Finding]:
        """Rows of which one side is too long for the other."""
        ratios = np.log(np.array(self._ratios, np.float64))
        if np.isnan(ratios).all():
            return
        usual, hits = float(np.nanmedian(ratios)), Hits(self._most)
        for place in np.flatnonzero(np.abs(ratios - usual) > np.log(FAR)).tolist():
            number = self._numbers[place]
            hits.add(number, f"{np.exp(ratios[place]):.2g} times: {excerpt(kept.text(number))}")
        usually = f"it usually is {np.exp(usual):.2g} times as long as the source"
        yield from hits.rows("warning", "ratio", f"of which the target is far too short or too long: {usually}", kept)

    def _often(self, kept: Kept) -> Iterator[Finding]:
        """Targets that many sources have."""
        targets, sources = np.array(self._targets, np.uint64), np.array(self._sources, np.uint64)
        order = np.lexsort((sources, targets))
        new = np.ones(len(order), bool)
        new[1:] = (targets[order][1:] != targets[order][:-1]) | (sources[order][1:] != sources[order][:-1])
        distinct = order[new]
        _, firsts, counts = np.unique(targets[distinct], return_index=True, return_counts=True)
        hits = Hits(self._most)
        many = [
            (int(distinct[first]), int(count)) for first, count in zip(firsts, counts, strict=True) if count >= MANY
        ]
        for place, count in sorted(many):
            number = self._numbers[place]
            hits.add(number, f"{count} sources: {excerpt(kept.text(number).rpartition(chr(10))[2])}")
        noun = "target" if len(hits) == 1 else "targets"
        yield from hits.told("note", "same-target", f"{noun} of {MANY} different sources or more", kept)
