"""Pairs of stretches: in order or not, next or from elsewhere, and anew in every epoch."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from examples import MASK, TWO, apart
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.data.feeding.feed import Feed
from bough.data.goals.collate import Collation, Label
from bough.data.goals.masking import Masking, Words
from bough.data.goals.pairs import SentencePairs
from bough.data.goals.wrap import FIRST, SECOND, Wrap
from bough.data.storing.store import Store, writing
from bough.errors import BoughError

SURE = 5
"""As many standard deviations as a count may be off by chance."""
DOCUMENTS = [[5, 9, 3, 8, 4], [30], [6, 6], [1], [], [2, 2, 2, 2, 2, 2, 2, 2], [0, 7, 0, 7]]
"""How long the rows of each document are."""


def _store(folder: Path, documents: Sequence[Sequence[int]], column: bool = True) -> Store:
    """Documents of ids that count up, so that an id is a place in the store; every third begins a word."""
    place = 0
    with writing(folder) as writer:
        for number, rows in enumerate(documents):
            for length in rows:
                ids = list(range(place, place + length))
                plain = {"document": number} if column else {}
                writer.add({"ids": ids, "starts": [int(one % 3 == 0) for one in ids]}, plain)
                place += length
    return Store(folder)


def _all(pairs: SentencePairs, epoch: int = 0) -> list[dict[str, Any]]:
    return [dict(pairs.get(number, epoch)) for number in range(len(pairs))]


def _span(ids: Any) -> tuple[int, int]:
    """Where in the store a text lies, which has to be in one piece."""
    assert np.array_equal(ids, np.arange(ids[0], ids[0] + len(ids)))
    return int(ids[0]), int(ids[0]) + len(ids)


def _documents(documents: Sequence[Sequence[int]]) -> Any:
    """The document that each token of the store is of."""
    return np.repeat(np.arange(len(documents)), [sum(rows) for rows in documents])


@pytest.mark.parametrize("asks", ["next", "order"])
@settings(max_examples=20, deadline=None)
@given(
    documents=st.lists(st.lists(st.integers(0, 12), max_size=6), min_size=1, max_size=6),
    length=st.integers(2, 20), seed=st.integers(0, 5), epoch=st.integers(0, 3),
)  # fmt: skip
def test_pairs_are_what_they_say(
    tmp_path_factory: pytest.TempPathFactory, asks: Literal["next", "order"], documents: list[list[int]], length: int,
    seed: int, epoch: int,
) -> None:  # fmt: skip
    documents = [[2, 3], *documents, [4]]
    store, whose = _store(tmp_path_factory.mktemp("store") / "one", documents), _documents(documents)
    pairs = SentencePairs(store, length, asks, seed)
    seen: list[int] = []
    for one in _all(pairs, epoch):
        first, second = _span(one["ids"]), _span(one["ids_pair"])
        assert len(one["ids"]) + len(one["ids_pair"]) <= length
        assert len({int(whose[place]) for place in range(*first)}) == 1
        assert len({int(whose[place]) for place in range(*second)}) == 1
        same = whose[first[0]] == whose[second[0]]
        if asks == "next":
            assert one["pair"] == (0 if same else 1)
            assert not same or first[1] == second[0]
        else:
            assert first[1] == second[0] if one["pair"] == 0 else second[1] == first[0]
            seen += [*range(*first), *range(*second)]
        for name in ("", "_pair"):
            assert np.array_equal(one["starts" + name], np.array(one["ids" + name]) % 3 == 0)
    counts = pairs.lengths(np.arange(len(pairs)), epoch)
    assert counts["ids"].tolist() == [len(one["ids"]) for one in _all(pairs, epoch)]
    assert counts["ids_pair"].tolist() == [len(one["ids_pair"]) for one in _all(pairs, epoch)]
    if asks == "order":
        # Every token is in one pair, but for those that are alone between longer rows or at a document's end.
        left = sorted(set(range(len(whose))) - set(seen))
        assert len(seen) == len(set(seen))
        assert not any(whose[one] == whose[two] and two == one + 1 for one, two in pairwise(left))


def test_half_of_the_pairs_are_real_and_half_are_not(tmp_path: Path) -> None:
    store = _store(tmp_path / "store", [[7, 9, 5, 8] * 50] * 40)
    for asks in ("next", "order"):
        pairs = SentencePairs(store, 40, asks)
        labels = np.concatenate([pairs.plan(np.arange(len(pairs)), epoch).labels for epoch in range(5)])
        assert abs(labels.mean() - 0.5) < SURE * 0.5 / sqrt(len(labels))


def test_pairs_are_cut_and_labelled_anew_in_every_epoch_and_the_same_in_the_same(tmp_path: Path) -> None:
    pairs = SentencePairs(_store(tmp_path / "store", [[4, 5, 6, 3] * 20] * 5), 30, "next")
    plans = [pairs.plan(np.arange(len(pairs)), epoch) for epoch in (0, 1, 0)]
    for first, other, again in zip(*plans, strict=True):
        np.testing.assert_array_equal(first, again)
        assert np.mean(np.asarray(first) != np.asarray(other)) > 0.2
    elsewhere = SentencePairs(pairs.store, 30, "next", seed=1).plan(np.arange(len(pairs)), 0)
    assert (elsewhere.labels != plans[0].labels).any()


def test_cuts_are_between_rows_each_as_often_and_inside_one_only_where_it_is_alone(tmp_path: Path) -> None:
    store = _store(tmp_path / "store", [[10, 10, 10, 10], [40], [12, 100]])
    pairs = SentencePairs(store, 40, "order")
    bounds, firsts, lasts, *_ = pairs.stretches
    assert [(int(bounds[a]), int(bounds[b])) for a, b in zip(firsts, lasts, strict=True)] == [
        (0, 40), (40, 80), (80, 92), (92, 132), (132, 172), (172, 192)]  # fmt: skip
    cuts = [Counter[int](), Counter[int]()]
    for epoch in range(1500):
        first, _, labels = pairs.plan(np.arange(2), epoch)
        for number in range(2):
            cuts[number][int(first[0 if labels[number] else 1][number])] += 1
    assert cuts[0].keys() == {10, 20, 30}
    assert all(abs(count - 500) < SURE * sqrt(1500 / 3 * 2 / 3) for count in cuts[0].values())
    assert cuts[1].keys() == set(range(41, 80))


def test_what_does_not_follow_starts_a_stretch_of_any_other_document_alike(tmp_path: Path) -> None:
    documents = [[20] * 2, [20] * 4, [20] * 6]
    store = _store(tmp_path / "store", documents)
    pairs = SentencePairs(store, 40, "next")
    assert len(pairs) == 6
    starts: Counter[int] = Counter()
    epochs = 2000
    for epoch in range(epochs):
        (_, _), (second, end), labels = pairs.plan(np.array([0]), epoch)
        if labels[0]:
            starts[int(second[0])] += 1
            assert end[0] - second[0] == 20
    # The first document's only stretch is paired with the five of the others.
    assert starts.keys() == {40, 80, 120, 160, 200}
    each = epochs / 10
    assert all(abs(count - each) < SURE * sqrt(each) for count in starts.values())


def test_rows_without_documents_are_documents_each(tmp_path: Path) -> None:
    pairs = SentencePairs(_store(tmp_path / "store", [[8, 1, 6], [7]], column=False), 6, "next")
    bounds, firsts, lasts, *_ = pairs.stretches
    # Of the row of one token, and of the one left behind six of seven, there is no pair.
    assert [(int(bounds[a]), int(bounds[b])) for a, b in zip(firsts, lasts, strict=True)] == [
        (0, 6), (6, 8), (9, 15), (15, 21)]  # fmt: skip


def test_what_cannot_be_paired_is_an_error(tmp_path: Path) -> None:
    alone = _store(tmp_path / "alone", [[5, 5], [1]])
    with pytest.raises(BoughError) as error:
        SentencePairs(alone, 8)
    assert str(error.value) == (
        "pairs: there is one document, and what does not follow comes from another; separate documents by blank lines, "
        "or ask for the order"
    )
    assert len(SentencePairs(alone, 8, "order")) == 2
    with pytest.raises(BoughError) as error:
        SentencePairs(_store(tmp_path / "short", [[1], [1], [0]]), 8, "order")
    assert str(error.value) == "pairs: no document has two tokens, so there is nothing to pair; give longer texts"
    with pytest.raises(BoughError) as error:
        SentencePairs(alone, 1)
    assert str(error.value) == "length: 1 tokens hold no pair; give 2 or more"


def test_pairs_are_fed_masked_and_go_on_exactly_where_they_were_left(tmp_path: Path) -> None:
    store = _store(tmp_path / "store", [[7, 9, 5, 8] * 5, [6, 4] * 20, [90]])
    pairs = SentencePairs(store, 29, "next")
    wrap = Wrap(TWO, None, (FIRST, SECOND))
    masking = Masking(MASK, np.arange(5, 1000), choice=Words())
    collate = Collation(wrap, (Label("pair", "pair"), masking))

    def feed() -> Feed:
        return Feed(pairs, collate, 128, seed=3, epochs=3)

    whole = list(feed())
    assert sorted(number for batch in whole for number in batch.items) == list(range(3 * len(pairs)))
    assert all(batch.tokens <= 128 for batch in whole)
    first = feed()
    for _, batch in zip(range(4), first, strict=False):
        assert len(batch.goals["at"]) > 0
    second = feed()
    second.resume(first.state())
    for ours, theirs in zip(second, whole[4:], strict=True):
        assert ours.items == theirs.items
        assert apart(ours) == apart(theirs)
    assert any(torch.any(batch.inputs.ids == MASK) for batch in whole)


def test_finding_a_pair_takes_as_long_in_a_great_store_as_in_a_small_one(tmp_path: Path) -> None:
    times: list[float] = []
    for name, count in (("small", 50), ("great", 2000)):
        pairs = SentencePairs(_store(tmp_path / name, [[7, 9, 5, 8] * 2] * count), 29)
        numbers = np.random.default_rng(0).integers(0, len(pairs), 150).tolist()
        pairs.get(0, 0)
        begin = time.process_time()
        for number in numbers:
            pairs.get(number, 1)
        times.append(time.process_time() - begin)
    assert times[1] < 5 * times[0]


def test_draws_of_pairs_depend_on_the_pair_alone(tmp_path: Path) -> None:
    pairs = SentencePairs(_store(tmp_path / "store", [[4, 5, 6, 3] * 20] * 5), 30)
    together = pairs.plan(np.arange(len(pairs)), 2)
    for number in range(len(pairs)):
        alone = pairs.plan(np.array([number]), 2)
        for one, all_of_them in zip(alone, together, strict=True):
            np.testing.assert_array_equal(np.asarray(one)[..., 0], np.asarray(all_of_them)[..., number])
