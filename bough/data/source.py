"""Where rows come from: files of any format, folders of shards, stdin or a sample; streamed in bounded memory.

Every text is UTF-8, strictly; a byte order mark is dropped, and LF, CRLF and CR each end a line. Invalid UTF-8, NUL,
half of a letter (a lone surrogate), more than 16 MiB in a row, and what a format does not allow, are faults of a row:
the row is named and reading ends, or with `skip_bad` it is counted and left out. A file that cannot be read at all is
never skipped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bough.data import formats
from bough.data.streams import File, Format, files
from bough.data.lines import CHUNK, lines
from bough.data.rows import Fault, Row, Tally
from bough.errors import BoughError
from bough.record import Record, brief, nearest

Part = Literal["text", "label", "text_pair", "source", "target"]
TEXTS: tuple[Part, ...] = ("text", "text_pair", "source", "target")
"""The parts of a row that are texts."""
REMEDY = "mend the row, or skip bad ones"
RULES = 1
"""Goes up when the same file comes to other rows than before, so that no cache survives that."""


@dataclass(frozen=True)
class Columns(Record):
    """What the parts of a row are called in the file."""

    text: str = "text"
    label: str = "label"
    text_pair: str = "text_pair"
    source: str = "source"
    target: str = "target"

    def parts(self) -> dict[str, str]:
        """Which part each column is."""
        return {getattr(self, part): part for part in type(self).__dataclass_fields__}


@dataclass(frozen=True)
class Source(Record):
    """Files to read rows from, and how."""

    paths: tuple[str, ...]
    format: Format | None = None
    columns: Columns = field(default_factory=Columns)
    per: Literal["line", "document"] = "line"
    skip_bad: bool = False
    header: bool | None = None

    def rows(self, tally: Tally | None = None, need: Sequence[Part] = ()) -> Iterator[Row]:
        """Every row in order, with the parts that are needed; what is read and what is skipped is told to the tally."""
        counted = tally or Tally()
        for one in self._checked(need):
            if isinstance(one, Row):
                counted.rows += 1
                yield one
            elif self.skip_bad:
                counted.skip(one)
            else:
                raise BoughError(f"{one}; {REMEDY}")
        if not counted.rows:
            raise self._empty(counted)

    def texts(self) -> Iterator[str]:
        """Every text of every row."""
        for row in self.rows():
            for part in TEXTS:
                if part in row.values:
                    yield row.values[part]

    def fingerprint(self) -> str:
        """A sha256 over all that decides which rows there are: contents, their order and format, and the settings.

        Contents are hashed as they are unpacked, and names are not, so that packing or moving a corpus changes nothing.
        """
        settings = self.but(paths=(), format=None).to_json()
        whole = hashlib.sha256(f"{RULES} {settings}".encode())
        for file in self.files():
            content = hashlib.sha256()
            with file.open() as stream:
                while chunk := stream.read(CHUNK):
                    content.update(chunk)
            whole.update(f"{file.format} {content.hexdigest()}".encode())
        return whole.hexdigest()

    def files(self) -> list[File]:
        """The files that the paths mean, in order."""
        return [file for path in self.paths for file in files(path, self.format)]

    def _empty(self, tally: Tally) -> BoughError:
        where = ", ".join(self.paths)
        if not tally.skipped:
            return BoughError(f"{where}: holds no rows; name a file that has some")
        return BoughError(f"{where}: all {tally.skipped:,} rows are bad, of which the first is {tally.complaints[0]}")

    def _checked(self, need: Sequence[Part]) -> Iterator[Row | Fault]:
        """Every row as this source names its columns, or what is wrong with it."""
        parts = self.columns.parts()
        for file in self.files():
            with file.open() as stream:
                for one in self._read(file, stream):
                    yield self._named(one, parts, need) if isinstance(one, Row) else one

    def _read(self, file: File, stream: Any) -> Iterator[Row | Fault]:
        """Every row as the file names its columns."""
        found = lines(stream, file.name)
        match file.format:
            case "jsonl":
                yield from formats.objects(found)
            case "txt" if self.per == "document":
                yield from formats.documents(found)
            case "txt":
                yield from formats.text_lines(found)
            case "csv":
                yield from self._table(formats.quoted(found))
            case "tsv":
                yield from self._table(formats.tabbed(found))
            case _:
                raise BoughError(f"{file.name}: cannot be read yet")

    def _table(self, records: Iterator[formats.Fields | Fault]) -> Iterator[Row | Fault]:
        """A table's records as rows, by the names in its header or, without one, by the numbers of its columns."""
        names: list[str] = []
        for one in records:
            if isinstance(one, Fault):
                yield one
                continue
            if not names:
                names = self._names(one)
                if names == one.fields:
                    continue
            if len(one.fields) == len(names):
                yield Row(one.place, dict(zip(names, one.fields, strict=True)))
            else:
                yield Fault(one.place, f"has {len(one.fields)} columns where there are {len(names)}")

    def _names(self, first: formats.Fields) -> list[str]:
        """The names of a table's columns, which are its first record where that is a header."""
        numbers = [str(i) for i in range(1, len(first.fields) + 1)]
        asked = self.columns.parts()
        named = set(asked) & set(first.fields)
        changed = set(asked) - set(Columns().parts())
        bare = len(first.fields) == 2 and not named and not changed
        if self.header or (self.header is None and not bare and not changed & set(numbers)):
            return first.fields
        if len(numbers) == 2 and not changed:
            return [self.columns.source, self.columns.target]
        return [self.columns.text] if len(numbers) == 1 and not changed else numbers

    def _named(self, row: Row, parts: Mapping[str, str], need: Sequence[Part]) -> Row | Fault:
        """The row by the names of its parts, once those are known to be there and to be texts."""
        taken = {parts[name] for name in row.values if name in parts}
        values = {
            parts.get(name, name): value for name, value in row.values.items() if name in parts or name not in taken
        }
        lacking = [part for part in need if part not in values]
        if not lacking and not any(part in values for part in TEXTS):
            lacking = ["text"]
        if lacking:
            wanted, there = getattr(self.columns, lacking[0]), ", ".join(map(brief, row.values))
            return Fault(row.place, f"has no column {wanted!r} but {there}{nearest(wanted, list(row.values))}")
        for part in TEXTS:
            if part in values and not isinstance(values[part], str):
                return Fault(row.place, f"{getattr(self.columns, part)} must be text, not {brief(values[part])}")
        return Row(row.place, values)
