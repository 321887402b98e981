"""What is read stretch by stretch is as if it were read at once, and a memory holds what it says."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from definitions import HEADS, WIDTH, Weights, attention, named, random_batch, small, weighed
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import bough
from bough.core import Net
from bough.core.kernels import Planner, Reference, plan
from bough.core.memory import Cache, Nothing, Recurrence
from bough.errors import BoughError
from bough.packed import Packed
from bough.spec import (
    Causal,
    Encoder,
    Fixed,
    Full,
    Groups,
    Learned,
    LinearBias,
    Mask,
    Placement,
    PostNorm,
    PreNorm,
    Relative,
    RelativeBias,
    RelativeKeys,
    RelativeTerms,
    Rotary,
    Sinusoid,
    Strided,
    Window,
)
from bough.spec import Recurrence as Kept

MASKS: tuple[Mask, ...] = (
    Causal(), Window(3), Strided(3, "heads"), Strided(3, "layers"), Strided(3, "union"),
    Fixed(4, 2, "heads"), Fixed(4, 2, "layers"), Fixed(4, 2, "union"),
)  # fmt: skip
RELATIVES: tuple[Relative, ...] = (
    None, RelativeBias(8, 12), LinearBias(), RelativeKeys(3), RelativeTerms(), RelativeTerms(clamp=4, tied=True),
    Rotary(50.0),
)  # fmt: skip
PAIRS = [
    (mask, relative) for mask in MASKS for relative in RELATIVES
    if getattr(mask, "over", "") != "heads" or isinstance(relative, Rotary | None)
]  # fmt: skip
LENGTHS = (11, 0, 1, 17, 6)
SOURCES = (3, 5, 0, 1, 9)
NET = small(**{"attention.mask": Strided(3), "attention.relative": RelativeTerms(clamp=4), "embedding.positions": None})


def memory_of(net: Net, kind: Any, length: int = 7) -> Nothing:
    """A memory of a kind, a recurrence's of so many tokens."""
    return net.memory(kind, length if kind == "recurrence" else None)


Stretches = Sequence[Sequence[int]]
"""How many tokens of each sequence there are in each stretch."""


@pytest.mark.parametrize(("mask", "relative"), PAIRS, ids=[f"{mask}-{relative}" for mask, relative in PAIRS])
def test_any_split_read_with_a_memory_gives_the_states_of_the_whole(mask: Mask, relative: Relative) -> None:
    draw = random.Random(0)
    for positions in (Learned(64), Sinusoid(64), None):
        for placement in (PostNorm(), PreNorm()):
            look = {"attention.mask": mask, "attention.relative": relative}
            net = small(placement=placement, **{"embedding.positions": positions}, **look)
            batch = random_batch(LENGTHS)
            for memory in (net.memory("cache"), net.memory("recurrence", 100)):
                _compare(net, batch, memory, _stretches(LENGTHS, 3, draw))


@pytest.mark.parametrize("relative", RELATIVES, ids=named)
@pytest.mark.parametrize("mask", [Causal(), Window(3)], ids=named)
def test_a_decoder_beside_an_encoder_may_be_read_in_any_split_too(mask: Mask, relative: Relative) -> None:
    draw = random.Random(1)
    for placement in (PostNorm(), PreNorm()):
        look = {"attention.mask": mask, "attention.relative": relative}
        net = small(encoder=Encoder(depth=1, heads=2), placement=placement, **look)
        batch = dataclasses.replace(random_batch(LENGTHS), source=random_batch(SOURCES, seed=1))
        _compare(net, batch, net.memory(), _stretches(LENGTHS, 4, draw))


@pytest.mark.parametrize("sharing", [Groups(1), Groups(2, inner=2)], ids=named)
def test_layers_that_share_a_block_remember_apart(sharing: Groups) -> None:
    net = small(depth=4, sharing=sharing, **{"attention.relative": RelativeTerms()})
    for memory in (net.memory("cache"), net.memory("recurrence", 100)):
        _compare(net, random_batch(LENGTHS), memory, _stretches(LENGTHS, 3, random.Random(2)))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=1, max_size=6))
