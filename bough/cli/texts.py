"""What verbs are given to read, a line at a time: on the command line, in a file, or from stdin; in bounded memory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bough.errors import BoughError

AT_ONCE, LETTERS = 512, 2**22
"""So many texts, or letters of them, are held at a time, however many there are."""
LONGEST = 16 * 2**20
"""Bytes of a line; more is no text but a mistake, or meant to fill the memory."""


@dataclass(frozen=True)
class Given:
    """Lines, and where they are from."""

    lines: Iterable[str]
    where: str = ""
    """The file, or stdin; empty for the command line."""

    def place(self, number: int) -> str:
        """What a complaint calls a line, counted from one."""
        return f"{self.where}:{number}: " if self.where else ""


@contextlib.contextmanager
def given(said: Sequence[str], file: Path | None, what: str = "texts", each: str = "a text") -> Generator[Given]:
    """The lines, from where the user said they are."""
    if bool(said) == bool(file):
        raise BoughError(f"give {what}, or --file with {each} on each line, or - to read them from stdin; one of these")
    if "-" in (str(file), *(said if len(said) == 1 else ())):
        yield Given(_lines(sys.stdin.buffer, "stdin"), "stdin")
    elif file:
        with file.open("rb") as handle:
            yield Given(_lines(handle, str(file)), str(file))
    else:
        yield Given(said)


def batches(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines, as many at a time as may be held together."""
    some: list[str] = []
    letters = 0
    for line in lines:
        some.append(line)
        letters += len(line)
        if len(some) == AT_ONCE or letters > LETTERS:
            yield some
            some, letters = [], 0
    if some:
        yield some


def _lines(handle: BinaryIO, where: str) -> Iterator[str]:
    """The text of each line, an empty one too, so that what comes of them keeps their numbers."""
    number = 0
    while line := handle.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            raise BoughError(f"{where}:{number}: a line of more than {LONGEST >> 20} MiB; split it into texts")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BoughError(
                f"{where}:{number}: not UTF-8 ({error.reason} at byte {error.start + 1}); convert it"
            ) from None
        yield text.rstrip("\r\n")
