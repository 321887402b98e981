"""What a vocabulary does to a corpus, counted by hand and in pieces of any size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scripts import texts

from bough.text.learning import measure as room
from bough.text.learning.kinds import Kind
from bough.text.learning.measure import Measure, Sample, measure
from bough.text.learning.train import train
from bough.text.tokenizer import Tokenizer

LEARNT = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog"] * 3


@pytest.fixture(scope="module")
def words() -> Tokenizer:
    return train(LEARNT, "word", 100)


def of(tokenizer: Tokenizer, some: list[str]) -> Measure:
    return measure(some, [tokenizer])[0]


def test_figures_are_those_counted_by_hand(words: Tokenizer) -> None:
    found = of(words, ["the cat sat, purring", "", "a log"])
    assert found.plain() == {
        "vocabulary": 14,
        "texts": 3,
        "words": 6,
        "bytes": 25,
        "pieces": 7,  # the comma is one
        "unknown_pieces": 2,
        "unknown_words": 2,  # `sat,` and `purring`
        "longest": 5,
        "pieces_per_word": round(7 / 6, 6),
        "bytes_per_piece": round(25 / 7, 6),
        "pieces_unknown": round(2 / 7, 6),
        "words_unknown": round(2 / 6, 6),
        "used": round(6 / 14, 6),  # the, cat, sat, a, log and what stands for the unknown
    }


@pytest.mark.parametrize("kind", ["word", "character", "bpe", "bytes", "wordpiece", "unigram"])
def test_pieces_are_those_of_the_texts_themselves(kind: Kind) -> None:
    tokenizer = train(LEARNT, kind, 300)
    found, each = of(tokenizer, texts()), tokenizer.ids(texts())
    assert (found.texts, found.pieces) == (len(texts()), sum(map(len, each)))
    assert found.longest == max(map(len, each))
    assert found.seen == {number for ids in each for number in ids}
    assert found.unknown_pieces == sum(ids.count(tokenizer.specials.unk) for ids in each)
    assert found.bytes == sum(len(text.encode()) for text in texts())


def test_a_word_is_unknown_once_however_many_of_its_pieces_are() -> None:
    letters = train(["a b c"], "character", 20)
    assert of(letters, ["abc xyz axa"]).unknown_words == 2
    assert of(letters, ["abc xyz axa"]).unknown_pieces == 4


def test_a_vocabulary_of_bytes_knows_all(words: Tokenizer) -> None:
    found = of(train(LEARNT, "bytes", 300), texts())
    assert (found.unknown_pieces, found.words_unknown) == (0, 0)


def test_tokenizers_are_measured_side_by_side_on_texts_that_come_only_once(words: Tokenizer) -> None:
    both = [words, train(LEARNT, "bytes", 300)]
    assert [one.plain() for one in measure(iter(LEARNT), both)] == [of(one, LEARNT).plain() for one in both]


def test_texts_are_read_as_they_come_and_long_ones_in_parts(words: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "TEXTS", 2)
    taken = 0

    def some() -> Iterator[str]:
        nonlocal taken
        for _ in range(9):
            taken += 1
            yield "the cat"

    stream = some()
    held = list(room.batches(stream))
    assert [len(one) for one in held] == [2, 2, 2, 2, 1]
    long = "the cat sat on a mat " * 30_000
    assert len(list(room.batches([long]))) > 1
    found = of(words, [long, "a"])
    assert (found.texts, found.pieces, found.longest) == (2, 180_001, 180_000)


def test_no_texts_measure_as_nothing(words: Tokenizer) -> None:
    assert of(words, []).plain()["pieces_per_word"] == 0


def test_a_sample_is_spread_over_the_whole_of_a_stream() -> None:
    sample = Sample(10)
    assert list(sample.passing(map(str, range(100)))) == [str(number) for number in range(100)]
    assert sample.texts == [str(number) for number in range(0, 100, 16)]
    short = Sample(10)
    assert list(short.passing(["a" * 10**4])) == ["a" * 10**4]
    assert [len(one) for one in short.texts] == [4096]
