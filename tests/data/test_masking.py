"""Hidden words: the right share of the right tokens, put right, and told."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from examples import BARE, MASK, ONE, ORDINARY, SEP, TWO, UNK, apart, batch_of, examples, some, tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.data.draw import Draw
from bough.data.feeding.items import Blocks
from bough.data.goals.chance import Chance
from bough.data.goals.collate import Collation
from bough.data.goals.masking import Masking, Tokens, Words, WordSpans, ordinary
from bough.data.goals.runs import Runs
from bough.data.goals.spans import geometric
from bough.data.goals.wrap import FIRST, SECOND, Wrap
from bough.data.storing.store import Store, writing
from bough.errors import BoughError
from bough.text import Limit, Template

CHOICES = [Tokens(), Words(), WordSpans()]
MANY = examples([50] * 4000)
SURE = 5
"""As many standard deviations as a share may be off by chance."""


def _near(found: float, wanted: float, count: float) -> bool:
    """Whether a share of so many independent things is what it should be."""
    return abs(found - wanted) < SURE * sqrt(wanted * (1 - wanted) / count)


def _told(collate: Collation, given: Any, **more: int) -> list[dict[str, Any]]:
    return apart(batch_of(collate, given, **more))


def _mended(one: dict[str, Any]) -> list[int]:
    ids = list(one["ids"])
    for row, word in zip(one["at"], one["words"], strict=True):
        ids[row] = word
    return ids


@pytest.mark.parametrize("choice", CHOICES, ids=repr)
@settings(max_examples=50, deadline=None)
@given(lengths=st.lists(st.integers(0, 30), max_size=6), rate=st.floats(0.01, 1), seed=st.integers(0, 9))
def test_what_is_told_put_back_gives_the_text_and_only_its_own_tokens_are_hidden(
    choice: Tokens, lengths: list[int], rate: float, seed: int
) -> None:
    given = examples(lengths, seed)
    wrap, masking = Wrap(TWO, None, (FIRST, SECOND)), Masking(MASK, ORDINARY, rate, choice)
    plain, found = _told(Collation(wrap), given), _told(Collation(wrap, (masking,)), given, seed=seed)
    for before, after, one in zip(plain, found, given, strict=True):
        assert _mended(after) == before["ids"]
        assert after["at"] == sorted(set(after["at"]))
        assert all(word in ORDINARY for word in after["words"])
        assert bool(after["at"]) == bool(len(one["ids"]) + len(one["ids_pair"]))


@pytest.mark.parametrize("length", [7, 20, 50])
def test_fifteen_tokens_of_a_hundred_are_hidden_whatever_the_length(length: int) -> None:
    told = batch_of(Collation(Wrap(ONE), (Masking(MASK, ORDINARY),)), examples([length] * 4000))
    # Of each text it is the number below or above, so that the count of one is off by half a token at most.
    assert abs(len(told.goals["at"]) / (4000 * length) - 0.15) < SURE * 0.5 / sqrt(4000) / length


@pytest.mark.parametrize("choice", [Words(), WordSpans()], ids=repr)
def test_of_whole_words_and_spans_as_many_tokens_are_hidden_in_the_mean(choice: Tokens) -> None:
    told = batch_of(Collation(Wrap(ONE), (Masking(MASK, ORDINARY, choice=choice),)), MANY)
    # Four or five words of 1.6 tokens: the tokens of one text spread by three.
    assert abs(len(told.goals["at"]) / (4000 * 50) - 0.15) < SURE * 3 / sqrt(4000) / 50


def test_each_text_has_its_share_to_the_next_whole_number() -> None:
    found = _told(Collation(Wrap(ONE), (Masking(MASK, ORDINARY),)), examples([10] * 9000))
    counts = Counter(len(one["at"]) for one in found)
    assert counts.keys() == {1, 2}
    assert _near(counts[2] / 9000, 0.5, 9000)
    found = _told(Collation(Wrap(ONE), (Masking(MASK, ORDINARY),)), examples([1, 2, 3, 0] * 100))
    assert [len(one["at"]) for one in found] == [1, 1, 1, 0] * 100


def test_every_token_is_hidden_as_often_as_any_other() -> None:
    found = _told(Collation(Wrap(ONE), (Masking(MASK, ORDINARY),)), MANY)
    times = Counter(row for one in found for row in one["at"])
    assert sorted(times) == list(range(1, 51))
    assert all(_near(count / len(MANY), 0.15, len(MANY)) for count in times.values())


@pytest.mark.parametrize("choice", [Tokens(), Words()], ids=repr)
def test_of_what_is_hidden_eight_in_ten_are_masks_one_another_word_and_one_itself(choice: Tokens) -> None:
    masking = Masking(MASK, ORDINARY, choice=choice)
    batch = batch_of(Collation(Wrap(ONE), (masking,)), MANY)
    put, was = batch.inputs.ids[batch.goals["at"]], batch.goals["words"]
    # A word put in the place of another is by chance the same, once in so many words as there are.
    itself = 0.1 + 0.1 / len(ORDINARY)
    shares = [float((put == MASK).float().mean()), float((put == was).float().mean())]
    assert _near(shares[0], 0.8, len(put))
    assert _near(shares[1], itself, len(put))
    times = torch.bincount(put[(put != MASK) & (put != was)])[ORDINARY]
    even = times.sum() / len(ORDINARY)
    assert abs(float(((times - even) ** 2 / even).sum()) - len(ORDINARY)) < SURE * sqrt(2 * len(ORDINARY))


def test_words_are_hidden_whole_and_as_often_as_any_other() -> None:
    given = examples([40] * 3000, seed=3)
    found = _told(Collation(Wrap(ONE), (Masking(MASK, ORDINARY, choice=Words()),)), given)
    times: Counter[int] = Counter()
    hidden = words = 0
    for one, example in zip(found, given, strict=True):
        word = np.cumsum(example["starts"]) - 1
        chosen = {int(word[row - 1]) for row in one["at"]}
        assert one["at"] == [row + 1 for row in range(40) if int(word[row]) in chosen]
        times.update(chosen)
        hidden, words = hidden + len(chosen), words + int(word[-1]) + 1
    assert _near(hidden / words, 0.15, words)
    assert all(_near(times[number] / 3000, 0.15, 3000) for number in range(15))


def test_spans_have_the_lengths_published_and_share_their_fate() -> None:
    # Of texts this long no span is cut short but each text's last, and few lie side by side.
    texts = Runs(np.full(60, 4000))
    spans = geometric(texts, np.full(60, 600), 0.2, 10, Chance(Draw(0), range(60)))
    assert spans.runs.sums(spans.widths).tolist() == [600] * 60
    whole = np.ones(spans.runs.total, np.bool_)
    found = Counter(spans.widths[whole].tolist())
    shares = 0.8 ** np.arange(10) / (0.8 ** np.arange(10)).sum()
    assert float(np.sum(shares * np.arange(1, 11))) == pytest.approx(3.797, abs=1e-3)  # SpanBERT says 3.8
    for length, share in enumerate(shares, 1):
        assert abs(found[length] / spans.runs.total - share) < 60 / spans.runs.total + 0.012
    given = examples([400] * 300)
    batch = batch_of(Collation(Wrap(BARE), (Masking(MASK, ORDINARY, choice=WordSpans()),)), given)
    at, put = batch.goals["at"], batch.inputs.ids[batch.goals["at"]]
    beside = torch.diff(at) == 1
    same = (put[1:] == MASK) == (put[:-1] == MASK)
    # Were each token's fate its own, neighbours would be both masked or both not 0.68 of the time.
    assert float(same[beside].float().mean()) > 0.93
    assert abs(float((put == MASK).float().mean()) - 0.8) < 0.02


def test_spans_of_words_hold_whole_words() -> None:
    given = examples([30] * 200, seed=5)
    for one, example in zip(
        _told(Collation(Wrap(ONE), (Masking(MASK, ORDINARY, choice=WordSpans()),)), given), given, strict=True
    ):
        word = np.cumsum(example["starts"])
        chosen = {int(word[row - 1]) for row in one["at"]}
        assert one["at"] == [row + 1 for row in range(30) if int(word[row]) in chosen]


def test_special_tokens_inside_a_text_are_neither_hidden_nor_put_in() -> None:
    given = [{"ids": np.array([10, UNK, 3, 11, 250, 12] * 3)} for _ in range(200)]
    batch = batch_of(Collation(Wrap(BARE), (Masking(MASK, ORDINARY, 1.0, parts=(0.0, 1.0, 0.0)),)), given)
    assert set(batch.goals["words"].tolist()) == {10, 11, 12}
    assert len(batch.goals["words"]) == 200 * 9
    assert batch.inputs.ids[batch.goals["at"]].min() >= ORDINARY[0]


def test_what_stands_around_a_text_is_not_hidden_though_it_be_an_ordinary_word() -> None:
    led = Template(((9, 9, 9), (9,)), ((0, 0, 0), (0,)), (0,))
    batch = batch_of(Collation(Wrap(led), (Masking(MASK, ORDINARY, 1.0),)), [{"ids": np.array([10, 11])}])
    assert (batch.goals["at"].tolist(), batch.goals["words"].tolist()) == ([3, 4], [10, 11])


def test_the_span_that_is_cut_short_may_lie_anywhere() -> None:
    # Of lengths 1 and 2, as often the one as the other, up to 3: 2 and 1 half of the time, 1 and 2 a quarter, then 1s.
    texts = Runs(np.full(4000, 20))
    spans = geometric(texts, np.full(4000, 3), 1e-9, 2, Chance(Draw(0), range(4000)))
    two = spans.widths[spans.runs.spread(spans.runs.lengths) == 2].reshape(-1, 2)
    assert abs(len(two) / 4000 - 0.75) < SURE * sqrt(0.75 * 0.25 / 4000)
    assert abs(float((two[:, 0] == 2).mean()) - 0.5) < SURE * 0.5 / sqrt(len(two))


def test_what_is_masked_of_a_pair_is_of_both_texts_alike() -> None:
    given = [{"ids": np.arange(10, 40), "ids_pair": np.arange(50, 80)} for _ in range(2000)]
    found = _told(Collation(Wrap(TWO, None, (FIRST, SECOND)), (Masking(MASK, ORDINARY),)), given)
    times = Counter(word for one in found for word in one["words"])
    assert sorted(times) == [*range(10, 40), *range(50, 80)]
    assert all(_near(count / 2000, 0.15, 2000) for count in times.values())


def test_the_vocabulary_tells_the_mask_and_which_words_are_ordinary() -> None:
    handle = tokenizer("<extra_id_0>", "<extra_id_1>")
    masking = Masking.of(handle)
    assert masking.mask == MASK
    assert np.array_equal(ordinary(handle), ORDINARY)
    assert np.array_equal(masking.ordinary, ORDINARY)
    with pytest.raises(BoughError) as error:
        Masking.of(tokenizer(mask=False))
    assert str(error.value) == (
        "mask: the vocabulary has no mask token, so no word can be hidden; train a tokenizer of a family that has one, "
        "such as bert, or learn by another objective, such as causal"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rate": 0.0}, "rate: must be above 0 and at most 1, not 0.0"),
        ({"rate": 1.5}, "rate: must be above 0 and at most 1, not 1.5"),
        ({"parts": (0.8, 0.1, 0.2)}, "parts: must be three shares that make 1, not (0.8, 0.1, 0.2)"),
        ({"parts": (1.2, -0.1, -0.1)}, "parts: must be three shares that make 1, not (1.2, -0.1, -0.1)"),
    ],
)
def test_shares_that_are_none_are_errors(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BoughError) as error:
        Masking(MASK, ORDINARY, **changes)
    assert str(error.value) == said


def test_whole_words_need_to_be_told_where_words_start() -> None:
    with pytest.raises(BoughError) as error:
        batch_of(Collation(Wrap(ONE), (Masking(MASK, ORDINARY, choice=Words()),)), [{"ids": np.array([10])}])
    assert str(error.value) == (
        "starts: the examples do not say where words start; prepare the data with it, or hide single tokens"
    )


def test_a_block_of_several_documents_is_masked_as_one_text() -> None:
    given = [{"ids": np.array([10, 11, 3, 12, 13, 3]), "starts": np.array([1, 0, 0, 0, 1, 0])}] * 300
    found = _told(Collation(Wrap(BARE), (Masking(MASK, ORDINARY, 0.5, Words()),)), given)
    # What stands behind a special token is of another word than what stood before it.
    assert {tuple(one["words"]) for one in found} == {(10, 11), (12,), (13,), (10, 11, 12), (10, 11, 13), (12, 13)}
    assert _told(Collation(Wrap(BARE), (Masking(MASK, ORDINARY),)), some()) != []


def test_documents_joined_in_blocks_fill_what_a_net_reads_and_lose_nothing(tmp_path: Path) -> None:
    documents = [one["ids"].tolist() for one in examples([30, 7, 0, 45, 1, 60, 25])]
    with writing(tmp_path / "store") as writer:
        for ids in documents:
            writer.add({"ids": ids, "starts": [1] * len(ids)})
    blocks = Blocks(Store(tmp_path / "store"), 14, "join", separator=SEP)
    collate = Collation(Wrap(ONE, Limit(16)), (Masking(MASK, ORDINARY),))
    epochs = [[collate([blocks.get(number, 0)], [number + start], Draw(0)) for number in range(len(blocks))]
              for start in (0, 0, len(blocks))]  # fmt: skip
    for batches in epochs:
        told = [one for batch in batches for one in apart(batch)]
        assert [len(one["ids"]) for one in told[:-1]] == [16] * (len(blocks) - 1)
        stream = [word for one in told for word in _mended(one)[1:-1]]
        assert stream == [word for ids in documents for word in [*ids, SEP]]
    # RoBERTa hides other words every time a text is read.
    first, again, later = ([apart(batch)[0]["at"] for batch in batches] for batches in epochs)
    assert first == again
    assert sum(one != other for one, other in zip(first, later, strict=True)) > len(blocks) / 2
