"""What the columns of a file are: the parts of a row that Bough knows, and any others, which keep their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal, cast, get_args

from bough.data.reading.formats import Fields
from bough.data.reading.rows import Fault, Row
from bough.errors import BoughError, FieldError
from bough.record import FEW, Record, brief, nearest

Part = Literal["text", "label", "text_pair", "source", "target"]
PARTS: tuple[Part, ...] = get_args(Part)
TEXTS: tuple[Part, ...] = ("text", "text_pair", "source", "target")
"""The parts that are texts; a row has one of them at least."""
MANY = 100
"""Among so many columns the nearest to a missing one is looked for."""


@dataclass(frozen=True)
class Columns(Record):
    """What the parts of a row are called in the file; one that is called otherwise than here has to be there."""

    text: str = "text"
    label: str = "label"
    text_pair: str = "text_pair"
    source: str = "source"
    target: str = "target"

    def __post_init__(self) -> None:
        super().__post_init__()
        for i, part in enumerate(PARTS):
            for other in PARTS[:i]:
                if self.of(part) == self.of(other):
                    raise FieldError(part, f"is called {self.of(part)!r}, and so is {other}; one column is one part")

    def of(self, part: Part) -> str:
        """The column that is this part."""
        return cast("str", getattr(self, part))

    @cached_property
    def parts(self) -> dict[str, Part]:
        """Which part each column is."""
        return {self.of(part): part for part in PARTS}

    @cached_property
    def given(self) -> dict[str, Part]:
        """The columns that are called otherwise, and which part each is."""
        return {name: part for name, part in self.parts.items() if name != part}

    def named(self, row: Row, need: Sequence[Part]) -> Row | Fault:
        """The row by its parts, once those needed are known to be there and texts to be texts."""
        values = self._renamed(row.values) if self.given else row.values
        texts: list[Part] = [part for part in TEXTS if part in values]
        asked: tuple[Part, ...] = (*self.given.values(), *need, *(() if texts else ("text",)))
        for part in asked:
            if part not in values:
                return self._lacking(part, row)
        for part in texts:
            if not isinstance(values[part], str):
                joined = _joined(values[part])
                if joined is None:
                    return Fault(row.place, f"{self.of(part)!r} must be text, not {brief(values[part])}")
                values = {**values, part: joined}
        return Row(row.place, values)

    def _renamed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        # A column called like a part for which another column was given is not that part, and is left out.
        known = {name: value for name, value in values.items() if name in self.parts or name not in PARTS}
        return {self.parts.get(name, name): value for name, value in known.items()}

    def _lacking(self, part: Part, row: Row) -> Fault:
        """The complaint that there is no such part."""
        # No more than a line has room for, however many columns there are.
        wanted, there = self.of(part), list(islice(row.values, MANY))
        if not there:
            return Fault(row.place, f"there is no column {wanted!r}, nor any other")
        some = ", ".join(map(brief, there[:FEW])) + (", …" if len(there) > FEW else "")
        said = f"there is no column {wanted!r} among {some}"
        return Fault(row.place, said, nearest(wanted, there).removeprefix("; ") or "say which of them it is")


def _joined(value: Any) -> str | None:
    """The text whose words these are."""
    words = cast("list[Any]", value) if isinstance(value, list) else []
    fit = bool(words) and all(isinstance(word, str) and word.split() == [word] for word in words)
    return " ".join(words) if fit else None


def table(records: Iterable[Fields | Fault], columns: Columns, header: bool | None) -> Iterator[Row | Fault]:
    """A table's records as rows: by the names in its header or, without one, by the numbers of its columns from one.

    Where columns are given no names, one column without a header is the text, and two are source and target. Where it
    is not said whether there is a header, two columns have one if it names a part, and other tables have one.
    """
    names: list[str] = []
    for one in records:
        if isinstance(one, Fault):
            yield one
        elif not names:
            names = _names(one, columns, header)
            if names is not one.fields:
                yield Row(one.place, dict(zip(names, one.fields, strict=True)))
        elif len(one.fields) == len(names):
            yield Row(one.place, dict(zip(names, one.fields, strict=True)))
        else:
            yield Fault(one.place, f"the row has {_columns(len(one.fields))}, and the table {len(names)}")


def _names(first: Fields, columns: Columns, header: bool | None) -> list[str]:
    """The names of a table's columns: its first record itself where that is a header."""
    numbers = [str(i + 1) for i in range(len(first.fields))]
    named = columns.parts.keys() & set(first.fields)
    pair = len(numbers) == 2 and not columns.given
    by_number = columns.given.keys() & set(numbers)
    if header or (header is None and (named or not (pair or by_number))):
        if len(set(first.fields)) < len(first.fields):
            (twice, _), *_ = Counter(first.fields).most_common(1)
            raise BoughError(f"{first.place}: two columns are called {brief(twice)}; give each a name of its own")
        return first.fields
    if pair:
        return ["source", "target"]
    return ["text"] if len(numbers) == 1 and not columns.given else numbers


def _columns(count: int) -> str:
    return f"{count} column{'s' if count != 1 else ''}"
