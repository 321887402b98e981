"""The check itself: every row of every set is read once, and each group of checks says what it found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from bough.data.check.classes import Classes, ClassFacts
from bough.data.check.documents import Documents
from bough.data.check.encoding import Damage
from bough.data.check.findings import Finding, Spot, plural
from bough.data.check.kept import Kept, Numbered
from bough.data.check.mixture import Mixture
from bough.data.check.odd import Odd
from bough.data.check.parallel import Parallel
from bough.data.check.repeats import Repeats
from bough.data.check.size import EpochFacts, Lengths, Size
from bough.data.check.vocabulary import SideFacts, Vocabulary
from bough.data.check.wanted import Check, Wanted
from bough.data.reading.columns import TEXTS, Part
from bough.data.reading.rows import Fault, Tally
from bough.data.reading.source import Source
from bough.data.recipe import NEEDS
from bough.errors import BoughError

ROWS, LETTERS = 256, 2**22
"""So many rows are looked at together, and few more letters."""
BINS = 16
"""At most, of the sketch of lengths."""
LONGEST = 5
"""As many of the longest rows are named."""
ORDER = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class SetFacts:
    """One of the sets."""

    name: str
    files: tuple[str, ...]
    rows: int
    skipped: int
    length: int
    """All rows' lengths together."""
    mean: float
    median: int
    p99: int
    """99% of the rows are no longer than this."""
    longest: int
    sketch: tuple[int, ...]
    """How many rows are how long, in even steps up to what 99% of all sets' rows are at most."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that a check has to say."""

    sets: tuple[SetFacts, ...]
    unit: str
    """What lengths count: words or tokens."""
    longest: tuple[tuple[str, int], ...]
    classes: tuple[ClassFacts, ...]
    mixture: Mapping[str, Mapping[str, Mapping[str, float]]]
    """For each side the shares of its scripts, and of the languages that were plain to see."""
    vocabulary: tuple[SideFacts, ...]
    epoch: EpochFacts | None
    findings: tuple[Finding, ...]
    """Errors first, then warnings, then notes."""

    def count(self, severity: str) -> int:
        """How many findings of this severity there are."""
        return sum(one.severity == severity for one in self.findings)


