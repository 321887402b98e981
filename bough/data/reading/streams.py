"""From what a user named to streams of bytes: files, folders of shards, stdin; gzip is unpacked on the way."""

from __future__ import annotations

import functools
import gzip
import io
import os
import sys
import tempfile
import weakref
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from bough.data.samples import named
from bough.errors import ArtefactError, BoughError

Format = Literal["jsonl", "csv", "tsv", "txt", "parquet", "po", "mo"]
FORMATS: tuple[Format, ...] = get_args(Format)
STDIN = "-"
MAGIC = b"\x1f\x8b"
"""How anything that gzip packed begins."""
BUFFER = 2**20
MOST_GROWN = 2**25
"""Bytes that may come of a packed file whatever its size."""
MOST_TIMES = 250
"""As many times a packed file's own size may come of it beyond that; text comes to 3 to 20 times."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to read: what messages call it, and its format."""

    name: str
    format: Format

    def open(self) -> io.BufferedReader:
        """Its bytes from the start, unpacked."""
        raw: Any = _Pass(_stdin(sys.stdin.buffer)) if self.name == "stdin" else io.FileIO(self.name)
        plain = io.BufferedReader(raw, BUFFER)
        packed = self.name.endswith(".gz") or (self.name == "stdin" and plain.peek(2).startswith(MAGIC))
        return io.BufferedReader(_Unpacked(plain, self.name), BUFFER) if packed else plain


def files(path: str, said: Format | None) -> list[File]:
    """The files that a path means, in order."""
    if path == STDIN:
        if said is None:
            raise BoughError(f"stdin: its format cannot be told from a name; say one of {', '.join(FORMATS)}")
        return [File("stdin", said)]
    if Path(path).is_dir():
        return _shards(Path(path), said)
    found = Path(path) if Path(path).exists() else named.file(path)
    if found is None:
        raise BoughError(f"{path}: there is no such file or folder")
    if not found.is_file():
        raise BoughError(f"{path}: is neither a file nor a folder; pipe it into stdin, and name that as {STDIN}")
    # A file that is called like what messages call stdin is told from it.
    return [File("./stdin" if path == "stdin" else str(found), said or _format(found))]


def _shards(folder: Path, said: Format | None) -> list[File]:
    """The files of a folder in the order of their names, all of one format."""
    shards = sorted(one for one in folder.iterdir() if not one.name.upper().startswith((".", "README")))
    for one in shards:
        if one.is_dir():
            raise BoughError(f"{one}: is a folder inside a folder of shards; name the folders that hold files")
    found = [File(str(one), said or _format(one)) for one in shards]
    for one in found[1:]:
        if one.format != found[0].format:
            raise BoughError(
                f"{one.name}: is {one.format} beside {found[0].format}; name files of one format, or say it"
            )
    if not found:
        raise BoughError(f"{folder}: holds no files; name a folder of shards, or a file")
    return found


def _format(path: Path) -> Format:
    ending = Path(path.name.removesuffix(".gz")).suffix[1:].lower()
    for one in FORMATS:
        if one == ending:
            return one
    raise BoughError(f"{path}: its format cannot be told from its name; say one of {', '.join(FORMATS)}")


class _Unpacked(io.RawIOBase):
    """What a gzip file holds, in bounded memory, and refused where it is meant to fill a disk or a day."""

    def __init__(self, packed: io.BufferedReader, name: str) -> None:
        self.packed = packed
        self.inner = gzip.GzipFile(fileobj=packed)
        self.name = name
        self.grown = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.packed.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        try:
            content = self.inner.read1(len(view))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ArtefactError(f"{self.name}: cannot be unpacked ({error}); fetch or pack the file again") from None
        self.grown += len(content)
        if self.grown > MOST_GROWN and self.grown > MOST_TIMES * self.packed.tell():
            times = f"more than {MOST_TIMES} times its size"
            raise BoughError(f"{self.name}: refused, because it unpacks to {times}; unpack it first if that is meant")
        view[: len(content)] = content
        return len(content)


class _Spool:
    """What a stream gave so far, kept in a file without a name, so that it can be read again."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.kept = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # it lasts as long as the spool
        self.size = 0
        weakref.finalize(self, self.kept.close)

    def read(self, at: int, count: int) -> bytes:
        """Bytes from a place; none where the stream has ended."""
        if at < self.size:
            return os.pread(self.kept.fileno(), min(count, self.size - at), at)
        content: bytes = self.stream.read1(count)
        self.kept.write(content)
        self.size += len(content)
        return content


@functools.lru_cache(maxsize=1)
def _stdin(stream: Any) -> _Spool:
    """The one spool of this process's stdin."""
    return _Spool(stream)


class _Pass(io.RawIOBase):
    """One pass over a spool."""

    def __init__(self, spool: _Spool) -> None:
        self.spool = spool
        self.at = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        content = self.spool.read(self.at, len(view))
        view[: len(content)] = content
        self.at += len(content)
        return len(content)
