"""What the columns of a file are: the parts of a row that Bough knows, and any others, which keep their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast, get_args

from bough.data.formats import Fields
from bough.data.rows import Fault, Row
from bough.errors import BoughError, FieldError
from bough.record import Record, brief, nearest

Part = Literal["text", "label", "text_pair", "source", "target"]
PARTS: tuple[Part, ...] = get_args(Part)
TEXTS: tuple[Part, ...] = ("text", "text_pair", "source", "target")
"""The parts that are texts; a row has one of them at least."""


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

    def named(self, row: Row, need: Sequence[Part]) -> Row | Fault:
        """The row by its parts, once those needed are known to be there and texts to be texts."""
        # A column called like a part for which another column was given is not that part, and is left out.
        known = {name: value for name, value in row.values.items() if name in self.parts or name not in PARTS}
        values: dict[str, Any] = {self.parts.get(name, name): value for name, value in known.items()}
        lacking: list[Part] = [part for part in PARTS if part not in values and (part in need or self.of(part) != part)]
        if not any(part in values for part in TEXTS):
            lacking.append("text")
        if lacking:
            wanted, there = self.of(lacking[0]), list(row.values)
            said = f"there is no column {wanted!r} among {', '.join(map(brief, there)) or 'none at all'}"
            return Fault(row.place, said, nearest(wanted, there).removeprefix("; ") or "say which of them it is")
        for part in TEXTS:
            if part in values and not isinstance(values[part], str):
                joined = _joined(values[part])
                if joined is None:
                    return Fault(row.place, f"{self.of(part)!r} must be text, not {brief(values[part])}")
                values[part] = joined
        return Row(row.place, values)


def _joined(value: Any) -> str | None:
    """The text whose words these are."""
    words = cast("list[Any]", value) if isinstance(value, list) else []
    fit = bool(words) and all(isinstance(word, str) and word.split() == [word] for word in words)
    return " ".join(words) if fit else None


def table(records: Iterable[Fields | Fault], columns: Columns, header: bool | None) -> Iterator[Row | Fault]:
    """A table's records as rows: by the names in its header or, without one, by the numbers of its columns from one.

    Where it is not said whether there is a header, the first record is one unless it has two columns and names no part:
    then, as in a table without a header whose columns are given no names, the two are source and target.
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
    given = set(columns.parts) - set(PARTS)
    named = set(columns.parts) & set(first.fields)
    pair = len(numbers) == 2 and not given
    if header or (header is None and not (pair and not named) and (named or not given & set(numbers))):
        twice = next((name for name in first.fields if first.fields.count(name) > 1), None)
        if twice is not None:
            raise BoughError(f"{first.place}: two columns are called {brief(twice)}; give each a name of its own")
        return first.fields
    if pair:
        return ["source", "target"]
    return ["text"] if len(numbers) == 1 and not given else numbers


def _columns(count: int) -> str:
    return f"{count} column{'s' if count != 1 else ''}"
