"""Rows of parquet files, by pyarrow, which comes with the extra `parquet`; a row of one is counted from one."""

from __future__ import annotations

import importlib
import io
import tempfile
from collections.abc import Iterator
from typing import Any

from bough.data.formats import unfit
from bough.data.lines import CHUNK
from bough.data.rows import Fault, Place, Row
from bough.errors import ArtefactError, BoughError

AT_ONCE = 256
"""So many rows are held at a time."""


def records(stream: io.BufferedReader, file: str) -> Iterator[Row | Fault]:
    """Every row of a file, a few at a time."""
    arrow, parquet = _library(file)
    number = 0
    try:
        with _seekable(stream) as whole:
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
        raise BoughError(f'{file}: parquet needs another package; run `pip install "bough[parquet]"`') from None


def _row(batch: Any, i: int, place: Place) -> Row | Fault:
    try:
        values = {name: batch.column(name)[i].as_py() for name in batch.schema.names}
    except (ValueError, OverflowError) as error:  # text that is no UTF-8; a time that Python has no number for
        return Fault(place, f"cannot be read ({error})")
    problem = unfit(values)
    return Fault(place, problem) if problem else Row(place, values)


def _seekable(stream: io.BufferedReader) -> Any:
    """The stream, or a copy of it in a file without a name where it cannot be read from its end."""
    if stream.seekable():
        return stream
    copy = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the file read from it
    while chunk := stream.read(CHUNK):
        copy.write(chunk)
    return copy
