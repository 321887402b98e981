"""Orders follow from a seed alone, at any place of them; batches keep to their budget and leave little of it unused."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.data.draw import Draw, mixed
from bough.data.feeding.order import cut, permuted, share

LENGTHS = st.lists(st.integers(1, 50), min_size=1, max_size=80)
MANY = 10**8


def test_draws_are_those_of_splitmix64() -> None:
    assert [f"{int(one):x}" for one in mixed(np.arange(1, dtype=np.uint64))] == ["e220a8397b1dcdaf"]


def test_a_draw_is_the_same_in_whatever_company() -> None:
    draw = Draw(7)
    together = draw.uniform(1, np.arange(50)[:, None], np.arange(20))
    assert together.shape == (50, 20)
    assert all(draw.uniform(1, item, np.arange(20)).tolist() == together[item].tolist() for item in range(50))
    assert draw.uniform(1, np.array([9, 3]), np.array([4, 5])).tolist() == [together[9, 4], together[3, 5]]
    assert draw.uniform(1, 9, 4).tolist() == [together[9, 4]]


def test_another_seed_purpose_item_or_position_draws_another_number() -> None:
    drawn = [
        Draw(seed).bits(purpose, np.arange(-40, 40)[:, None], np.arange(40))
        for seed in (0, 1, -1)
        for purpose in (1, 2)
    ]
    assert len(np.unique(np.stack(drawn))) == 6 * 80 * 40


def test_draws_are_even_and_below_their_limit() -> None:
    drawn = Draw(0).uniform(3, np.arange(100_000))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert np.bincount((drawn * 10).astype(int)).tolist() == pytest.approx([10_000] * 10, rel=0.05)
    below = Draw(0).below(np.arange(1, 1001), 3, np.arange(1000))
    assert (below >= 0).all()
    assert (below < np.arange(1, 1001)).all()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 15, 16, 17, 64, 65, 1000, 4097])
def test_every_item_has_one_place_in_every_epoch(count: int) -> None:
    orders = [permuted(np.arange(count), count, Draw(seed), epoch) for seed in (0, 1) for epoch in (0, 1, 2)]
    assert all(sorted(order.tolist()) == list(range(count)) for order in orders)
    if count > 15:
        assert len({tuple(order.tolist()) for order in orders}) == len(orders), "each epoch and seed has its own"


def test_any_stretch_of_an_order_is_had_without_the_rest_of_it() -> None:
    whole = permuted(np.arange(5000), 5000, Draw(3), 1)
    assert permuted(np.arange(1234, 1300), 5000, Draw(3), 1).tolist() == whole[1234:1300].tolist()
    assert permuted(np.array([4999, 0]), 5000, Draw(3), 1).tolist() == whole[[4999, 0]].tolist()


def test_the_order_of_a_hundred_million_items_takes_no_memory_and_is_thorough() -> None:
    places = np.arange(MANY - 2**16, MANY)
    tracemalloc.start()
    found = permuted(places, MANY, Draw(5), 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 2**20
    assert len(np.unique(found)) == len(places)
    assert 0 <= found.min() <= found.max() < MANY
    tenths = np.bincount(found // (MANY // 10), minlength=10)
    assert tenths.tolist() == pytest.approx([6553.6] * 10, rel=0.07), "neighbours come from everywhere"
    rising = (np.diff(found) > 0).mean()
    assert rising == pytest.approx(0.5, abs=0.02)
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.02


@given(LENGTHS, st.integers(50, 200), st.integers(0, 200))
def test_batches_keep_to_the_budget_and_only_the_last_could_hold_more(
    lengths: list[int], budget: int, held: int
) -> None:
    held = min(held, budget)
    batches = [batch.tolist() for batch in cut(np.array(lengths), budget, held)]
    assert sorted(item for batch in batches for item in batch) == list(range(len(lengths)))
    rooms = [budget - sum(lengths[item] for item in batch) for batch in batches]
    rooms[0] -= held
    assert min(rooms) >= 0
    for number, room in enumerate(rooms):
        later = [lengths[item] for batch in batches[number + 1 :] for item in batch]
        assert not later or room < min(later)


@given(LENGTHS)
def test_items_of_one_length_keep_their_order(lengths: list[int]) -> None:
    order = [item for batch in cut(np.array(lengths), 100) for item in batch.tolist()]
    for length in set(lengths):
        same = [item for item in order if lengths[item] == length]
        assert same == sorted(same)


def test_items_of_about_one_length_come_together() -> None:
    lengths = np.random.default_rng(0).integers(5, 100, 5000)
    spreads = [np.std(lengths[batch]) for batch in cut(lengths, 2000)]
    assert np.mean(spreads) < 0.25 * np.std(lengths)


@given(st.lists(st.integers(1, 50), max_size=80), st.integers(1, 6))
def test_shares_lie_end_to_end_and_are_as_even_as_items_allow(lengths: list[int], parts: int) -> None:
    shares = share(lengths, parts)
    assert len(shares) == parts
    assert [item for one in shares for item in range(len(lengths))[one]] == list(range(len(lengths)))
    assert all(one.stop == other.start for one, other in pairwise(shares))
    even = sum(lengths) / parts
    assert all(abs(sum(lengths[one]) - even) <= max(lengths, default=0) for one in shares)


def test_a_share_can_be_shared_again() -> None:
    lengths = np.random.default_rng(0).integers(5, 30, 200)
    twice = [lengths[one][two].tolist() for one in share(lengths, 2) for two in share(lengths[one], 3)]
    assert [length for part in twice for length in part] == lengths.tolist()
    assert max(map(sum, twice)) - min(map(sum, twice)) <= 60
