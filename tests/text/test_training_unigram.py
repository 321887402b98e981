"""The arithmetic of unigram vocabularies: the sums over all ways to spell a word are those of trying every way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from bough.text.learning import unigram
from bough.text.learning.unigram import Pieces, Spans, Walk, learn

WORDS = {"abab": 3, "abb": 2, "b": 5, "aabba": 1}
SCORES = {"a": -1.0, "b": -2.0, "ab": -1.5, "ba": -4.0, "abb": -3.5, "abab": -9.0}


def ways(word: str) -> Iterator[list[str]]:
    """Every way to spell a word with pieces."""
    if not word:
        yield []
    for end in range(1, len(word) + 1):
        if word[:end] in SCORES:
            yield from ([word[:end], *rest] for rest in ways(word[end:]))


def score(way: list[str]) -> float:
    return sum(SCORES[piece] for piece in way)


@pytest.fixture
def laid() -> tuple[Pieces, Spans, list[str]]:
    """The words and pieces as arrays, and the pieces by number."""
    words = sorted(WORDS, key=lambda word: (-len(word), word))
    text, names = "".join(words), list(SCORES)
    table = np.full((len(text), unigram.LONGEST), -1, np.int32)
    start = 0
    for word in words:
        for place in range(len(word)):
            for number, piece in enumerate(names):
                if word.startswith(piece, place):
                    table[start + place, len(piece) - 1] = number
        start += len(word)
    lengths = np.array([len(word) for word in words])
    spans = Spans(np.cumsum(lengths) - lengths, lengths, np.array([float(WORDS[word]) for word in words]))
    first = np.array([text.index(piece) if piece in text else 0 for piece in names])
    pieces = Pieces(table, first, np.array([len(one) for one in names]), np.array([SCORES[one] for one in names]))
    return pieces, spans, names


def test_how_often_a_piece_is_expected_is_its_share_of_all_ways(laid: tuple[Pieces, Spans, list[str]]) -> None:
    pieces, spans, names = laid
    found = np.zeros(len(names) + 1)
    for block in spans.blocks():
        Walk.of(block, pieces.table, pieces.scores, unigram.together).expect(block.weights, found)
    wanted: Counter[str] = Counter()
    for word, count in WORDS.items():
        total = sum(math.exp(score(way)) for way in ways(word))
        for way in ways(word):
            for piece in way:
                wanted[piece] += count * math.exp(score(way)) / total
    assert found[:-1] == pytest.approx([wanted[name] for name in names])


def test_the_best_way_is_the_likeliest_of_all(laid: tuple[Pieces, Spans, list[str]]) -> None:
    pieces, spans, names = laid
    words = sorted(WORDS, key=lambda word: (-len(word), word))
    found: dict[str, list[str]] = {word: [] for word in words}
    for rows, numbers in Walk.of(spans, pieces.table, pieces.scores, unigram.likeliest).path():
        for row, number in zip(rows, numbers, strict=True):
            found[words[row]].append(names[number])
    assert found == {word: max(ways(word), key=score) for word in words}


def test_blocks_of_any_size_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {f"{a}{b}{a * 3}ing": len(a + b) for a in ("ab", "c", "der") for b in ("xy", "zzz", "q")}
    whole = learn(words, 30)
    monkeypatch.setattr(unigram, "BLOCK", 12)
    assert learn(words, 30) == whole


def test_a_frequent_word_is_a_piece_though_no_other_has_a_part_of_it() -> None:
    others = {first + second: 3 for first in ("walk", "talk", "jump", "look") for second in ("ing", "ed", "s", "er")}
    found = [piece for piece, _ in learn({**others, "Zarathustra": 500}, 30)]
    assert len(found) == 30
    assert "Zarathustra" in found
    assert set("Zarathustrawalkingedjumpos") <= set(found)
