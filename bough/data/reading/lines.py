"""From bytes to lines of text, in bounded memory; a line that is no text is kept as a fault, for it may be skipped.

UTF-8, strictly; a byte order mark at the start is no part of the text. A line ends with LF, CRLF or CR, and with
nothing else that Unicode knows. NUL is refused everywhere.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from bough.data.reading.rows import Place

LONGEST = 16 * 2**20
"""Bytes of a row; more is no text but a mistake, or meant to fill the memory."""
TOO_LONG = f"more than {LONGEST >> 20} MiB in one row; split it"
CHUNK = 2**20
MARK = b"\xef\xbb\xbf"
ENDS = (b"\n", b"\r")


@dataclass(slots=True)
class Line:
    """A line with its end; where it is no text, a fault, and what could be made of it."""

    place: Place
    text: str
    fault: str | None = None


def lines(stream: io.BufferedReader, file: str, charset: str = "utf-8") -> Iterator[Line]:
    """Each line of a file, from where the stream stands."""
    for number, content in enumerate(_split(stream), 1):
        place = Place(file, number)
        yield _decoded(content, place, charset) if len(content) <= LONGEST else Line(place, "", TOO_LONG)


def _decoded(content: bytes, place: Place, charset: str) -> Line:
    """The line as text."""
    fault = f"holds a NUL, at byte {content.index(0) + 1}" if b"\0" in content else None
    try:
        return Line(place, content.decode(charset), fault)
    except UnicodeDecodeError as error:
        where = f"{error.reason} at byte {error.start + 1}"
        name = "UTF-8" if charset == "utf-8" else charset
        return Line(place, content.decode(charset, errors="replace"), f"not {name} ({where})")


def _split(stream: io.BufferedReader) -> Iterator[bytes]:
    """Lines as bytes; of one that is too long, no more than shows it, and the rest is passed over."""
    if stream.peek(len(MARK)).startswith(MARK):
        stream.read(len(MARK))
    parts: list[bytes] = []
    size = 0
    while chunk := stream.read1(CHUNK):
        if chunk.endswith(b"\r") and stream.peek(1)[:1] == b"\n":
            chunk += stream.read(1)
        for piece in chunk.splitlines(keepends=True):
            if size <= LONGEST:
                parts.append(piece)
                size += len(piece)
                if size > LONGEST:
                    # At once: what it belongs to may have no end.
                    yield b"".join(parts)
            if piece.endswith(ENDS):
                if size <= LONGEST:
                    yield b"".join(parts)
                parts, size = [], 0
    if parts and size <= LONGEST:
        yield b"".join(parts)
