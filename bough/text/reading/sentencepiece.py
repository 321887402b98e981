"""SentencePiece's model files, read by their wire format alone: the pieces, and how text is normalised."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from bough.errors import ArtefactError

NORMAL, UNKNOWN, CONTROL, DEFINED, UNUSED, BYTE = range(1, 7)
"""What a piece is: a part of text, what stands for all others, no text, always whole, never used, a byte."""
UNIGRAM, BPE = 1, 2
VARINT, EIGHT_BYTES, STRETCH, FOUR_BYTES = 0, 1, 2, 5
"""The kinds of field."""
LONGEST_VARINT = 10


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a vocabulary."""

    text: str
    score: float
    kind: int = NORMAL


@dataclass(frozen=True, slots=True)
class PieceModel:
    """What a model's file holds of use here."""

    pieces: tuple[Piece, ...]
    merges: bool
    """Whether pieces are put together by their order (BPE), not chosen by what they score together."""
    byte_fallback: bool
    charsmap: bytes
    """What is normalised into what; empty where nothing is."""
    space: bool
    """Whether a space is put in front of every text."""
    single_spaces: bool
    """Whether spaces around a text are dropped, and of several in a row all but one."""

    @property
    def unknown(self) -> int:
        """The number of the piece that stands for all others."""
        return next(number for number, piece in enumerate(self.pieces) if piece.kind == UNKNOWN)


def read_pieces(content: bytes, where: str) -> PieceModel:
    """What a model's file says; `where` names it in complaints."""
    pieces: list[Piece] = []
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    for number, value, at in _fields(content, where):
        if number in (1, 2, 3) and not isinstance(value, bytes):
            raise _broken(where, at, f"field {number} is no message")
        if number == 1 and isinstance(value, bytes):
            pieces.append(_piece(value, where, at))
        elif number == 2 and isinstance(value, bytes):
            trainer |= {number: one for number, one, _ in _fields(value, where, at)}
        elif number == 3 and isinstance(value, bytes):
            normalizer |= {number: one for number, one, _ in _fields(value, where, at)}
    kind = trainer.get(3, UNIGRAM)
    if kind not in (UNIGRAM, BPE):
        raise ArtefactError(f"{where}: its pieces are whole words or letters; only unigram and BPE models are read")
    charsmap = normalizer.get(2, b"")
    if not isinstance(charsmap, bytes):
        raise ArtefactError(f"{where}: what it normalises is no table; fetch the file again")
    _check(pieces, where)
    return PieceModel(
        tuple(pieces),
        merges=kind == BPE,
        byte_fallback=bool(trainer.get(35, 0)),
        charsmap=charsmap,
        space=bool(normalizer.get(3, 1)),
        single_spaces=bool(normalizer.get(4, 1)),
    )


def merges_of(model: PieceModel) -> list[tuple[str, str]]:
    """The pairs that a model of merges puts together, the best first: all in which a piece falls into two others."""
    parts = {piece.text for piece in model.pieces if piece.kind == NORMAL}
    ranked = sorted((piece for piece in model.pieces if piece.kind == NORMAL), key=lambda piece: -piece.score)
    return [
        (piece.text[:cut], piece.text[cut:])
        for piece in ranked
        for cut in range(1, len(piece.text))
        if piece.text[:cut] in parts and piece.text[cut:] in parts
    ]


def _check(pieces: list[Piece], where: str) -> None:
    seen: dict[str, int] = {}
    for number, piece in enumerate(pieces):
        if seen.setdefault(piece.text, number) != number:
            raise ArtefactError(f"{where}: piece {number} is {piece.text!r} again, which piece {seen[piece.text]} is")
        if not math.isfinite(piece.score):
            raise ArtefactError(f"{where}: piece {number}, {piece.text!r}, has no finite score")
    if sum(piece.kind == UNKNOWN for piece in pieces) != 1:
        raise ArtefactError(f"{where}: needs one piece that stands for all unknown ones; fetch the file again")


def _piece(content: bytes, where: str, start: int) -> Piece:
    found = {number: (value, at) for number, value, at in _fields(content, where, start)}
    text, at = found.get(1, (b"", start))
    score, _ = found.get(2, (b"\0\0\0\0", start))
    kind, _ = found.get(3, (NORMAL, start))
    if not isinstance(text, bytes) or not isinstance(score, bytes) or len(score) != 4 or not isinstance(kind, int):
        raise _broken(where, start, "this is no piece")
    try:
        return Piece(text.decode(), struct.unpack("<f", score)[0], kind)
    except UnicodeDecodeError:
        raise _broken(where, at, "a piece is not UTF-8") from None


def _fields(content: bytes, where: str, start: int = 0) -> Iterator[tuple[int, int | bytes, int]]:
    """Each field's number, its value, and where the value starts in the file."""
    at = 0
    while at < len(content):
        key, at = _varint(content, at, where, start)
        kind = key & 7
        if kind == VARINT:
            begins = at
            value, at = _varint(content, at, where, start)
            yield key >> 3, value, start + begins
            continue
        if kind == STRETCH:
            length, at = _varint(content, at, where, start)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            length = 8 if kind == EIGHT_BYTES else 4
        else:
            raise _broken(where, start + at, f"there is no kind of field {kind}")
        if length > len(content) - at:
            raise _broken(where, start + at, f"a field of {length:,} bytes has {len(content) - at:,}")
        yield key >> 3, content[at : at + length], start + at
        at += length


def _varint(content: bytes, at: int, where: str, start: int) -> tuple[int, int]:
    """A number, seven bits to a byte, and where it ends."""
    if at < len(content) and content[at] < 128:  # as nearly all are
        return content[at], at + 1
    number = 0
    for shift, byte in enumerate(content[at : at + LONGEST_VARINT]):
        number |= (byte & 127) << 7 * shift
        if byte < 128:
            return number, at + shift + 1
    raise _broken(where, start + at, "a number has no end")


def _broken(where: str, at: int, what: str) -> ArtefactError:
    return ArtefactError(
        f"{where}: byte {at:,}: {what}; the file is cut short or no SentencePiece model, fetch it again"
    )
