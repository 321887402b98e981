"""Pieces of a translator's two sides, chosen as SentencePiece's own code chooses them, to be looked up as they are."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tokenizers import models

from bough.text.encoding import Word
from bough.text.reading.apart import Apart
from bough.text.reading.charsmap import SPACE, Charsmap, normalised
from bough.text.reading.sentencepiece import DEFINED, NORMAL, PieceModel, merges_of
from bough.text.reading.traced import Traced

PENALTY = 10.0
"""How much less than the least likely piece a letter scores that is in none."""
ALWAYS = -0.1
"""What a piece scores that always stays whole: more than any other."""
Cut = Callable[[str], Iterator[tuple[int, int, bool]]]
"""The start and end of each piece of a text, and whether it is known."""


def piece_finder(model: PieceModel, specials: Sequence[str], where: str) -> Callable[[str], list[Word]]:
    """What finds the pieces of a text; a language's code in front of it, such as >>fr<<, stays whole."""
    apart, table = Apart(specials), Charsmap(model.charsmap, where)
    cut = by_order(model) if model.merges else by_score(model)

    def find(text: str) -> list[Word]:
        words: list[Word] = []
        for start, end, special in apart(text):
            code = text.find("<<", start, end) + 2 if text.startswith(">>", start, end) else 1
            whole = end if special else max(start, code) if code > 1 else start
            if whole > start:
                words.append(Word(text[start:whole], [(start, whole)] * (whole - start)))
            traced = normalised(text[whole:end], whole, model, table)
            words += _words(traced, cut, model.byte_fallback)
        return words

    return find


def _words(text: Traced, cut: Cut, byte_fallback: bool) -> Iterator[Word]:
    """The pieces of a text; of one that is not known its bytes, where there are pieces for those."""
    for start, end, known in cut(text.text):
        piece = text.text[start:end]
        marked = piece.startswith(SPACE)
        # The sign of a space stands for no letter of the word behind it.
        span = text.span(start + (marked and len(piece) > 1), end)
        spelt = [piece] if known or not byte_fallback else [f"<0x{byte:02X}>" for byte in piece.encode()]
        for number, one in enumerate(spelt):
            yield Word(one, [span] * len(one), (marked or start == 0) and number == 0)


def by_score(model: PieceModel) -> Cut:
    """The pieces that are likeliest together, in numbers of 32 bits as theirs: what ties there ties here."""
    usual = [piece.score for piece in model.pieces if piece.kind == NORMAL]
    unknown = array("f", [min(usual, default=0.0) - PENALTY])[0]
    trie = _trie(model)

    def cut(text: str) -> Iterator[tuple[int, int, bool]]:
        best, rounded = array("f", bytes(4 * (len(text) + 1))), array("f", [0.0])
        came = [-1] * (len(text) + 1)
        known = bytearray(len(text) + 1)
        for start in range(len(text)):
            found = list(_beginning(trie, text, start))
            if not found or found[0][0] > start + 1:
                found.append((start + 1, unknown, False))
            for end, score, is_known in found:
                rounded[0] = best[start] + score
                if came[end] < 0 or rounded[0] > best[end]:
                    best[end], came[end], known[end] = rounded[0], start, is_known
        return _back(came, known, together=not model.byte_fallback)

    return cut


def _trie(model: PieceModel) -> dict[str, Any]:
    """Each letter leads to what may follow it; under the empty one is the score of the piece that ends there."""
    trie: dict[str, Any] = {}
    for piece in model.pieces:
        if piece.kind in (NORMAL, DEFINED):
            node = trie
            for letter in piece.text:
                node = node.setdefault(letter, {})
            node[""] = piece.score if piece.kind == NORMAL else ALWAYS
    return trie


def _beginning(trie: dict[str, Any], text: str, start: int) -> Iterator[tuple[int, float, bool]]:
    """Where each piece ends that begins here, the shortest first, and its score."""
    node = trie
    for place in range(start, len(text)):
        if text[place] not in node:
            return
        node = node[text[place]]
        if "" in node:
            yield place + 1, node[""], True


def _back(came: Sequence[int], known: bytearray, together: bool) -> Iterator[tuple[int, int, bool]]:
    """The path that came to the end; unknown letters in a row are one piece where they are taken together."""
    path: list[tuple[int, int, bool]] = []
    end = len(came) - 1
    while end > 0:
        start = came[end]
        if together and path and not known[end] and not path[-1][2]:
            path[-1] = (start, path[-1][1], False)
        else:
            path.append((start, end, bool(known[end])))
        end = start
    return reversed(path)


def by_order(model: PieceModel) -> Cut:
    """The pieces that merging makes, the best pair first."""
    numbers = {piece.text: number for number, piece in enumerate(model.pieces)}
    unknown = model.pieces[model.unknown].text
    merger = models.BPE(vocab=numbers, merges=merges_of(model), unk_token=unknown, fuse_unk=not model.byte_fallback)

    def cut(text: str) -> Iterator[tuple[int, int, bool]]:
        at, content = 0, text.encode()
        for token in merger.tokenize(text) if text else ():
            end = at + len(content[slice(*token.offsets)].decode())
            yield at, end, token.id != model.unknown
            at = end

    return cut
