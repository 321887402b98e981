"""Documents: those of a few words, and lines that stand in so many of them that they are of none."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from bough.data.check.findings import Finding, Hits, excerpt
from bough.data.check.kept import Kept, Numbered, digest
from bough.data.check.wanted import Wanted

FEW = 10
"""Words. A document of fewer is hardly one."""
LINE = 20
"""Letters. Shorter lines may be alike by chance."""
OFTEN, SHARE = 10, 0.01
"""In so many documents, and in so large a share of them, a line is likely a header, a notice or a menu."""


class Documents:
    """Texts of several lines, if most have several: 12 bytes of each line."""

    def __init__(self, wanted: Wanted) -> None:
        self._most = wanted.places
        self._few = Hits(wanted.places)
        self._lines, self._numbers = array("Q"), array("Q")
        self._texts = self._documents = 0

    def read(self, rows: Sequence[Numbered]) -> None:
        """Keep a hash of each of their lines."""
        for one in rows:
            if not one.plain:
                continue
            text = one.whole
            self._texts += 1
            self._documents += "\n" in text
            if len(text.split()) < FEW:
                self._few.add(one.number)
            lines = {line.strip() for line in text.split("\n")} if "\n" in text else set[str]()
            kept = [line for line in lines if len(line) >= LINE]
            self._lines.extend(map(digest, kept))
            self._numbers.extend([one.number] * len(kept))

    def found(self, kept: Kept) -> list[Finding]:
        """What is wrong with documents, where texts are such."""
        if 2 * self._documents <= self._texts:
            return []
        few = self._few.rows("note", "short", f"of fewer than {FEW} words, though they are documents", kept)
        return [*few, *self._repeated(kept)]

    def _repeated(self, kept: Kept) -> Iterator[Finding]:
        """Lines that many documents have."""
        lines = np.array(self._lines, np.uint64)
        _, firsts, counts = np.unique(lines, return_index=True, return_counts=True)
        hits = Hits(self._most)
        for place in np.argsort(firsts)[counts[np.argsort(firsts)] >= max(OFTEN, SHARE * self._documents)].tolist():
            first = int(firsts[place])
            number = self._numbers[first]
            several = map(str.strip, kept.text(number).split("\n"))
            line = next(line for line in several if digest(line) == self._lines[first])
            hits.add(number, f"in {counts[place]:,} documents: {excerpt(line)}")
        noun = "line" if len(hits) == 1 else "lines"
        yield from hits.told("warning", "boilerplate", f"{noun} that many documents have", kept)
