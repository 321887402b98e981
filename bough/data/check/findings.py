"""What a check has found: what is said, how many rows it is said of, and where the first few of them stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from bough.data.check.kept import Kept
from bough.errors import one_line

Severity = Literal["error", "warning", "note"]
"""An error makes training fail or go wrong, a warning is likely not wanted, and a note is good to know."""
EXCERPT = 72
"""Letters of a text that are shown."""
BLANKS = re.compile("[ \t\r\n]+")


@dataclass(frozen=True, slots=True)
class Spot:
    """One of the places."""

    place: str
    """`file:row`"""
    beside: str | None
    """The place of the row that it is like."""
    shows: str
    """The beginning of its text, or what in it is meant."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is said of a corpus."""

    severity: Severity
    kind: str
    """What programs know it by."""
    says: str
    places: tuple[Spot, ...]
    """The first few."""
    count: int
    """How many there are."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A row of which something is said."""

    number: int
    shows: str | None = None
    """What is shown in place of its text."""
    beside: int | None = None


class Hits:
    """Rows of which one thing is said: how many, and the first few."""

    def __init__(self, most: int) -> None:
        self.count = 0
        self.first: list[Hit] = []
        self._most = most

    def __len__(self) -> int:
        """How many there are."""
        return self.count

    def add(self, number: int, shows: str | None = None, beside: int | None = None) -> None:
        """One more."""
        self.count += 1
        if len(self.first) < self._most:
            self.first.append(Hit(number, shows, beside))

    @classmethod
    def joined(cls, several: Iterable[Hits], most: int) -> Hits:
        """All of these as one, in the order of the rows."""
        found = cls(most)
        for hits in several:
            found.count += hits.count
            found.first += hits.first
        found.first = sorted(found.first, key=lambda hit: hit.number)[:most]
        return found

    def told(self, severity: Severity, kind: str, says: str, kept: Kept) -> Iterator[Finding]:
        """The finding, if there are any; `says` goes on behind the number of them."""
        if self.count:
            places = tuple(_spot(hit, kept) for hit in self.first)
            yield Finding(severity, kind, f"{self.count:,} {says}", places, self.count)

    def rows(self, severity: Severity, kind: str, says: str, kept: Kept) -> Iterator[Finding]:
        """The finding, said of rows: behind `2 rows`."""
        yield from self.told(severity, kind, f"{plural(self.count, 'row')} {says}", kept)


def plural(count: int, noun: str, several: str | None = None) -> str:
    """A noun as it stands behind a count; `several`, where that is not it with an s."""
    return noun if count == 1 else several or f"{noun}s"


def _spot(hit: Hit, kept: Kept) -> Spot:
    beside = None if hit.beside is None else str(kept.place(hit.beside))
    return Spot(str(kept.place(hit.number)), beside, excerpt(kept.text(hit.number)) if hit.shows is None else hit.shows)


def excerpt(text: str, around: int = 0) -> str:
    """A text on one short line: its beginning, or what stands around a place in it."""
    start = max(0, around - EXCERPT // 2)
    part = one_line(BLANKS.sub(" ", text[start : start + 2 * EXCERPT])).strip()
    return ("…" if start else "") + (part[: EXCERPT - 1] + "…" if len(part) > EXCERPT else part)
