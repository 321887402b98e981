"""Where rows come from: files of any format, folders of shards, stdin or a sample; streamed in bounded memory.

Every text is UTF-8, strictly; a byte order mark is dropped, and LF, CRLF and CR each end a line. Invalid UTF-8, NUL,
half of a letter (a lone surrogate), more than 16 MiB in a row, and what a format does not allow, are faults of a row:
the row is named and reading ends, or with `skip_bad` it is counted and left out. A file that cannot be read at all is
never skipped.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bough.data.reading import catalogues, formats, parquet
from bough.data.reading.columns import TEXTS, Columns, Part, table
from bough.data.reading.lines import CHUNK, lines
from bough.data.reading.rows import Fault, Row, Tally
from bough.data.reading.streams import File, Format, files
from bough.errors import BoughError
from bough.record import Record

NAMED = ("jsonl", "csv", "tsv", "parquet")
"""The formats in which columns have names that can be mapped."""
RULES = 1
"""Goes up when the same file comes to other rows than before, so that no cache survives that."""


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
        rows, skipped, first = counted.rows, counted.skipped, None
        for one in self._checked(need):
            if isinstance(one, Row):
                counted.rows += 1
                yield one
            elif self.skip_bad:
                counted.skip(one)
                first = first or one
            else:
                raise BoughError(f"{one}; {one.remedy}")
        if counted.rows == rows:
            bad = f"no good row and {counted.skipped - skipped:,} bad; the first is {first}"
            raise BoughError(f"{', '.join(self.paths)}: holds {bad if first else 'no rows; name a file that has some'}")

    def texts(self, tally: Tally | None = None) -> Iterator[str]:
        """Every text of every row; the tally is told as by `rows`."""
        for row in self.rows(tally):
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

    def _checked(self, need: Sequence[Part]) -> Iterator[Row | Fault]:
        """Every row as this source names its columns, or what is wrong with it."""
        for file in self.files():
            columns = self.columns if file.format in NAMED else Columns()
            with file.open() as stream:
                for one in self._read(file, stream):
                    yield columns.named(one, need) if isinstance(one, Row) else one

    def _read(self, file: File, stream: io.BufferedReader) -> Iterator[Row | Fault]:
        """Every row as the file names its columns."""
        found = lines(stream, file.name)
        match file.format:
            case "jsonl":
                return formats.objects(found)
            case "csv":
                return table(formats.quoted(found), self.columns, self.header is not False)
            case "tsv":
                return table(formats.tabbed(found), self.columns, self.header)
            case "txt":
                return formats.documents(found) if self.per == "document" else formats.text_lines(found)
            case "parquet":
                return parquet.records(stream, file.name)
            case "po":
                return catalogues.written(stream, file.name)
            case "mo":
                return catalogues.compiled(stream, file.name)
