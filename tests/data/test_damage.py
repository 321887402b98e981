"""Damaged texts: as much is taken out as was said beforehand, anywhere, and what is to be said makes them whole."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import numpy as np
import pytest
from examples import BARE, END, FIRST_WORD, MASK, ONE, PAD, SEP, WORDS, apart, batch_of, examples, sizes, tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.data.goals.collate import Collation
from bough.data.goals.damage import Masks, Sentinels
from bough.data.goals.infill import Infill
from bough.errors import BoughError
from bough.text import Limit

HOLES = np.arange(WORDS + 99, WORDS - 1, -1)
NOWHERE = np.zeros(0, np.int64)
T5 = Collation(Infill(Sentinels(HOLES), END, END, PAD))
BART = Collation(Infill(Masks(MASK, NOWHERE), BARE, BARE, SEP))
LENGTHS = st.lists(st.integers(0, 60), max_size=6)
SURE = 5
"""As many standard deviations as a count may be off by chance."""


def _holes(ids: list[int]) -> dict[int, list[int]]:
    """What stands behind each sentinel."""
    held: dict[int, list[int]] = {}
    for one in ids:
        if one >= WORDS:
            assert one not in held
            held[one] = []
        else:
            held[list(held)[-1]].append(one)
    return held


def _counted(length: int) -> tuple[int, int]:
    """How many tokens T5 takes out of a text, and in how many spans, in so many words."""
    if length < 2:
        return 0, 0
    taken = min(max(round(length * 0.15), 1), length - 1)
    return taken, max(round(taken / 3), 1)


# T5


@settings(max_examples=50, deadline=None)
@given(LENGTHS, st.integers(0, 9))
def test_the_damaged_text_and_what_is_said_of_its_holes_are_the_text(lengths: list[int], seed: int) -> None:
    given = examples(lengths, seed)
    for found, one in zip(apart(batch_of(T5, given, seed)), given, strict=True):
        assert (found["source"][-1], found["words"][-1]) == (SEP, SEP)
        held = _holes(found["words"][:-1])
        # The sentinels go down from the vocabulary's end, in the order in which they stand.
        assert list(held) == [number for number in found["source"] if number >= WORDS] == HOLES[: len(held)].tolist()
        assert all(held.values())
        whole = [word for number in found["source"][:-1] for word in held.get(number, [number])]
        assert whole == one["ids"].tolist()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 700), min_size=1, max_size=9))
def test_how_much_is_taken_out_follows_from_the_length_as_published(lengths: list[int]) -> None:
    read, said = Sentinels(HOLES).lengths(np.array(lengths))
    counts = [_counted(length) for length in lengths]
    assert read.tolist() == [n - taken + spans for n, (taken, spans) in zip(lengths, counts, strict=True)]
    assert said.tolist() == [taken + spans for taken, spans in counts]


def test_a_text_of_568_tokens_fills_an_encoder_of_512_as_in_the_paper() -> None:
    fitting = Infill(Sentinels(HOLES), END, END, PAD, Limit(512))
    assert fitting.longest == 568
    given = examples([568, 569, 2000])
    batch = batch_of(Collation(fitting), given)
    assert batch.inputs.source is not None
    assert batch.inputs.source.lengths == (512, 512, 512)
    assert batch.inputs.lengths == (114, 114, 114)
    assert fitting.length(sizes(given)).tolist() == [626, 626, 626]


def test_what_a_decoder_reads_is_what_it_says_behind_its_start() -> None:
    given = examples([40, 0, 1, 9])
    for one in apart(batch_of(T5, given)):
        assert one["ids"] == [PAD, *one["words"][:-1]]
        assert one["at"] == list(range(len(one["words"])))
    said = [one["words"] for one in apart(batch_of(T5, given))]
    assert (said[1], said[2]) == ([SEP], [SEP])


def test_every_token_is_taken_out_as_often_as_any_other_and_short_texts_lose_more_than_their_end() -> None:
    given = [{"ids": np.arange(FIRST_WORD, FIRST_WORD + 12)} for _ in range(4000)]
    times = Counter(word for one in apart(batch_of(T5, given)) for word in one["words"] if FIRST_WORD <= word < WORDS)
    # Two tokens side by side: there are eleven places for them.
    assert times.keys() == set(range(FIRST_WORD, FIRST_WORD + 12))
    for place in range(12):
        share = (1 if place in (0, 11) else 2) / 11
        assert abs(times[FIRST_WORD + place] - 4000 * share) < SURE * sqrt(4000 * share * (1 - share))


def test_spans_are_cut_from_what_is_taken_out_in_every_way_alike() -> None:
    given = [{"ids": np.arange(FIRST_WORD, FIRST_WORD + 34)} for _ in range(4000)]
    found = Counter(tuple(map(len, _holes(one["words"][:-1]).values())) for one in apart(batch_of(T5, given)))
    assert found.keys() == {(1, 4), (2, 3), (3, 2), (4, 1)}
    assert all(abs(count - 1000) < SURE * sqrt(750) for count in found.values())


def test_more_spans_than_sentinels_become_longer_ones() -> None:
    few = Sentinels(HOLES[:4])
    (found,) = apart(batch_of(Collation(Infill(few, END, END, PAD)), examples([400])))
    held = _holes(found["words"][:-1])
    assert list(held) == HOLES[:4].tolist()
    assert sum(map(len, held.values())) == 60
    assert [read.tolist() for read in few.lengths(np.array([400]))] == [[344], [64]]


# BART


@settings(max_examples=50, deadline=None)
@given(LENGTHS, st.integers(0, 9))
def test_what_is_left_beside_the_masks_is_the_text_but_for_three_tokens_of_ten(lengths: list[int], seed: int) -> None:
    given = examples(lengths, seed)
    for found, one in zip(apart(batch_of(BART, given, seed)), given, strict=True):
        text = one["ids"].tolist()
        left = [word for word in found["source"] if word != MASK]
        rest = iter(text)
        assert all(word in rest for word in left)
        taken = int(np.ceil(len(text) * 0.3))
        assert len(left) == len(text) - taken
        assert found["source"].count(MASK) == min(taken, max(round(taken / 3), 1))
        assert found["words"] == text


def test_the_lengths_of_spans_are_poissons_none_among_them() -> None:
    # A text of words that count up tells how many stood where a mask stands.
    texts, length = 300, 170
    given = [{"ids": np.arange(FIRST_WORD, FIRST_WORD + length)} for _ in range(texts)]
    alone, beside = [], 0
    for one in apart(batch_of(BART, given)):
        marks = [FIRST_WORD - 1, *one["source"], FIRST_WORD + length]
        for before, mark, behind in zip(marks, marks[1:], marks[2:], strict=False):
            if mark == MASK and MASK not in (before, behind):
                alone.append(behind - before - 1)
            beside += mark == MASK
    assert beside == texts * 17
    widths = Counter(alone)
    # 51 tokens thrown into 17 spans: a binomial that is Poisson's with the mean of 3, but for its last digits.
    for width in range(8):
        share = _binomial(51, 1 / 17, width)
        assert abs(share - _poisson(3, width)) < 0.01
        assert abs(widths[width] / len(alone) - share) < SURE * sqrt(share * (1 - share) / len(alone))


def _binomial(count: int, rate: float, times: int) -> float:
    ways = np.prod([(count - n) / (n + 1) for n in range(times)])
    return float(ways * rate**times * (1 - rate) ** (count - times))


def _poisson(mean: float, times: int) -> float:
    return float(np.exp(-mean) * mean**times / np.prod(np.arange(1, times + 1), initial=1.0))


def test_sentences_change_places_whole_in_every_order_alike() -> None:
    stop, dot = 7, 8
    text = [20, 21, stop, 30, dot, dot, dot, 40, 41, 42]
    calm = Masks(MASK, np.array([stop, dot]), rate=0.0)
    given = [{"ids": np.array(text)} for _ in range(3000)]
    found = Counter(tuple(one["source"]) for one in apart(batch_of(Collation(Infill(calm, BARE, BARE, 0)), given)))
    parts = ((20, 21, stop), (30, dot, dot, dot), (40, 41, 42))
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    assert found.keys() == {sum((parts[number] for number in order), ()) for order in orders}
    assert all(abs(count - 500) < SURE * sqrt(3000 / 6 * 5 / 6) for count in found.values())
    assert all(one["words"] == text for one in apart(batch_of(Collation(Infill(calm, BARE, BARE, 0)), given[:9])))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(FIRST_WORD, 12), max_size=20), max_size=5), st.integers(0, 5))
def test_sentences_keep_their_words_and_texts_their_sentences(texts: list[list[int]], seed: int) -> None:
    given = [{"ids": np.array(text, np.int64)} for text in texts]
    calm = Masks(MASK, np.array([7, 8]), rate=0.0)
    for one, text in zip(apart(batch_of(Collation(Infill(calm, BARE, BARE, 0)), given, seed)), texts, strict=True):
        assert sorted(one["source"]) == sorted(text)
    mixed = Masks(MASK, np.array([7, 8]))
    for one, text in zip(apart(batch_of(Collation(Infill(mixed, BARE, BARE, 0)), given, seed)), texts, strict=True):
        assert not Counter(word for word in one["source"] if word != MASK) - Counter(text)


# Limits, and what a vocabulary must have


def test_a_text_is_cut_before_it_is_damaged_so_that_both_sides_fit() -> None:
    for policy in ("truncate", "head-tail"):
        collate = Infill(Masks(MASK, NOWHERE), ONE, ONE, SEP, Limit(30, policy))
        assert collate.longest == 28
        one = {"ids": np.arange(FIRST_WORD, FIRST_WORD + 50)}
        (found,) = apart(batch_of(Collation(collate), [one]))
        kept = one["ids"][:28] if policy == "truncate" else np.append(one["ids"][:14], one["ids"][-14:])
        assert found["words"][1:-1] == kept.tolist()
        assert len(found["source"]) <= 30


def test_limits_that_cannot_be_kept_are_errors() -> None:
    strict = Collation(Infill(Sentinels(HOLES), END, END, PAD, Limit(512, "error")))
    batch_of(strict, examples([568]))
    assert strict.length({"ids": np.array([569])}).tolist() == [627]
    with pytest.raises(BoughError) as error:
        batch_of(strict, examples([4, 569]))
    assert str(error.value) == (
        "item 1: has 569 tokens, and 568 come to the limit of 512 once they are damaged; shorten it, or let the policy "
        "be truncate or head-tail"
    )
    for length in (1, 2):
        with pytest.raises(BoughError, match=rf"^limit: {length} leaves no token beside the 2 special ones$"):
            Infill(Masks(MASK, NOWHERE), ONE, ONE, SEP, Limit(length))
    with pytest.raises(BoughError, match=r"^limit: the policy 'window' makes several sequences of one text"):
        Infill(Masks(MASK, NOWHERE), ONE, ONE, SEP, Limit(20, "window"))


def test_the_vocabulary_tells_the_sentinels_the_mask_and_what_ends_a_sentence() -> None:
    handle = tokenizer("<extra_id_2>", "<extra_id_1>", "<extra_id_0>", ".", "!?", "...", "w.")
    assert Sentinels.of(handle).sentinels.tolist() == [WORDS + 2, WORDS + 1, WORDS]
    assert Masks.of(handle).mask == MASK
    assert Masks.of(handle).ends.tolist() == [WORDS + 3, WORDS + 4, WORDS + 5]
    with pytest.raises(BoughError) as error:
        Sentinels.of(tokenizer())
    assert str(error.value) == (
        "<extra_id_0>: the vocabulary has no such token to stand for a span; train a tokenizer of the family t5, or "
        "damage texts as BART does, which takes a mask"
    )
    with pytest.raises(BoughError) as error:
        Masks.of(tokenizer(mask=False))
    assert str(error.value) == (
        "mask: the vocabulary has no mask token to stand for a span; train a tokenizer of a family that has one, such "
        "as bart"
    )


def test_another_epoch_damages_anew() -> None:
    given = examples([60] * 8)
    first, again, other = (apart(batch_of(T5, given, first=epoch * 8)) for epoch in (0, 0, 1))
    assert first == again
    assert all(one["source"] != two["source"] for one, two in zip(first, other, strict=True))
