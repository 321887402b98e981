"""Rows of parquet files, by pyarrow, which comes with the extra `parquet`; a row of one is counted from one."""

from __future__ import annotations

import contextlib
import importlib
import io
import tempfile
from collections.abc import Generator, Iterator
from typing import Any

from bough.data.reading.formats import unfit
from bough.data.reading.lines import CHUNK, LONGEST, TOO_LONG
from bough.data.reading.rows import Fault, Place, Row
from bough.errors import ArtefactError, MissingError

AT_ONCE = 256
"""So many rows are held at a time."""


def records(stream: io.BufferedReader, file: str) -> Iterator[Row | Fault]:
    """Every row of a file, a few at a time."""
    arrow, parquet = _library(file)
    number = 0
    with _seekable(stream) as whole:
        try:
            for batch in parquet.ParquetFile(whole).iter_batches(AT_ONCE, use_threads=False):
                for i in range(len(batch)):
                    number += 1
                    yield _row(batch, i, Place(file, number))
        except (arrow.ArrowException, OSError) as error:
            said = str(error).splitlines()[0]
            raise ArtefactError(f"{file}: cannot be read as parquet ({said}); write the file again") from None


def _library(file: str) -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingError(f'{file}: parquet needs another package; run `pip install "bough[parquet]"`') from None


def _row(batch: Any, i: int, place: Place) -> Row | Fault:
    try:
        values = {name: batch.column(name)[i].as_py() for name in batch.schema.names}
    except (ValueError, OverflowError) as error:  # text that is no UTF-8; a time that Python has no number for
        return Fault(place, f"cannot be read ({error})")
    if any(isinstance(value, str) and len(value) > LONGEST for value in values.values()):
        return Fault(place, TOO_LONG)
    problem = unfit(values)
    return Fault(place, problem) if problem else Row(place, values)


@contextlib.contextmanager
def _seekable(stream: io.BufferedReader) -> Generator[Any]:
    """The stream, or a copy of it in a file without a name where it cannot be read from its end."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile() as copy:
        while chunk := stream.read(CHUNK):
            copy.write(chunk)
        yield copy