def test_a_stretch_may_be_of_any_unequal_lengths(stretches: list[list[int]]) -> None:
    lengths = [sum(each) for each in zip(*stretches, strict=True)]
    for planner in (plan, Reference):
        for memory in (NET.memory("cache"), NET.memory("recurrence", 100)):
            _compare(NET, random_batch(lengths), memory, stretches, planner)


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad])
def test_words_one_by_one_outgrow_the_room_many_times(mode: type[torch.no_grad]) -> None:
    net, batch = small(**{"attention.relative": Rotary()}), random_batch((60, 31))
    memory, rooms = net.memory("cache"), set[int]()
    with mode():
        whole = net(batch)
        read = _read(net, batch, memory, [(1, 1)] * 31 + [(1, 0)] * 29, lambda: rooms.add(memory.bytes))
    torch.testing.assert_close(read, whole, rtol=0, atol=1e-5)
    assert len(rooms) == 7  # of 1, 2, 4, …, 64 tokens each
    assert memory.lengths == (60, 31)


# What it holds


@pytest.mark.parametrize("kind", ["cache", "recurrence"])
def test_bytes_are_those_of_the_tensors_that_are_held_and_grow(kind: str) -> None:
    net = small(encoder=Encoder(depth=1)) if kind == "cache" else small()
    memory = memory_of(net, kind, 12)
    assert memory.bytes == 0
    sizes: list[int] = []
    batch = dataclasses.replace(random_batch((9, 4)), source=random_batch((3, 2)))
    with torch.inference_mode():
        for _ in range(4):
            net(batch, memory=memory)
            sizes.append(memory.bytes)
            assert sizes[-1] == sum(one.nbytes for one in _held(memory) if one.is_floating_point())
    token = 4 * WIDTH * 2  # a vector in two layers
    if kind == "cache":
        assert sizes == [token * (2 * rows + 5 * 2) + 4 * WIDTH * 5 for rows in (2 * 9, 2 * 18, 2 * 36, 2 * 36)]
    else:
        assert sizes == [token * rows for rows in (9 + 4, 12 + 8, 12 + 12, 12 + 12)]


def test_the_source_is_read_once_and_its_keys_and_values_too() -> None:
    net = small(encoder=Encoder(depth=1))
    batch = dataclasses.replace(random_batch((9, 4)), source=random_batch((3, 2)))
    runs: list[object] = []
    crossed = [net.block(number).get_submodule("cross.kv") for number in range(2)]
    for module in (net.get_submodule("encoder"), *crossed):
        module.register_forward_hook(lambda module, *_: runs.append(module))
    memory = net.memory()
    with torch.inference_mode():
        _read(net, batch, memory, [(2, 0), (1, 1), (6, 3)])
        assert runs == [net.get_submodule("encoder"), *crossed]
        net(batch)
        assert len(runs) == 6


@pytest.mark.parametrize(("kind", "beside"), [("cache", False), ("cache", True), ("recurrence", False)])
def test_sequences_chosen_anew_go_on_as_if_they_had_been_so_from_the_start(kind: str, beside: bool) -> None:
    net = small(encoder=Encoder(depth=1) if beside else None, **{"attention.relative": RelativeBias()})
    first, second = random_batch((5, 0, 2, 9)), random_batch((1, 3, 0, 2), seed=1)
    if beside:
        first = dataclasses.replace(first, source=random_batch((4, 1, 0, 3), seed=2))
    for order in ([3, 3, 0, 2], [2, 1, 0, 3], [0, 0, 0, 0], [1, 1, 1, 1]):
        with torch.no_grad():
            memory, other = memory_of(net, kind), memory_of(net, kind)
            net(first, memory=memory)
            memory.reorder(order)
            net(_chosen(first, order), memory=other)
            assert memory.lengths == other.lengths
            for _ in range(2):
                torch.testing.assert_close(net(second, memory=memory), net(second, memory=other), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["cache", "recurrence"])
