"""Kernels agree with attention written out query by query, whatever distance adds and wherever rows lie."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
import torch
from definitions import HEADS, WIDTH, attention, bucket, named, random_batch, routed, slopes, small, turned, weighed
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import bough
from bough.core.attention import Attention
from bough.core.kernels import Grouped, Layout, Planner, Reference, Rows, plan
from bough.core.masks import seeing
from bough.core.relative import NOWHERE, Nowhere, Slopes, Turned
from bough.spec import (
    Causal,
    Encoder,
    Fixed,
    Full,
    LinearBias,
    Mask,
    Relative,
    RelativeBias,
    RelativeKeys,
    RelativeTerms,
    Rotary,
    Strided,
    Window,
)

CPU = torch.device("cpu")
PLANNERS = (Reference, Grouped, plan, routed)
RELATIVES: tuple[Relative, ...] = (
    None, RelativeBias(8, 12), LinearBias(), RelativeKeys(3), RelativeTerms(), RelativeTerms(clamp=4, tied=True),
    Rotary(50.0),
)  # fmt: skip
MASKS: tuple[Mask, ...] = (Causal(), Full(), Window(3), Strided(3), Fixed(4, 2))
PLAIN = Rows.packed((5, 0, 1, 9, 5, 1))
BEHIND = Rows.packed(PLAIN.lengths, firsts=(3, 8, 0, 20, 3, 6))
STRETCH = Rows.packed((7, 5, 1, 11, 7, 4), firsts=(1, 3, 0, 18, 1, 3))
LAYOUTS = {
    "whole": Layout(PLAIN, PLAIN, CPU),
    "in rooms": Layout(BEHIND, Rows((0, 40, 80, 120, 160, 200), (8, 8, 1, 29, 8, 7), (0,) * 6), CPU),
    "in even rooms": Layout(Rows.packed((2,) * 3, (3,) * 3), Rows((0, 6, 12), (5,) * 3, (0,) * 3), CPU),
    "behind a stretch": Layout(Rows((2, 12, 12, 15, 26, 34), BEHIND.lengths, BEHIND.firsts), STRETCH, CPU),
}
"""Whole sequences; new tokens, with each one's keys from the first on in a room of its own; a recurrence's rows."""


# What distance adds


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 12), (4, 3), (64, 1000), (10, 37)])
def test_a_distance_falls_in_the_bucket_that_the_paper_puts_it_in(buckets: int, furthest: int, both_ways: bool) -> None:
    mask = Full() if both_ways else Causal()
    net = small(**{"attention.mask": mask, "attention.relative": RelativeBias(buckets, furthest)})
    distances = list(range(-2 * furthest, 2 * furthest))
    number = torch.arange(buckets).float()[:, None].expand(-1, HEADS)
    net.load_state_dict({**net.state_dict(), "relative.weight": number})
    q, k = torch.zeros(HEADS, 1, 8), torch.zeros(HEADS, len(distances), 8)
    found = _relative(net).scores(q, k, torch.tensor([distances]), 1.0)
    assert found[0, 0].tolist() == [bucket(one, buckets, furthest, both_ways) for one in distances]


@pytest.mark.parametrize(
    ("heads", "published"),
    [
        (1, [2**-8]),
        (8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]),
        (6, [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]),
        (12, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8, 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),
    ],
)
def test_slopes_are_the_published_ones(heads: int, published: list[float]) -> None:
    assert slopes(heads) == published
    assert Slopes(heads).slopes == published


def test_a_turn_is_by_the_position_and_a_score_by_the_distance_alone() -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 6, HEADS, 8)
    rotary = Turned(50.0)
    torch.testing.assert_close(rotary.turn(q, torch.arange(6) + 3), turned(q, range(3, 9), 50.0), rtol=0, atol=1e-6)
    near, far = (
        torch.einsum("qhd,khd->hqk", rotary.turn(q, torch.arange(6) + start), rotary.turn(k, torch.arange(6) + start))
        for start in (0, 1000)
    )
    torch.testing.assert_close(near, far, rtol=0, atol=1e-3)
    assert not torch.allclose(near, torch.einsum("qhd,khd->hqk", q, k), atol=0.1)


# The kernels


@pytest.mark.parametrize("mask", MASKS, ids=named)
@pytest.mark.parametrize("relative", RELATIVES, ids=named)
def test_kernels_give_what_the_definition_gives_forwards_and_in_gradient(relative: Relative, mask: Mask) -> None:
    net = small(**{"attention.mask": mask, "attention.relative": relative})
    for layout in LAYOUTS.values():
        _compare(layout, mask, relative, net)


def test_one_sequence_looks_at_another_of_any_length_or_of_none() -> None:
    _compare(Layout(Rows.packed((3, 1, 0, 5, 3, 2)), Rows.packed((2, 7, 4, 0, 2, 1)), CPU), Full(), None, small())


def test_who_has_an_empty_source_takes_nothing_from_it() -> None:
    net = small(encoder=Encoder(depth=1))
    batch = dataclasses.replace(random_batch((4, 3)), source=random_batch((0, 3)))
    fast, slow = (net(batch, planner) for planner in (plan, Reference))
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
    weights = list(net.parameters())
    for one, other in zip(*(torch.autograd.grad(weighed(x), weights) for x in (fast, slow)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("relative", RELATIVES, ids=named)
def test_a_batch_of_no_tokens_has_no_states(relative: Relative) -> None:
    net = small(**{"attention.relative": relative})
    for lengths in ((), (0, 0)):
        assert net(random_batch(lengths)).shape == (0, WIDTH)


ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=7)


@settings(deadline=None)
@given(ROWS.filter(lambda rows: any(new for new, _, _ in rows)), st.permutations(range(7)), st.sampled_from(MASKS))
def test_rows_may_lie_anywhere_and_in_any_order(rows: list[tuple[int, int, int]], order: list[int], mask: Mask) -> None:
    new, before, gap = zip(*rows, strict=True)
    starts, end = [0] * len(rows), 0
    for number in (one for one in order if one < len(rows)):
        starts[number] = end
        end += new[number] + before[number] + gap[number]
    keys = Rows(tuple(starts), tuple(map(sum, zip(new, before, strict=True))), (0,) * len(rows))
    layout = Layout(Rows.packed(new, before), keys, CPU)
    q, k, v = _given(layout)
    for relative in (NOWHERE, Slopes(HEADS)):
        fast, slow = (one(layout, seeing(mask, 0)).attend(q, k, v, 0.3, 0.0, relative) for one in (Grouped, Reference))
        torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)


@pytest.mark.parametrize("mask", MASKS, ids=named)
@pytest.mark.parametrize("relative", RELATIVES, ids=named)
def test_another_sequence_does_not_move_a_bit_of_ones_own(relative: Relative, mask: Mask) -> None:
    net = small(**{"attention.mask": mask, "attention.relative": relative})
    for layout in LAYOUTS.values():
        own = layout.queries.lengths[0]
        for planner in _planners(layout):
            attend = planner(layout, seeing(mask, 0)).attend
            q, k, v = _given(layout)
            before = attend(q, k, v, 0.3, 0.0, _relative(net))
            for x, rows in ((q, layout.queries), (k, layout.keys), (v, layout.keys)):
                x[rows.starts[0] : rows.starts[0] + rows.lengths[0]] *= -7.0
            after = attend(q, k, v, 0.3, 0.0, _relative(net))
            assert not torch.equal(after[:own], before[:own])
            assert torch.equal(after[own:], before[own:])


@pytest.mark.parametrize("planner", PLANNERS, ids=named)
def test_dropout_takes_weights_away_and_the_mean_of_many_draws_is_the_whole(planner: Planner) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(21, HEADS, 8), torch.randn(21, HEADS, 8), torch.ones(21, HEADS, 8)
    attend = planner(LAYOUTS["whole"], seeing(Strided(3), 0)).attend
    draws = torch.stack([attend(q, k, v, 0.3, 0.5) for _ in range(400)])
    torch.testing.assert_close(draws.mean(0), torch.ones_like(q), rtol=0, atol=0.3)
    assert set(draws[:, 0].flatten().tolist()) == {0.0, 2.0}  # the first sees itself alone


def _planners(layout: Layout) -> Iterator[Planner]:
    """Every kernel that takes a layout: routes lead through whole sequences."""
    return (one for one in PLANNERS if one is not routed or layout.plain)


def _relative(net: bough.Net) -> Nowhere:
    """The first layer's."""
    attention = net.block(0).get_submodule("attention")
    assert isinstance(attention, Attention)
    return attention.relative


