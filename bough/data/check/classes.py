"""Labels: missing, unknown, spelled in two ways, found once; how many each class has, and what the commonest scores."""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from bough.data.check.findings import Finding, Hits, plural
from bough.data.check.kept import Kept, Numbered
from bough.data.check.wanted import Wanted
from bough.data.reading.labels import MOST, WHOLE, Labels
from bough.errors import BoughError
from bough.record import FEW, brief, nearest

RARE = 50
"""A label that another one, spelled nearly like it, has so many times as often may be a slip."""
COMPARED = 500
"""Names at most that are compared with one another."""
MAJORITY = 0.9
"""From this share on, a class is so large that saying nothing else is hard to beat."""


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """One of the classes."""

    name: str
    counts: tuple[int, ...]
    """How often each set has it."""


class Classes:
    """The labels of all rows, by name and set."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._labels = Labels(kind="several", separator=wanted.separator)
        self._missing, self._odd, self._words, self._no_number = (Hits(wanted.places) for _ in range(4))
        self._seen: defaultdict[str, dict[int, Hits]] = defaultdict(dict)
        self._many = False
        self._numbers = self._fractions = 0

    def read(self, rows: Sequence[Numbered]) -> None:
        """Take in the labels of rows."""
        for one in rows:
            label = one.row.values.get("label")
            if label is None or (isinstance(label, str) and not label.strip()):
                self._missing.add(one.number)
                continue
            try:
                names = self._labels.names_of(one.row)
            except BoughError as error:
                self._odd.add(one.number, str(error).removeprefix(f"{one.row.place}: "))
                continue
            if self._wanted.task == "tag" and len(names) != len(one.whole.split()):
                self._words.add(one.number, f"{len(names)} labels for {len(one.whole.split())} words")
            for name in names:
                self._take(one, name)

    def _take(self, one: Numbered, name: str) -> None:
        """One label of a row."""
        if _is_number(name):
            self._numbers += 1
            self._fractions += not WHOLE.fullmatch(name)
        else:
            self._no_number.add(one.number, brief(name))
        if name in self._seen or len(self._seen) < MOST:
            hits = self._seen[name].setdefault(one.part_of, Hits(self._wanted.places))
            hits.add(one.number, brief(name))
        else:
            self._many = True

    @property
    def values(self) -> bool:
        """Whether the labels are numbers to predict, and no names."""
        if self._wanted.task == "regress":
            return True
        return not self._wanted.labels and bool(self._fractions) and self._numbers > 9 * len(self._no_number)

    def classes(self, kept: Kept) -> list[ClassFacts]:
        """What classes there are, the commonest first; none where labels are no names."""
        if self.values:
            return []
        sets = range(len(kept.sets))
        found = [ClassFacts(name, tuple(len(by.get(one, ())) for one in sets)) for name, by in self._seen.items()]
        return sorted(found, key=lambda one: (*(-count for count in one.counts), one.name))

    def found(self, kept: Kept) -> list[Finding]:
        """What is wrong with labels."""
        return list(self._found(kept))

    def _found(self, kept: Kept) -> Iterator[Finding]:
        if not self._seen and not self._odd:
            return
        yield from self._missing.rows("error", "label-missing", "without a label", kept)
        yield from self._odd.rows("error", "label-odd", "with a label that is none", kept)
        yield from self._words.rows("error", "label-words", "of which not each word has a label", kept)
        if self.values:
            yield from self._no_number.rows("error", "label-number", "labelled with what is no number", kept)
            return
        if self._many:
            says = f"there are more than {MOST:,} different labels; is this the column that holds them?"
            yield Finding("error", "label-many", says, (), MOST)
            return
        yield from self._spelled_otherwise(kept)
        yield from self._unknown(kept)
        yield from self._rare(kept)
        yield from self._uneven(kept)

    def _spelled_otherwise(self, kept: Kept) -> Iterator[Finding]:
        """Labels that are one but for case, blanks and how Unicode spells a letter."""
        right = self._respelled()
        yield from self._each("label-spelling", list(right), lambda name: f"which should be {brief(right[name])}", kept)

    def _respelled(self) -> dict[str, str]:
        """For each name that is spelled in several ways but for the commonest way: that one."""
        ways: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._seen:
            ways[" ".join(unicodedata.normalize("NFKC", name).casefold().split())].append(name)
        found: dict[str, str] = {}
        for names in ways.values():
            right = max(names, key=lambda name: (name in self._wanted.labels, len(self._all([name]))))
            found |= {name: right for name in names if name != right}
        return found

    def _unknown(self, kept: Kept) -> Iterator[Finding]:
        """Labels that are not among those given, or that the first set does not have."""
        given, respelled = self._wanted.labels, self._respelled()
        known = given or tuple(name for name, by in self._seen.items() if 0 in by and name not in respelled)
        right = {*known, *respelled}
        by_number = bool(given) and not all(map(WHOLE.fullmatch, given))
        right |= {name for name in self._seen if by_number and WHOLE.fullmatch(name) and 0 <= int(name) < len(given)}
        there = ", ".join(map(brief, known[:FEW])) + (", …" if len(known) > FEW else "")

        def why(name: str) -> str:
            if by_number and WHOLE.fullmatch(name):
                return f"which is out of range; the numbers of the labels are 0 to {len(given) - 1}"
            where = "given" if given else f"in {kept.sets[0]}"
            return f"which is none of those {where}{nearest(name, list(known)) or f': {there}'}"

        yield from self._each("label-unknown", [name for name in self._seen if name not in right], why, kept)

    def _rare(self, kept: Kept) -> Iterator[Finding]:
        """Labels of the first set that are there once, or that are likely a slip."""
        once, counts = Hits(self._wanted.places), {name: len(by[0]) for name, by in self._seen.items() if 0 in by}
        right = {*self._respelled(), *self._wanted.labels}
        for name in [name for name in counts if name not in right]:
            meant = _meant(name, counts) if len(counts) <= COMPARED else None
            if meant is not None:
                says = f"{plural(counts[name], 'label')} {brief(name)}; did you mean {brief(meant)}?"
                yield from self._seen[name][0].told("warning", "label-slip", says, kept)
            elif counts[name] == 1 and len(counts) > 1:
                once.add(self._seen[name][0].first[0].number, brief(name))
        says = f"{plural(len(once), 'label')} found once in {kept.sets[0]}"
        yield from once.told("warning", "label-once", says, kept)

    def _uneven(self, kept: Kept) -> Iterator[Finding]:
        """A class that is nearly all, or only one."""
        classes = self.classes(kept)
        total = sum(one.counts[0] for one in classes)
        if total and len(classes) == 1:
            says = f"there is one label, {brief(classes[0].name)}, so that there is nothing to learn"
            yield Finding("error", "label-single", says, (), total)
        elif total and classes[0].counts[0] >= MAJORITY * total:
            share = classes[0].counts[0] / total
            says = f"{brief(classes[0].name)} is {share:.1%} of {kept.sets[0]}: saying so always is right as often"
            yield Finding("warning", "label-majority", says, (), classes[0].counts[0])

    def _each(self, kind: str, names: list[str], why: Callable[[str], str], kept: Kept) -> Iterator[Finding]:
        """An error for each of a few names; for many names, one."""
        for name in names if len(names) <= FEW else ():
            hits = self._all([name])
            yield from hits.told("error", kind, f"{plural(len(hits), 'label')} {brief(name)}, {why(name)}", kept)
        if len(names) > FEW:
            says = f"labels of {len(names):,} names; the first is {brief(names[0])}, {why(names[0])}"
            yield from self._all(names).told("error", kind, says, kept)

    def _all(self, names: Iterable[str]) -> Hits:
        """Where these labels are, in all sets."""
        return Hits.joined((hits for name in names for hits in self._seen[name].values()), self._wanted.places)


def _meant(name: str, counts: Mapping[str, int]) -> str | None:
    """A label that is far commoner than this one and spelled nearly the same, but not for its digits alone."""
    common = [other for other in counts if counts[other] >= RARE * counts[name] and _letters(other) != _letters(name)]
    return next(iter(get_close_matches(name, common, n=1, cutoff=0.75)), None)


def _letters(name: str) -> str:
    return "".join(letter for letter in name if not letter.isdigit())


def _is_number(name: str) -> bool:
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False