def test_dropped_sequences_leave_the_others_where_they_were(kind: str) -> None:
    net = small(**{"attention.relative": LinearBias()})
    batch, more = random_batch((5, 0, 2, 9)), random_batch((1, 4), seed=1)
    with torch.no_grad():
        memory, other = memory_of(net, kind), memory_of(net, kind)
        net(batch, memory=memory)
        memory.drop(0, 2)
        net(_chosen(batch, [1, 3]), memory=other)
        assert memory.lengths == other.lengths == (0, 9)
        torch.testing.assert_close(net(more, memory=memory), net(more, memory=other), rtol=0, atol=1e-5)
        memory.drop(0, 1)
        assert (memory.lengths, memory.bytes) == ((), 0)


# A recurrence


@pytest.mark.parametrize("kept", [0, 2, 5, 40])
@pytest.mark.parametrize("placement", [PostNorm(), PreNorm()], ids=named)
@pytest.mark.parametrize("mask", [Causal(), Window(4)], ids=named)
def test_a_recurrence_is_the_definition_written_out_forwards_and_in_gradient(
    mask: Mask, placement: Placement, kept: int
) -> None:
    relative = RelativeTerms(clamp=6)
    look = {"attention.mask": mask, "attention.relative": relative, "embedding.positions": None}
    net = small(placement=placement, **look)
    weights = dict(net.named_parameters())
    stretches = [(5, 2, 7), (5, 6, 0), (3, 1, 8)]
    batch, memory = random_batch([sum(each) for each in zip(*stretches, strict=True)]), net.memory("recurrence", kept)
    found = _read(net, batch, memory, stretches)
    words = [one.split([stretch[number] for stretch in stretches]) for number, one in enumerate(batch.split(batch.ids))]
    defined = torch.cat([_recurrent(weights, one, kept, mask, relative, placement == PreNorm()) for one in words])
    torch.testing.assert_close(found, defined, rtol=0, atol=1e-5)
    for one, other in zip(*(torch.autograd.grad(weighed(x), weights.values()) for x in (found, defined)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_a_recurrence_of_nothing_is_no_memory() -> None:
    memory = NET.memory("recurrence", 0)
    for lengths in ((5, 2, 0), (3, 9, 1)):
        batch = random_batch(lengths, seed=sum(lengths))
        assert torch.equal(NET(batch, memory=memory), NET(batch))
    assert memory.bytes == 0


# Which there is


def test_a_net_has_the_memory_that_it_was_trained_with() -> None:
    assert isinstance(small().memory(), Cache)
    kept = small(recurrence=Kept(5)).memory()
    assert isinstance(kept, Recurrence)
    assert kept.length == 5
    assert isinstance(small(recurrence=Kept(5)).memory("cache"), Cache)


@pytest.mark.parametrize("kind", ["auto", "cache", "recurrence"])
def test_who_sees_what_follows_has_no_memory(kind: str) -> None:
    net = small(**{"attention.mask": Full()})
    with pytest.raises(BoughError) as refused:
        memory_of(net, kind)
    said = "memory: where tokens see what follows, a sequence cannot be read stretch by stretch"
    assert str(refused.value) == said
    assert net.memory("none").bytes == 0


@pytest.mark.parametrize("length", [None, -1])
def test_a_recurrence_has_to_be_told_how_much_it_keeps(length: int | None) -> None:
    with pytest.raises(BoughError, match="give it as length="):
        small().memory("recurrence", length)


@pytest.mark.parametrize("kind", ["cache", "recurrence"])
def test_a_memory_of_other_sequences_is_refused(kind: str) -> None:
    memory = memory_of(NET, kind)
    with torch.no_grad():
        NET(random_batch((2, 3)), memory=memory)
    with pytest.raises(BoughError, match="memory: it holds 2 sequences and the batch has 3"):
        NET(random_batch((1, 1, 1)), memory=memory)


def _stretches(lengths: Sequence[int], count: int, draw: random.Random) -> Stretches:
    """Every sequence cut where it falls."""
    cuts = [[0, *sorted(draw.randint(0, n) for _ in range(count - 1)), n] for n in lengths]
    return [[cut[number + 1] - cut[number] for cut in cuts] for number in range(count)]


def _read(
    net: bough.Net,
    batch: Packed,
    memory: Nothing,
    stretches: Stretches,
    after: Callable[[], object] = list,
    planner: Planner = plan,
) -> Tensor:
    """The states of a batch that is read in stretches; only the first brings the source."""
    left = [ids.tolist() for ids in batch.split(batch.ids)]
    states: list[list[Tensor]] = [[] for _ in left]
    source = batch.source
    for stretch in stretches:
        part = Packed.of([ids[:count] for ids, count in zip(left, stretch, strict=True)])
        left = [ids[count:] for ids, count in zip(left, stretch, strict=True)]
        part, source = dataclasses.replace(part, source=source), None
        for own, new in zip(states, part.split(net(part, planner, memory)), strict=True):
            own.append(new)
        after()
    assert not any(left)
    return torch.cat([new for own in states for new in own])


def _compare(net: bough.Net, batch: Packed, memory: Nothing, stretches: Stretches, planner: Planner = plan) -> None:
    """The states of stretches with those of the whole."""
    with torch.inference_mode():
        read = _read(net, batch, memory, stretches, planner=planner)
        torch.testing.assert_close(read, net(batch), rtol=0, atol=1e-5)
    assert memory.lengths == batch.lengths


def _chosen(batch: Packed, order: Sequence[int]) -> Packed:
    """Some of its sequences, in this order."""
    each = batch.split(batch.ids)
    source = _chosen(batch.source, order) if batch.source else None
    return dataclasses.replace(Packed.of([each[number].tolist() for number in order]), source=source)


def _held(value: object) -> Iterator[Tensor]:
    """Every tensor inside."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | tuple | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _held(one)
    elif isinstance(value, Nothing):
        yield from _held(vars(value))


def _recurrent(
    weights: Weights, stretches: Sequence[Tensor], kept: int, mask: Mask, relative: Relative, norms_first: bool
) -> Tensor:
    """One sequence: each layer reads what it read of the last `kept` tokens before the stretch, then the stretch."""

    def through(name: str, x: Tensor) -> Tensor:
        return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"])

    past, states, end = [torch.empty(0, WIDTH)] * 2, [], 0
    for ids in stretches:
        x = weights["embed.tokens.weight"][ids]
        end += len(ids)
        for layer in range(2):
            block = f"blocks.{layer}"
            read = torch.cat((past[layer], x))
            at = range(end - len(read), end)
            past[layer] = read[max(0, len(read) - kept) :].detach()
            read = norm(f"{block}.attention_norm", read) if norms_first else read
            q, k, v = through(f"{block}.attention.qkv", read).view(-1, 3, HEADS, WIDTH // HEADS).unbind(1)
            q, asking = q[len(at) - len(ids) :], at[len(at) - len(ids) :]
            mixed = attention(q, k, v, (WIDTH // HEADS) ** -0.5, mask, layer, relative, weights, asking, at)
            x = x + through(f"{block}.attention.out", mixed.flatten(1))
            x = x if norms_first else norm(f"{block}.attention_norm", x)
            read = norm(f"{block}.feed_norm", x) if norms_first else x
            x = x + through(f"{block}.feed.down", F.gelu(through(f"{block}.feed.up", read), approximate="tanh"))
            x = x if norms_first else norm(f"{block}.feed_norm", x)
        states.append(norm("norm", x) if norms_first else x)
    return torch.cat(states)


def test_no_memory_has_nothing_to_forget_or_to_order() -> None:
    none = NET.memory("none")
    none.reorder([1, 0, 0])
    none.drop(0)
    batch = random_batch((3, 2))
    with torch.no_grad():
        assert torch.equal(NET(batch, memory=none), NET(batch))
