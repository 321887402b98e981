"""What a run of benchmarks found, as records: written as JSON, read back and checked, shown by `show` and `plot`."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from bough.errors import FieldError
from bough.record import Range, Record

Positive: TypeAlias = Annotated[float, Range(1e-15, 1e18)]
Count: TypeAlias = Annotated[int, Range(1, 2**40)]


@dataclass(frozen=True)
class Limits(Record):
    """The most that the device was seen to do, measured in the same run."""

    fp32: Positive
    """GFLOP/s of a large matrix product."""
    bf16: Positive
    memory: Positive
    """GB/s of a large copy, read and written."""


@dataclass(frozen=True)
class Version(Record):
    """One package that took part."""

    package: str
    version: str


@dataclass(frozen=True)
class Machine(Record):
    """Where it was measured."""

    processor: str
    device: str
    """What the nets ran on; the processor itself, or the name of a GPU."""
    cores: Count
    threads: Count
    """How many of the cores torch used."""
    flags: tuple[str, ...]
    """The processor's instructions for matrices and narrow numbers."""
    limits: Limits
    versions: tuple[Version, ...]


@dataclass(frozen=True)
class Agreement(Record):
    """How far answers lie from those they are compared with."""

    error: Annotated[float, Range(0, 1e300)]
    """The largest difference of two numbers."""
    cosine: Annotated[float, Range(-1, 1)]
    """The least cosine of two vectors."""

    @property
    def same(self) -> bool:
        """Whether the two did the same work, as far as the narrowest precision can tell."""
        return self.cosine >= 0.99

    @property
    def equal(self) -> bool:
        """Whether the two computed the same numbers, but for the order in which fp32 rounds them."""
        return self.error <= 1e-3


@dataclass(frozen=True)
class Ratio(Record):
    """How many times as fast as another one was, round by round."""

    median: Positive
    low: Positive
    high: Positive


@dataclass(frozen=True)
class Row(Record):
    """One tool in one case."""

    case: str
    runner: str
    seconds: tuple[Positive, ...]
    """What each round took."""
    speed: Positive
    """Units in a second, by the median round."""
    ratio: Ratio | None
    """How many times as fast ours is; None for ours."""
    agreement: Agreement | None
    """None for the row that the others are compared with."""
    note: str


@dataclass(frozen=True)
class Missing(Record):
    """A peer that is not installed, and what it would have shown."""

    package: str
    runners: tuple[str, ...]


@dataclass(frozen=True)
class Outcome(Record):
    """One work, measured."""

    work: str
    says: str
    unit: str
    amount: Count
    repeats: Count
    rows: tuple[Row, ...]
    missing: tuple[Missing, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.rows:
            raise FieldError("rows", "there must be at least one")

    @property
    def cases(self) -> dict[str, list[Row]]:
        """The rows of each case, in order; ours first."""
        return {
            name: [row for row in self.rows if row.case == name] for name in dict.fromkeys(r.case for r in self.rows)
        }


@dataclass(frozen=True)
class Growth(Record):
    """How something grows with length: as this power of it, by least squares in logarithms."""

    of: str
    low: Count
    """The least of the lengths that were fitted."""
    high: Count
    power: Annotated[float, Range(-100, 100)]


@dataclass(frozen=True)
class Point(Record):
    """One way of doing a work, at one length."""

    length: Count
    tokens: Count
    """How many are read, or scored, in each round."""
    seconds: tuple[Positive, ...]
    """What each round took."""
    attention: tuple[Positive, ...]
    """How much of that was attention, where it is told apart."""
    pairs: Count | None
    """How many times a token sees another, where that is what decides."""
    memory: Annotated[int, Range(0, 2**60)] | None
    """The most bytes held at once, beyond what was held before; None where nobody asked."""
    ratio: Ratio | None
    """How many times as fast as the first way; None for that one."""

    @property
    def speed(self) -> float:
        """Tokens in a second, by the median round."""
        return self.tokens / statistics.median(self.seconds)


@dataclass(frozen=True)
class Line(Record):
    """One way of doing a work, at all lengths."""

    way: str
    points: tuple[Point, ...]
    growth: tuple[Growth, ...]
    agreement: Agreement | None
    """With what its answers have to be, at the worst length; None where there is nothing to compare."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.points:
            raise FieldError("points", "there must be at least one")


@dataclass(frozen=True)
class Curves(Record):
    """One thing done in several ways at ever greater lengths, measured."""

    work: str
    says: str
    along: str
    """What length counts."""
    repeats: Count
    lines: tuple[Line, ...]
    """All have the same lengths. The others are measured against the first."""
    notes: tuple[str, ...]
    """What a reader should know of what was measured."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lines:
            raise FieldError("lines", "there must be at least one")
        for number, line in enumerate(self.lines):
            if tuple(point.length for point in line.points) != self.lengths:
                raise FieldError(f"lines[{number}].points", "must be at the lengths of the first line")

    @property
    def lengths(self) -> tuple[int, ...]:
        """Where it was measured."""
        return tuple(point.length for point in self.lines[0].points)


@dataclass(frozen=True)
class Document(Record):
    """One run, whole."""

    bough: str
    """The version."""
    machine: Machine
    works: tuple[Outcome | Curves, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.works:
            raise FieldError("works", "there must be at least one")
