"""Parts that are there to be studied compute what they say, and computing again changes nothing but what is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch
from definitions import HEADS, WIDTH, attention, named, random_batch, small, weighed
from torch import Tensor, nn

import bough
from bough.core.block import Block
from bough.core.kernels import Reference, plan
from bough.core.norms import Averaged
from bough.packed import Packed
from bough.spec import BatchNorm, Causal, Encoder, Full, Mask, PostNorm, PreNorm, RelativeTerms, Scale

RATES = {
    f"{path}dropout": 0.3 for path in ("", "embedding.", "attention.", "attention.weights_", "feed.", "feed.inner_")
}
STILL = dict.fromkeys(RATES, 0.0)
BATCH = random_batch((5, 1, 12, 7))


# Batch norm


def test_batch_norm_averages_over_every_token_of_a_ragged_batch_and_over_nothing_else() -> None:
    net = small(norm=BatchNorm(1e-4, 0.3), **STILL).train()
    norm = net.get_submodule("blocks.0.attention_norm")
    peer = nn.BatchNorm1d(WIDTH, 1e-4, 0.3)
    peer.load_state_dict(norm.state_dict(), strict=False)
    seen: list[tuple[Tensor, Tensor]] = []
    norm.register_forward_hook(lambda module, given, out: seen.append((given[0], out)))
    for number in range(3):
        net(random_batch((5, 1, 0, 12 + number), seed=number))
        given, out = seen[-1]
        assert given.shape == (18 + number, WIDTH)
        torch.testing.assert_close(out, peer(given))
        for name in ("running_mean", "running_var"):
            torch.testing.assert_close(norm.get_buffer(name), peer.get_buffer(name))
    net.eval()(BATCH)
    given, out = seen[-1]
    torch.testing.assert_close(out, peer.eval()(given))


@pytest.mark.parametrize("placement", [PostNorm(), PreNorm()], ids=named)
def test_a_batch_normed_net_answers_each_sequence_as_if_it_were_alone(placement: PostNorm | PreNorm) -> None:
    net = small(norm=BatchNorm(), placement=placement, **STILL).train()
    for number in range(3):
        net(random_batch((9, 4), seed=number))  # it has averages to keep
    net.eval()
    kept = {name: buffer.clone() for name, buffer in net.named_buffers()}
    together = BATCH.split(net(BATCH))
    for ids, states in zip(BATCH.split(BATCH.ids), together, strict=True):
        torch.testing.assert_close(net(Packed.of([ids.tolist()])), states, rtol=0, atol=1e-5)
    assert all(torch.equal(kept[name], buffer) for name, buffer in net.named_buffers())


def test_averages_that_are_kept_are_saved_but_not_trained() -> None:
    net = small(norm=BatchNorm())
    names = {name for name in net.state_dict() if "running" in name}
    assert len(names) == 2 * sum(isinstance(module, Averaged) for module in net.modules()) == 8
    assert not names & {name for name, _ in net.named_parameters()}


# Attention in its plainest forms


@pytest.mark.parametrize("mask", [Full(), Causal()], ids=named)
@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("heads", [1, HEADS])
def test_without_projections_each_token_takes_the_average_of_those_like_it(mask: Mask, root: bool, heads: int) -> None:
    look = {"attention.projected": False, "attention.mask": mask, "attention.scale": Scale(root=root)}
    net = small(heads=heads, **look)
    assert not [name for name in net.state_dict() if ".attention." in name]
    given, found = _attended(net, BATCH)
    scale = (WIDTH // heads) ** -0.5 if root else 1.0
    for x_TW, mixed in zip(BATCH.split(given), BATCH.split(found), strict=True):
        x_HTD = x_TW.unflatten(1, (heads, -1)).transpose(0, 1)
        scores = x_HTD @ x_HTD.transpose(1, 2) * scale
        hidden = torch.ones(len(x_TW), len(x_TW)).triu(1) * (mask == Causal())
        weights = (scores - 1e9 * hidden).softmax(-1)
        torch.testing.assert_close(mixed, (weights @ x_HTD).transpose(0, 1).flatten(1), rtol=0, atol=1e-5)


@pytest.mark.parametrize("scale", [Scale(), Scale(root=False), Scale(by_layer=True)], ids=named)
@pytest.mark.parametrize("heads", [1, 2])
def test_one_head_or_more_scaled_or_not_give_what_the_definition_gives(heads: int, scale: Scale) -> None:
    net = small(heads=heads, **{"attention.scale": scale})
    for layer in range(2):
        factor = (WIDTH // heads) ** -0.5 if scale.root else 1.0
        given, found = _attended(net, BATCH, layer)
        qkv = net.get_submodule(f"blocks.{layer}.attention.qkv")(given).unflatten(1, (3, heads, -1))
        factor /= layer + 1 if scale.by_layer else 1
        mixed = [attention(*one.unbind(1), factor, Causal(), layer).flatten(1) for one in BATCH.split(qkv)]
        out = net.get_submodule(f"blocks.{layer}.attention.out")(torch.cat(mixed))
        torch.testing.assert_close(found, out, rtol=0, atol=1e-5)


# Computing again


Loss = Callable[[bough.Net], Tensor]


def _alone(net: bough.Net) -> Tensor:
    return weighed(net(BATCH))


def _beside_an_encoder(net: bough.Net) -> Tensor:
    return weighed(net(dataclasses.replace(BATCH, source=random_batch((3, 9, 0, 4), seed=1))))


def _stretch_by_stretch(net: bough.Net) -> Tensor:
    memory = net.memory("recurrence", 6)
    batches = [random_batch(lengths, seed=sum(lengths)) for lengths in ((5, 9, 2), (5, 9, 2), (5, 0, 7))]
    return torch.stack([weighed(net(batch, memory=memory)) for batch in batches]).sum()


CASES: dict[str, tuple[dict[str, object], Loss]] = {
    "decoder": ({}, _alone),
    "beside an encoder": ({"encoder": Encoder(depth=2)}, _beside_an_encoder),
    "recurrence": ({"attention.relative": RelativeTerms()}, _stretch_by_stretch),
    "batch norm": ({"norm": BatchNorm()}, _alone),
}


@pytest.mark.parametrize("rates", [STILL, RATES], ids=["still", "dropping"])
@pytest.mark.parametrize("name", CASES)
def test_computing_again_gives_the_same_losses_gradients_and_averages(name: str, rates: dict[str, float]) -> None:
    changes, loss = CASES[name]
    net, again = (small(**changes, **rates).train() for _ in range(2))
    again.recompute()
    found = [_trained(one, loss) for one in (net, again)]
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


def test_a_memory_goes_on_as_it_was_whatever_is_computed_again() -> None:
    net = small(**STILL).train()
    net.recompute()
    memory, other = net.memory("recurrence", 4), net.memory("recurrence", 4)
    first, second = random_batch((5, 3)), random_batch((2, 6), seed=1)
    loss = weighed(net(first, memory=memory))
    memory.reorder([1, 0])
    states = net(second, memory=memory)
    loss.backward()
    with torch.no_grad():
        net(Packed.of([ids.tolist() for ids in reversed(first.split(first.ids))]), memory=other)
        torch.testing.assert_close(net(second, memory=other), states, rtol=0, atol=1e-5)
        torch.testing.assert_close(net(second, memory=other), net(second, memory=memory), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_computing_again_keeps_less(name: str) -> None:
    changes, loss = CASES[name]
    net = small(**changes, **RATES).train()
    plainly = _kept(net, loss)
    net.recompute()
    assert _kept(net, loss) < plainly / 3
    net.recompute(on=False)
    assert _kept(net, loss) == plainly


def test_computing_again_is_for_training_and_answers_are_as_they_were() -> None:
    net = small()
    plain = net(BATCH)
    net.recompute()
    memory = net.memory("cache")
    with torch.inference_mode():
        assert torch.equal(net(BATCH), plain)
        torch.testing.assert_close(net(BATCH, memory=memory), plain, rtol=0, atol=1e-5)


def _attended(net: bough.Net, batch: Packed, layer: int = 0) -> tuple[Tensor, Tensor]:
    """What a layer's attention reads, and what it says; the same whichever kernel is asked."""
    seen: list[tuple[Tensor, Tensor]] = []
    hook = net.get_submodule(f"blocks.{layer}.attention").register_forward_hook(
        lambda module, given, out: seen.append((given[0], out))
    )
    with torch.no_grad():
        for planner in (plan, Reference):
            net(batch, planner)
    hook.remove()
    (given, out), (_, slow) = seen
    torch.testing.assert_close(out, slow, rtol=0, atol=1e-5)
    return given, out


def _trained(net: bough.Net, loss: Loss) -> list[Tensor]:
    """A loss, its gradients and what it leaves in the net."""
    torch.manual_seed(0)
    value = loss(net)
    weights = [weight for weight in net.parameters() if weight.requires_grad]
    return [value, *torch.autograd.grad(value, weights, materialize_grads=True), *net.buffers()]


def _kept(net: bough.Net, loss: Loss) -> int:
    """The bytes that a loss keeps for its way back: what is saved, and what enters layers, besides the weights."""
    weights = {one.untyped_storage().data_ptr() for one in (*net.parameters(), *net.buffers())}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(one: Tensor) -> Tensor:
        storage = one.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage  # held, so that no two have one address
        return one

    def entered(module: nn.Module, given: tuple[Tensor, ...]) -> None:
        keep(given[0])

    hooks = [one.register_forward_pre_hook(entered) for one in net.modules() if isinstance(one, Block)]
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one):
        loss(net)
    for hook in hooks:
        hook.remove()
    return sum(one.nbytes() for one in kept.values())
