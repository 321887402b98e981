"""Rows that are odd in themselves: blank, punctuation alone, or with controls in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from bough.data.check.findings import Finding, Hits, excerpt
from bough.data.check.kept import Kept, Numbered
from bough.data.check.wanted import Wanted
from bough.data.near import fold

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]")
"""Controls other than tab and line end; and the byte order mark, which has no place inside a text."""


class Odd:
    """What a look at one row tells."""

    def __init__(self, wanted: Wanted) -> None:
        self._blank, self._marks, self._control = (Hits(wanted.places) for _ in range(3))

    def read(self, rows: Sequence[Numbered]) -> None:
        """Look at each text."""
        for one in rows:
            texts = [text for _, text in one.texts]
            if not all(map(str.strip, texts)):
                self._blank.add(one.number)
            if any(text.strip() and not any(map(str.isalnum, text)) and not fold(text) for text in texts):
                self._marks.add(one.number)
            if hit := CONTROL.search(one.whole):
                self._control.add(one.number, excerpt(one.whole, hit.start()))

    def found(self, kept: Kept) -> list[Finding]:
        """What there is of each."""
        return list(
            chain(
                self._blank.rows("warning", "blank", "without a text", kept),
                self._marks.rows("warning", "punctuation", "without a letter or a number", kept),
                self._control.rows("warning", "control", "with control characters", kept),
            )
        )
