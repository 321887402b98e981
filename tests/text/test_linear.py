"""A text of a million letters costs what a million letters cost, whatever they are, with every kind of vocabulary."""

from __future__ import annotations

import random
import time

import pytest
from tokenizers import models
from toys import KINDS, wordpiece

from bough.text import Limit, Tokenizer

SMALL, LARGE = 2**16, 2**20
RATIO = LARGE // SMALL
MARGIN = 4
"""Larger memory is slower; the square of the length would be sixteen times this."""
SLOW = pytest.mark.slow
BYTES = random.Random(0).randbytes(LARGE)


def monsters(length: int) -> dict[str, str]:
    """Texts that nobody writes."""
    return {
        "one letter": "a" * length,
        "random bytes": BYTES[:length].decode("latin-1"),
        "random bytes mended": BYTES[:length].decode("utf-8", "replace"),
        "spaces": " " * length,
        "accents": "a" + "\u0301" * (length - 1),
    }


def seconds(tokenizer: Tokenizer, text: str) -> float:
    """Of the processor, to encode a text and read what is in it."""
    start = time.process_time()
    found = tokenizer.encode(text, limit=512)
    assert len(found.ids) == len(found.offsets)
    return time.process_time() - start


@pytest.mark.parametrize("kind", KINDS.keys() - {"bare_merges", "languages", "suffixed"})
@pytest.mark.parametrize("text", [*monsters(0)][:2] + [pytest.param(one, marks=SLOW) for one in [*monsters(0)][2:]])
def test_a_megabyte_costs_sixteen_times_a_sixteenth_of_it(kind: str, text: str) -> None:
    tokenizer = Tokenizer(KINDS[kind]())
    small = min(seconds(tokenizer, monsters(SMALL)[text]) for _ in range(2))
    assert seconds(tokenizer, monsters(LARGE)[text]) < RATIO * MARGIN * max(small, 0.002)


def test_a_word_that_is_longer_than_wordpiece_takes_apart_is_unknown() -> None:
    inner = wordpiece()
    model = inner.model
    assert isinstance(model, models.WordPiece)
    model.max_input_chars_per_word = 10**9
    tokenizer = Tokenizer(inner)
    assert tokenizer.encode("b" * 256).tokens == ["[CLS]", "b", *["##b"] * 255, "[SEP]"]
    assert tokenizer.encode("b" * 257).tokens == ["[CLS]", "[UNK]", "[SEP]"]


def test_published_files_keep_their_own_bound() -> None:
    tokenizer = Tokenizer(wordpiece())
    assert tokenizer.encode("b" * 101).tokens == ["[CLS]", "[UNK]", "[SEP]"]


def test_the_windows_of_a_long_text_cost_what_the_text_costs() -> None:
    tokenizer = Tokenizer(KINDS["merges"]())

    def took(length: int) -> float:
        start = time.process_time()
        windows = tokenizer.windows(["b c" * (length // 3)], Limit(128, "window", 16))[0]
        assert sum(len(one.ids) + len(one.offsets) for one in windows) > length // 2
        return time.process_time() - start

    assert took(LARGE) < RATIO * MARGIN * min(took(SMALL) for _ in range(3))
