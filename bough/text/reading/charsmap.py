"""Text as SentencePiece itself normalises it, each letter traced to its place: its table, then its way with spaces."""

from __future__ import annotations

import struct

from bough.errors import ArtefactError
from bough.text.reading.sentencepiece import PieceModel
from bough.text.reading.traced import Span, Traced

SPACE = "▁"
LONGEST = 64
"""More letters than any table normalises together; a hostile one could go on without end."""
LEAF, WIDE, LABEL = 1 << 8, 1 << 9, 1 << 31 | 255


class Charsmap:
    """The table of a model's file: stretches of letters, and what each becomes.

    It is a trie of bytes laid out as a double array: a state, exclusive-or a byte, is the place of the next unit.
    """

    def __init__(self, table: bytes, where: str) -> None:
        size = int.from_bytes(table[:4], "little")
        if size % 4 or size > max(0, len(table) - 4):
            raise ArtefactError(f"{where}: its table of what to normalise is cut short; fetch the file again")
        self._units = struct.unpack(f"<{size // 4}I", table[4 : 4 + size])
        self._texts = table[4 + size :]
        self._alone: set[str] = set()

    def longest(self, text: str, start: int) -> tuple[int, str]:
        """How many letters from here on are normalised together, and into what; one into itself where none are."""
        found = 1, text[start]
        if text[start] in self._alone:
            return found
        state = _offset(self._units[0]) if self._units else 0
        unit = 0
        for at in range(start, min(len(text), start + LONGEST)):
            for byte in text[at].encode(errors="surrogatepass"):
                place = state ^ byte
                unit = self._units[place] if place < len(self._units) else 0
                if unit & LABEL != byte:
                    if at == start:
                        self._alone.add(text[start])
                    return found
                state = place ^ _offset(unit)
            if unit & LEAF and state < len(self._units):
                found = at + 1 - start, self._text(self._units[state] & ~(1 << 31))
        return found

    def _text(self, place: int) -> str:
        return self._texts[place : self._texts.find(b"\0", place)].decode(errors="replace")


def _offset(unit: int) -> int:
    return unit >> 10 << (8 if unit & WIDE else 0)


def normalised(text: str, start: int, model: PieceModel, table: Charsmap) -> Traced:
    """A text that stands at this place of the original, as the model's pieces spell it: a sign for each space."""
    letters: list[str] = [SPACE] if model.space and text else []
    spans: list[Span] = [(start, start)] * len(letters)
    blank = model.single_spaces
    at = 0
    while at < len(text):
        length, new = table.longest(text, at)
        span = (start + at, start + at + length)
        at += length
        for letter in new:
            if not (letter == " " and blank):
                letters.append(SPACE if letter == " " else letter)
                spans.append(span)
            blank = model.single_spaces and letter == " "
    while model.single_spaces and letters and letters[-1] == SPACE:
        letters.pop()
        spans.pop()
    return Traced("".join(letters), spans)