def _each(rows: Rows) -> list[tuple[slice, range]]:
    """Each sequence's rows and their positions."""
    each = zip(rows.starts, rows.lengths, rows.firsts, strict=True)
    return [(slice(start, start + n), range(first, first + n)) for start, n, first in each]


def _given(layout: Layout) -> list[Tensor]:
    """Queries, keys and values, with a few rows behind the last that are nobody's."""
    generator = torch.Generator().manual_seed(0)
    asking, asked = (max(rows.stop for rows, _ in _each(one)) + 3 for one in (layout.queries, layout.keys))
    return [torch.randn(rows, HEADS, 8, generator=generator) for rows in (asking, asked, asked)]


def _positions(rows: Rows, count: int) -> Tensor:
    """The position of every row; of those that are nobody's, none that matters."""
    at = torch.full((count,), 77)
    for own, places in _each(rows):
        at[own] = torch.tensor(places)
    return at


def _compare(layout: Layout, mask: Mask, relative: Relative, net: bough.Net) -> None:
    """Every kernel that takes the layout with the definition, forwards and in gradient."""
    q, k, v = parts = [one.requires_grad_() for one in _given(layout)]
    weights = dict(net.named_parameters())
    each = zip(_each(layout.queries), _each(layout.keys), strict=True)
    slow = torch.cat([
        attention(q[asking], k[asked], v[asked], 0.3, mask, 0, relative, weights, at_q, at_k)
        for (asking, at_q), (asked, at_k) in each
    ])  # fmt: skip
    trained = [*parts, *(weight for name, weight in weights.items() if "blocks.1" not in name and "relative" in name)]
    gradients = torch.autograd.grad(weighed(slow), trained)
    way = _relative(net)
    turned_q, turned_k = (way.turn(x, _positions(rows, len(x))) for x, rows in ((q, layout.queries), (k, layout.keys)))
    for planner in _planners(layout):
        fast = planner(layout, seeing(mask, 0)).attend(turned_q, turned_k, v, 0.3, 0.0, way)
        torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
        for one, other in zip(torch.autograd.grad(weighed(fast), trained, retain_graph=True), gradients, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
