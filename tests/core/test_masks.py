"""Masks show what their papers say, wherever a kernel looks for it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from definitions import HEADS, WIDTH, attention, named, random_batch, routed, sees, small, weighed
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bough.core.kernels import Grouped, Halved, Layout, Planner, Reference, Routed, Rows, plan
from bough.core.masks import Halves, Sparse, seeing
from bough.spec import Causal, Fixed, Full, Mask, Strided, Window

CPU = torch.device("cpu")
OVER = ("heads", "layers", "union")
FACTORISED = [*(Strided(7, over) for over in OVER), *(Fixed(7, 3, over) for over in OVER)]
ODD = [Strided(1), Fixed(1, 1), Fixed(5, 5), Fixed(400, 1, "layers"), Strided(400), Window(1), Window(6), Window(400)]
"""Strides of one, summaries that are whole stretches, stretches that no sequence fills, windows of one and of all."""
LENGTHS = (0, 1, 6, 7, 8, 13, 14, 15, 7, 1, 40)
"""Around a stride of 7, none and one, some of them twice."""
ANY_MASK = st.one_of(
    st.just(Full()),
    st.just(Causal()),
    st.builds(Window, st.integers(1, 30)),
    st.builds(Strided, st.integers(1, 30), st.sampled_from(OVER)),
    st.integers(1, 30).flatmap(lambda n: st.builds(Fixed, st.just(n), st.integers(1, n), st.sampled_from(OVER))),
)
LAYERS = st.integers(0, 3)


@settings(deadline=None)
@given(ANY_MASK, LAYERS, st.integers(0, 60))
def test_each_head_of_each_layer_sees_what_the_definition_says(mask: Mask, layer: int, length: int) -> None:
    at = torch.arange(length)
    shown = seeing(mask, layer)
    for head in range(HEADS):
        part = ((shown.first, shown.second)[2 * head // HEADS]) if isinstance(shown, Halves) else shown
        found = [{j for j, one in enumerate(row) if one} for row in part(at[:, None], at).tolist()]
        assert found == [sees(mask, head, layer)(i) & set(range(length)) for i in range(length)]


@settings(deadline=None)
@given(ANY_MASK, LAYERS, st.integers(1, 60))
def test_routes_lead_to_every_pair_that_sees_and_to_each_once(mask: Mask, layer: int, length: int) -> None:
    at = torch.arange(length)
    shown = seeing(mask, layer)
    for part in (shown.first, shown.second) if isinstance(shown, Halves) else (shown,):
        if isinstance(part, Sparse):
            met = torch.zeros(length, length, dtype=torch.long)
            for route in part.routes(length):
                row, query, key = route.visible().nonzero(as_tuple=True)
                pairs = route.queries[row, query], route.keys[row, key]
                met.index_put_(pairs, torch.ones_like(row), accumulate=True)
            assert torch.equal(met, part(at[:, None], at).long())


@pytest.mark.parametrize("mask", [Window(32), Strided(32), Fixed(32, 2)], ids=named)
def test_routes_through_a_long_sequence_leave_most_of_its_cells_alone(mask: Mask) -> None:
    shown = seeing(mask, 0)
    assert isinstance(shown, Sparse)
    cells = sum(route.queries.numel() * route.keys.shape[1] for route in shown.routes(1024))
    assert cells <= 4 * 32 * 1024


def test_a_plan_takes_routes_where_they_spare_and_rectangles_where_they_do_not() -> None:
    for mask in (Window(8), Strided(16), Fixed(16, 1)):
        for length, kind in ((10, Grouped), (600, Routed)):
            assert isinstance(plan(_whole((length, 1)), seeing(mask, 0)), kind)
    halves = plan(_whole((600,)), seeing(Strided(16, "heads"), 0))
    assert isinstance(halves, Halved)
    assert all(isinstance(one, Routed) for one in halves.plans)


@pytest.mark.parametrize("planner", [routed, plan, Reference], ids=named)
@pytest.mark.parametrize("mask", [*FACTORISED, *ODD], ids=named)
def test_a_kernel_gives_what_dense_attention_under_the_definition_gives(mask: Mask, planner: Planner) -> None:
    for layer in range(2 if getattr(mask, "over", "") == "layers" else 1):
        _compare(LENGTHS, mask, layer, planner)


@pytest.mark.parametrize("mask", [Strided(20), Strided(16, "heads"), Fixed(20, 2), Fixed(16, 1, "heads")], ids=named)
def test_a_sequence_of_hundreds_is_attended_as_the_definition_says(mask: Mask) -> None:
    for planner in (plan, routed):
        _compare((311, 5, 0, 160), mask, 0, planner)


def test_who_sees_nothing_takes_nothing_and_moves_no_gradient() -> None:
    summaries = seeing(Fixed(8, 2, "layers"), 1)  # of which the first six positions see none
    for planner in (plan, routed, Reference):
        parts = [one.requires_grad_() for one in _qkv(9)]
        out = planner(_whole((9,)), summaries).attend(*parts, 0.5, 0.0)
        gradients = torch.autograd.grad(weighed(out), parts)
        assert bool((out[:6] == 0).all())
        assert bool((out[6:] != 0).all())
        assert not any(bool(one.isnan().any()) for one in gradients)
        assert bool((gradients[0][:6] == 0).all())


@pytest.mark.parametrize("planner", [plan, routed], ids=named)
@pytest.mark.parametrize("mask", [Window(5), *FACTORISED], ids=named)
def test_a_whole_net_computes_the_same_by_routes_forwards_and_in_gradient(mask: Mask, planner: Planner) -> None:
    net = small(depth=4, **{"attention.mask": mask})
    batch = random_batch((0, 1, 130, 7, 130, 64))
    weights = list(net.parameters())
    fast, slow = (net(batch, one) for one in (planner, Reference))
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
    for one, other in zip(*(torch.autograd.grad(weighed(x), weights) for x in (fast, slow)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def _whole(lengths: Sequence[int]) -> Layout:
    rows = Rows.packed(lengths)
    return Layout(rows, rows, CPU)


def _qkv(tokens: int) -> Sequence[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(tokens, HEADS, WIDTH // HEADS) for _ in range(3)]


def _compare(lengths: Sequence[int], mask: Mask, layer: int, planner: Planner) -> None:
    """A kernel with the definition, forwards and in gradient."""
    parts = [one.requires_grad_() for one in _qkv(sum(lengths))]
    fast = planner(_whole(lengths), seeing(mask, layer)).attend(*parts, 0.7, 0.0)
    each = zip(*(one.split(list(lengths)) for one in parts), strict=True)
    slow = torch.cat([attention(q, k, v, 0.7, mask, layer) for q, k, v in each])
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
    for one, other in zip(*(torch.autograd.grad(weighed(x), parts) for x in (fast, slow)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "mask",
    [Window(5), *(kind for over in ("heads", "layers", "union") for kind in (Strided(4, over), Fixed(5, 2, over)))],
)
def test_answers_by_the_fused_sums_are_those_of_the_reference(mask: Mask) -> None:
    draw = torch.Generator().manual_seed(0)
    lengths = (97, 1, 40, 97, 6)
    q, k, v = (torch.randn(sum(lengths), 4, 8, generator=draw) for _ in range(3))
    layout = Layout(Rows.packed(lengths), Rows.packed(lengths), torch.device("cpu"))
    for depth in range(2):
        sees = seeing(mask, depth)
        parts = (sees.first, sees.second) if isinstance(sees, Halves) else (sees,)
        for part in parts:
            with torch.no_grad():
                fast = Routed(layout, part).attend(q, k, v, 0.3, 0.0)
                slow = Reference(layout, part).attend(q, k, v, 0.3, 0.0)
            torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
