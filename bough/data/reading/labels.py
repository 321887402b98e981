"""What rows are labelled with: names inferred from the labels or given, kept in order, counted; or plain numbers.

A label is a name, a whole number, true or false: one class. A list of these, or text cut at a separator, is several
classes at once; a list as long as its text has words, in every row, marks the words. Where all labels are numbers, and
one is spelled as a fraction, they are values to predict. Names are kept in sorted order, whole numbers by their size.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast

from bough.data.reading.rows import Row, Tally
from bough.data.reading.source import Source
from bough.errors import BoughError, FieldError
from bough.record import FEW, Record, brief, nearest

Kind = Literal["one", "several", "words", "value"]
MOST = 10_000
"""So many names at most; where there are more, the column is no label."""
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True)
class Labels(Record):
    """The names of the classes, whose places are their numbers, and how a row says which it is of."""

    names: tuple[str, ...] = ()
    kind: Kind = "one"
    separator: str | None = None
    counts: tuple[int, ...] = field(default=(), compare=False)
    """How often each name was given, where that was counted."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self._places) < len(self.names):
            twice = next(name for i, name in enumerate(self.names) if self._places[name] != i)
            raise FieldError("names", f"{brief(twice)} stands twice; name each label once")

    @classmethod
    def of(
        cls,
        source: Source,
        names: Sequence[str] = (),
        kind: Kind | None = None,
        separator: str | None = None,
        tally: Tally | None = None,
    ) -> Labels:
        """The labels of every row of a source, counted; what is given is not inferred, and is held to."""
        # Several may be one, so that nothing is said too early of rows whose kind is not known.
        held = cls(tuple(names), kind or "several", separator)
        seen = _Seen(held)
        for row in source.rows(tally, need=("label",)):
            seen.add(row)
        found = held.but(kind=kind or seen.kind)
        if found.kind == "value":
            return found
        found = found.but(names=found.names or _sorted(seen.counts))
        if not found.names:
            raise BoughError(f"{', '.join(source.paths)}: no row has a label; label some")
        return found.but(counts=tuple(seen.counts[name] for name in found.names))

    def number(self, row: Row) -> int:
        """The number of the row's one class."""
        return self._number(row, self.items(row)[0])

    def numbers(self, row: Row) -> list[int]:
        """The numbers of the row's classes, each once and in order; or those of its words, a number for each."""
        found = [self._number(row, item) for item in self.items(row)]
        return found if self.kind == "words" else sorted(set(found))

    def value(self, row: Row) -> float:
        """The number that the row is labelled with."""
        found = _value(row.values["label"])
        if found is None:
            raise BoughError(f"{row.place}: the label must be a number, not {brief(row.values['label'])}")
        return found

    def names_of(self, row: Row) -> list[str]:
        """The names of the row's labels, one by one; those that are there, where names were given or inferred."""
        if not self.names:
            return [_name(row, item) for item in self.items(row)]
        return [self.names[self._number(row, item)] for item in self.items(row)]

    def items(self, row: Row) -> list[Any]:
        """The row's labels, one by one, as they stand."""
        label = row.values["label"]
        if self.kind == "one" and isinstance(label, list):
            raise BoughError(f"{row.place}: the label must be one, not {brief(label)}")
        if self.kind != "one" and self.separator is not None and isinstance(label, str):
            label = [item.strip() for item in label.split(self.separator)] if label.strip() else []
        found = cast("list[Any]", label) if isinstance(label, list) else [label]
        if self.kind == "words" and len(found) != _words(row):
            raise BoughError(f"{row.place}: {len(found)} labels for {_words(row)} words; give each word one")
        return found

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def _number(self, row: Row, label: Any) -> int:
        name = _name(row, label)
        if name in self._places:
            return self._places[name]
        if WHOLE.fullmatch(name) and not all(WHOLE.fullmatch(one) for one in self.names):
            if 0 <= int(name) < len(self.names):
                return int(name)
            last = len(self.names) - 1
            raise BoughError(f"{row.place}: label {name} is out of range; the numbers of the labels are 0 to {last}")
        there = ", ".join(map(brief, self.names[:FEW])) + (", …" if len(self.names) > FEW else "")
        hint = nearest(name, list(self.names)) or f"; there are {there}"
        raise BoughError(f"{row.place}: there is no label {brief(name)}{hint}")


class _Seen:
    """What the labels of the rows so far were like."""

    def __init__(self, held: Labels) -> None:
        self.held = held
        self.counts: Counter[str] = Counter()
        self.lists = self.single = 0
        self.marks = self.numbers = True
        self.broken = False

    @property
    def kind(self) -> Kind:
        """What the labels are, where that was not said."""
        if self.lists:
            return "words" if self.marks and self.held.separator is None else "several"
        return "value" if self.values else "one"

    @property
    def values(self) -> bool:
        return self.numbers and self.broken and not self.held.names

    def add(self, row: Row) -> None:
        """Take in the labels of a row."""
        if self.held.kind == "value":
            self.held.value(row)
            return
        names = self.held.names_of(row)
        several = self.held.separator is not None or isinstance(row.values["label"], list)
        self.lists, self.single = self.lists + several, self.single + (not several)
        if self.lists and self.single:
            raise BoughError(f"{row.place}: the label is {'' if several else 'not '}a list, unlike those before it")
        self.marks = self.marks and len(names) == _words(row)
        self.numbers = self.numbers and all(_value(name) is not None for name in names)
        self.broken = self.broken or not all(WHOLE.fullmatch(name) for name in names)
        self.counts.update(names)
        if len(self.counts) > MOST:
            if not self.values:
                raise BoughError(f"{row.place}: more than {MOST:,} different labels; say which column is the label")
            self.counts.clear()


def _name(row: Row, label: Any) -> str:
    """A label as a name."""
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, int | float) and _value(label) is not None:
        return str(label)
    if not isinstance(label, str):
        raise BoughError(f"{row.place}: a label must be a name or a number, not {brief(label)}")
    if not label.strip():
        raise BoughError(f"{row.place}: the label is empty; label the row, or leave it out")
    return label


def _value(label: Any) -> float | None:
    """A label as a finite number, if it is one."""
    if isinstance(label, bool) or not isinstance(label, int | float | str):
        return None
    try:
        found = float(label)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _words(row: Row) -> int:
    return len(str(row.values.get("text", "")).split())


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    """Names in the order of the alphabet, or whole numbers in theirs."""
    found = sorted(names)
    return tuple(sorted(found, key=int) if all(WHOLE.fullmatch(name) for name in found) else found)
