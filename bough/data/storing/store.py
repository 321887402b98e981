"""Columns of numbers on the disk, mapped into memory: written once, whole or not at all, and then read in place.

A folder holds a file for each column, of the narrowest numbers that hold it, and a manifest. Each file bears a time
that no clock gives again: a file that still has it, and its size, is taken for what was written. Any other is hashed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bough.errors import ArtefactError
from bough.files.atomic import replaced, sync, write

FORMAT = 1
MANIFEST = "manifest.json"
REMEDY = "remove the folder and prepare it again"
WHOLE = ("uint8", "uint16", "uint32", "int8", "int16", "int32", "int64")
"""What a column of whole numbers may be made of, the preferred first; any other is of float64."""
HELD = 2**16
"""As many numbers of a column as wait in memory to be written."""
CHUNK = 2**22
LONG_AGO = 10 * 10**9
"""Nanoseconds; more than the clock of any file system is coarse."""

Numbers = NDArray[Any]


class Ragged:
    """Rows of unequal lengths, end to end."""

    def __init__(self, flat: Numbers, bounds: Numbers) -> None:
        self.flat = flat
        self.bounds = bounds
        """Where each row starts, and after them where the last one ends."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, row: int) -> Numbers:
        return self.flat[self.bounds[row] : self.bounds[row + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How long each row is: of all at once, so that a large store is better asked by `lengths_of`."""
        return np.diff(self.bounds.astype(np.int64))

    def lengths_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How long these rows are."""
        return self.bounds[rows + 1].astype(np.int64) - self.bounds[rows]


class Store:
    """What a folder holds; opening it reads next to nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        manifest = _manifest(folder)
        self._count: int = manifest["count"]
        self.about: Mapping[str, Any] = manifest["about"]
        """What the writer had to say of it."""
        mapped = {name: _mapped(folder / name, column) for name, column in manifest["columns"].items()}
        self.plain: Mapping[str, Numbers] = {name: one for name, one in mapped.items() if "." not in name}
        """A number for each row, by column."""
        self.ragged: Mapping[str, Ragged] = {
            name.removesuffix(".flat"): Ragged(one, mapped[name.removesuffix("flat") + "bounds"])
            for name, one in mapped.items()
            if name.endswith(".flat")
        }
        """Numbers for each row, as many as it has, by column."""

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[type[Store], tuple[Path]]:
        # Another process maps the same files; no numbers travel.
        return Store, (self.folder,)

    def check(self) -> None:
        """Read every file through, and raise where one is not what was written."""
        for name, column in _manifest(self.folder)["columns"].items():
            _check_content(self.folder / name, column)


class Writer:
    """Takes rows one by one; all have the same columns."""

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self.about: dict[str, Any] = {}
        """What to say of it; anything that JSON knows."""
        self.folder = folder
        self._columns: dict[str, _Column] = {}
        self._ends: dict[str, int] = {}

    def add(self, ragged: Mapping[str, Sequence[int]], plain: Mapping[str, int | float] | None = None) -> None:
        """Append a row."""
        plain = plain or {}
        if not self.count:
            self._begin(ragged, plain)
        assert self._ends.keys() == ragged.keys()
        for name, numbers in ragged.items():
            self._ends[name] += len(numbers)
            self._columns[f"{name}.flat"].extend(numbers)
            self._columns[f"{name}.bounds"].extend((self._ends[name],))
        for name, number in plain.items():
            self._columns[name].extend((number,))
        self.count += 1

    def close(self) -> None:
        """Write what is still held, and the manifest behind it."""
        columns = {name: column.close() for name, column in self._columns.items()}
        content = {"format": FORMAT, "count": self.count, "about": self.about, "columns": columns}
        write(self.folder / MANIFEST, _signed(content))

    def _begin(self, ragged: Mapping[str, Sequence[int]], plain: Mapping[str, int | float]) -> None:
        names = [*(f"{name}.{part}" for name in ragged for part in ("flat", "bounds")), *plain]
        self._columns = {name: _Column(self.folder / name) for name in names}
        self._ends = dict.fromkeys(ragged, 0)
        for name in ragged:
            self._columns[f"{name}.bounds"].extend((0,))


@contextlib.contextmanager
def writing(folder: Path) -> Generator[Writer]:
    """A writer whose store takes the place of `folder` when all of it is on the disk."""
    with replaced(folder) as aside:
        for old in aside.iterdir():
            old.unlink()
        writer = Writer(aside)
        yield writer
        writer.close()


class _Column:
    """One file that grows, of numbers no wider than it needs; where a wider one comes, the file is written anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kind = np.dtype(WHOLE[0])
        self._low = self._high = 0
        self._held: list[int | float] = []
        path.touch()

    def extend(self, numbers: Sequence[int | float]) -> None:
        self._held.extend(numbers)
        if len(self._held) >= HELD:
            self._flush()

    def close(self) -> dict[str, Any]:
        """What the manifest says of the file, once that is on the disk."""
        self._flush()
        then = time.time_ns() // 10**9 * 10**9 - LONG_AGO
        os.utime(self._path, ns=(then, then))
        sync(self._path)
        return {
            "kind": self._kind.name,
            "size": self._path.stat().st_size // self._kind.itemsize,
            "sha256": _sha256(self._path),
            "time": self._path.stat().st_mtime_ns,
        }

    def _flush(self) -> None:
        if not self._held:
            return
        numbers = np.array(self._held)
        self._held.clear()
        kind = self._wanted(numbers)
        if kind != self._kind:
            self._widen(kind)
        with self._path.open("ab") as file:
            file.write(numbers.astype(kind).tobytes())

    def _wanted(self, numbers: Numbers) -> np.dtype[Any]:
        """The narrowest kind that holds these and all before them."""
        if "f" in (numbers.dtype.kind, self._kind.kind):
            return np.dtype(np.float64)
        self._low, self._high = min(self._low, int(numbers.min())), max(self._high, int(numbers.max()))
        return _narrowest(self._low, self._high)

    def _widen(self, kind: np.dtype[Any]) -> None:
        wider = self._path.with_name(self._path.name + ".wider")
        with self._path.open("rb") as old, wider.open("wb") as new:
            while len(numbers := np.fromfile(old, self._kind, CHUNK)):
                new.write(numbers.astype(kind).tobytes())
        wider.replace(self._path)
        self._kind = kind


def _narrowest(low: int, high: int) -> np.dtype[Any]:
    """The first kind that holds all from the one to the other."""
    return np.dtype(next(one for one in WHOLE if np.iinfo(one).min <= low and high <= np.iinfo(one).max))


def _signed(content: Mapping[str, Any]) -> bytes:
    """A manifest as JSON, led by a hash of itself."""
    text = (json.dumps(content, sort_keys=True) + "\n").encode()
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def _manifest(folder: Path) -> dict[str, Any]:
    """What the manifest says, once it is known to be what was written."""
    path = folder / MANIFEST
    try:
        written = path.read_bytes()
    except OSError as error:
        raise ArtefactError(f"{path}: {error.strerror}; {REMEDY}") from None
    signature, _, text = written.partition(b"\n")
    if hashlib.sha256(text).hexdigest().encode() != signature:
        raise ArtefactError(f"{path}: is not what was written; {REMEDY}")
    content = cast("dict[str, Any]", json.loads(text))
    if content["format"] != FORMAT:
        raise ArtefactError(f"{path}: is of format {content['format']}, and this Bough reads {FORMAT}; {REMEDY}")
    return content


def _mapped(path: Path, column: Mapping[str, Any]) -> Numbers:
    """A file's numbers, in place."""
    kind = np.dtype(column["kind"])
    try:
        found = path.stat()
        if found.st_size != column["size"] * kind.itemsize:
            wanted = column["size"] * kind.itemsize
            raise ArtefactError(f"{path}: has {found.st_size:,} bytes and should have {wanted:,}; {REMEDY}")
        if found.st_mtime_ns != column["time"]:
            _check_content(path, column)
        # A plain view: numpy's own class for mapped files makes every slice several times as dear.
        return np.memmap(path, kind, "r").view(np.ndarray) if column["size"] else np.empty(0, kind)
    except OSError as error:
        raise ArtefactError(f"{path}: {error.strerror}; {REMEDY}") from None


def _check_content(path: Path, column: Mapping[str, Any]) -> None:
    if _sha256(path) != column["sha256"]:
        raise ArtefactError(f"{path}: is not what was written (another sha256); {REMEDY}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