class _Unread(Tally):
    """A tally that keeps where the rows stand that cannot be read."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.spots: list[Spot] = []
        self._most = most

    def skip(self, fault: Fault) -> None:
        """Count a row that was left out, and keep its place if it is one of the first."""
        super().skip(fault)
        if len(self.spots) < self._most:
            self.spots.append(Spot(str(fault.place), None, fault.said))


class _Reading:
    """The sets, read one after the other."""

    def __init__(self, sources: Mapping[str, Source], wanted: Wanted, kept: Kept) -> None:
        self._sources, self._wanted, self.kept = sources, wanted, kept
        self.skipped: dict[str, int] = {}
        self.findings: list[Finding] = []

    def batches(self) -> Iterator[list[Numbered]]:
        """The rows of all sets, some at a time."""
        for name, source in self._sources.items():
            self.kept.begin(name)
            rows = self._rows(name, source)
            while some := list(_together(rows)):
                self.kept.add(some)
                yield some

    def _rows(self, name: str, source: Source) -> Iterator[Numbered]:
        """The rows of a set that can be read; of the others, a finding."""
        unread = _Unread(self._wanted.places)
        # Blank lines stand between the documents of plain text, and are no rows of it.
        plain = source.per == "line" and all(file.format == "txt" for file in source.files())
        task = self._wanted.task
        need: list[Part] = [part for part in NEEDS.get(task, ()) if part != "label"] if task else []
        number, which = len(self.kept), len(self.kept.sets) - 1
        try:
            for row in source.but(skip_bad=True).rows(unread, need):
                texts = tuple((part, row.values[part]) for part in TEXTS if part in row.values)
                if not plain or texts[0][1].strip():
                    yield Numbered(number, which, row, texts)
                    number += 1
        except BoughError as error:
            if error.exit_code != BoughError.exit_code:
                raise
            self._say("unreadable", f"{name} cannot be read: {error}", unread.spots)
        self.skipped[name] = unread.skipped
        if unread.rows and number == self.kept.starts[-1]:
            self._say("empty", f"{name} holds no text", ())
        if unread.skipped and unread.rows:
            severity = "warning" if source.skip_bad else "error"
            says = f"{unread.skipped:,} {plural(unread.skipped, 'row')} of {name} that cannot be read"
            self.findings.append(Finding(severity, "bad-row", says, tuple(unread.spots), unread.skipped))

    def _say(self, kind: str, says: str, spots: Sequence[Spot]) -> None:
        self.findings.append(Finding("error", kind, says, tuple(spots), max(1, len(spots))))


def check(sources: Mapping[str, Source], wanted: Wanted) -> Report:
    """Look at every row of every set; the first set is what is trained on.

    Texts wait in a temporary file, and of each row less than 500 bytes are held, however long it is.
    """
    for source in sources.values():
        source.files()  # what is not there at all is told at once
    if wanted.tokenizer and wanted.limit:
        wanted.limit.room(wanted.tokenizer.template().length, 1)
    with Kept() as kept:
        return _checked(sources, wanted, kept)


def _checked(sources: Mapping[str, Source], wanted: Wanted, kept: Kept) -> Report:
    vocabulary = Vocabulary(wanted, wanted.tokenizer) if wanted.tokenizer else None
    size, classes, mixture = Size(wanted, vocabulary), Classes(wanted), Mixture(wanted)
    checks: list[Check] = [
        *(classes, Repeats(wanted), Odd(wanted), Damage(wanted), mixture),
        *(Parallel(wanted), Documents(wanted), size),
    ]
    reading = _Reading(sources, wanted, kept)
    for rows in reading.batches():
        for one in checks:
            one.read(rows)
    findings = chain(reading.findings, *(one.found(kept) for one in checks))
    return Report(
        sets=tuple(_sets(sources, reading, size.lengths)),
        unit=size.unit,
        longest=tuple(size.longest(kept, LONGEST)),
        classes=tuple(classes.classes(kept)),
        mixture=mixture.shares(),
        vocabulary=tuple(vocabulary.facts()) if vocabulary else (),
        epoch=size.epoch(kept),
        findings=tuple(sorted(findings, key=lambda one: ORDER[one.severity])),
    )


def _together(rows: Iterator[Numbered]) -> Iterator[Numbered]:
    """As many of the next rows as are looked at together."""
    letters = 0
    for one in islice(rows, ROWS):
        yield one
        letters += len(one.whole)
        if letters > LETTERS:
            return


def _sets(sources: Mapping[str, Source], reading: _Reading, lengths: Lengths) -> Iterator[SetFacts]:
    """What there is to know of each set."""
    kept = reading.kept
    top = _at(lengths, 0.99)
    edges = np.linspace(0, top + 1, min(BINS, top + 1) + 1)
    for (name, source), start, end in zip(sources.items(), kept.starts, kept.ends, strict=True):
        own = lengths[start:end]
        sketch, _ = np.histogram(np.minimum(own, top), edges)
        yield SetFacts(
            name=name,
            files=tuple(file.name for file in source.files()),
            rows=len(own),
            skipped=reading.skipped[name],
            length=int(own.sum()),
            mean=float(own.mean()) if len(own) else 0.0,
            median=_at(own, 0.5),
            p99=_at(own, 0.99),
            longest=int(own.max()) if len(own) else 0,
            sketch=tuple(sketch.tolist()),
        )


def _at(lengths: Lengths, share: float) -> int:
    """The length that so large a share of the rows does not pass."""
    return int(np.quantile(lengths, share, method="higher")) if len(lengths) else 0
