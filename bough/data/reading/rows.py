"""What a source gives: rows, each with its place in a file; complaints of bad ones; and a count of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FIRST = 5
"""As many complaints as a tally keeps."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row starts: a file, and a line of it counted from one (of parquet and mo, a row)."""

    file: str
    row: int

    def __str__(self) -> str:
        return f"{self.file}:{self.row}"


@dataclass(frozen=True, slots=True)
class Row:
    """What stands at a place, by column."""

    place: Place
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the row at a place."""

    place: Place
    said: str
    remedy: str = "mend the row, or skip bad ones"

    def __str__(self) -> str:
        return f"{self.place}: {self.said}"


@dataclass(slots=True)
class Tally:
    """How many rows were read and how many were skipped, with what was wrong with the first of these."""

    rows: int = 0
    skipped: int = 0
    complaints: list[str] = field(default_factory=list[str])

    def skip(self, fault: Fault) -> None:
        """Count a row that was left out."""
        self.skipped += 1
        if len(self.complaints) < FIRST:
            self.complaints.append(str(fault))
