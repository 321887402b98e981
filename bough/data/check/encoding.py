"""Damage done to letters on their way: UTF-8 read as something else, letters lost, what belongs to a web page."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import chain

from bough.data.check.findings import Finding, Hits, excerpt
from bough.data.check.kept import Kept, Numbered
from bough.data.check.wanted import Wanted


def _as_windows(byte: int) -> str:
    """What a byte is read as by those who take a text for Windows' Latin letters, or for Latin-1 where it has none."""
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


BYTES = {_as_windows(byte): byte for byte in range(0x80, 0x100)}
TAILS = "[" + re.escape("".join(map(_as_windows, range(0x80, 0xC0)))) + "]"
LEADS = ((range(0xC2, 0xE0), 1), (range(0xE0, 0xF0), 2), (range(0xF0, 0xF5), 3))
"""Bytes that begin a letter in UTF-8, by how many follow them."""
DAMAGED = re.compile(
    "(?:" + "|".join(f"[{''.join(map(_as_windows, span))}]{TAILS}{{{more}}}" for span, more in LEADS) + ")+"
)
"""What letters look like of which each byte was read as one."""
LIKELY = "\u00c3\u00c2"
"""How the Latin letters with accents then begin. Other beginnings of two bytes are letters that may end a word."""
BEHIND = "\u00a0\u00ab\u00bb\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2026"
"""What may well stand behind a word that ends in such a letter."""
ENTITY = re.compile(r"&(?:#\d{2,7}|#x[0-9a-f]{2,6}|[a-z]{2,8}[0-9]{0,2});", re.IGNORECASE)
TAGS = "br|p|b|i|u|a|em|strong|div|span|ul|ol|li|t[drh]|table|img|font|h[1-6]"
TAG = re.compile(rf"</(?:{TAGS})>|<br\s*/?>|<(?:{TAGS})\s+[a-z-]+=[^<>]*>", re.IGNORECASE)
"""Tags as pages have them; a lone <i> may be a placeholder."""


class Damage:
    """Letters that are not what was written."""

    def __init__(self, wanted: Wanted) -> None:
        self._lost, self._misread, self._entities, self._tags = (Hits(wanted.places) for _ in range(4))

    def read(self, rows: Sequence[Numbered]) -> None:
        """Look at each text."""
        for one in rows:
            text = one.whole
            if not text.isascii():
                if "\ufffd" in text:
                    self._lost.add(one.number, excerpt(text, text.index("\ufffd")))
                if hit := misread(text):
                    self._misread.add(one.number, f"{hit[0]!r} for {hit[1]!r}")
            if "&" in text and (found := next(filter(_stands_for, ENTITY.finditer(text)), None)):
                self._entities.add(one.number, f"{found[0]!r} for {html.unescape(found[0])!r}")
            if "<" in text and (tag := TAG.search(text)):
                self._tags.add(one.number, excerpt(text, tag.start()))

    def found(self, kept: Kept) -> list[Finding]:
        """What there is of each."""
        return list(
            chain(
                self._misread.rows("warning", "misread", "with UTF-8 that was read as another encoding", kept),
                self._lost.rows("warning", "lost", "with letters that were lost in decoding, U+FFFD", kept),
                self._entities.rows("warning", "entities", "with entities of HTML", kept),
                self._tags.rows("warning", "tags", "with tags of HTML", kept),
            )
        )


def misread(text: str) -> tuple[str, str] | None:
    """The first letters of a text that are UTF-8 read as Latin letters, and what they should be, however often so."""
    for hit in DAMAGED.finditer(text):
        piece = hit[0]
        mended = _mended(piece)
        if mended is not None and _is_damage(piece, mended):
            while (again := _mended(mended)) is not None:
                mended = again
            return piece, mended
    return None


def _mended(piece: str) -> str | None:
    """Letters as the bytes that they were read from, read as UTF-8; None where that cannot be."""
    try:
        return bytes(BYTES[letter] for letter in piece).decode()
    except (KeyError, UnicodeDecodeError):
        return None


def _is_damage(piece: str, mended: str) -> bool:
    """Whether letters that could be damaged are; a letter with an accent may stand before a closing quote."""
    if all(letter in BEHIND for letter in piece[1:]) and piece not in ("\u00c2\u00a0", "\u00c3\u00a0"):
        return False
    return len(mended) > 1 or len(piece) > 2 or piece[0] in LIKELY


def _stands_for(entity: re.Match[str]) -> bool:
    return html.unescape(entity[0]) != entity[0]
