"""From a spec to modules: every variant is dispatched here, once."""

from __future__ import annotations

import functools
import hashlib
import math

import torch
from torch import Tensor, nn

from bough.core.attention import Attention
from bough.core.block import Block, PostNormBlock, PreNormBlock
from bough.core.embed import Embed, Languages, Nothing, Positions, Segments, Table
from bough.core.feed import ACTIVATIONS, FeedForward
from bough.core.masks import predicate
from bough.core.net import Net
from bough.core.outputs import (
    AdaptiveWords,
    EachSequence,
    EachToken,
    Hidden,
    Pooler,
    Read,
    TiedWords,
    UntiedWords,
    first,
    last,
    mean,
)
from bough.spec import (
    Adaptive,
    Classify,
    First,
    Initial,
    Last,
    LayerNorm,
    Learned,
    Mean,
    Norm,
    Pair,
    Pooled,
    PostNorm,
    PreNorm,
    Reading,
    RMSNorm,
    Sinusoid,
    Span,
    Spec,
    Tag,
    Tied,
    Untied,
    Words,
)
from bough.spec import Pooler as PoolerSpec


def build(spec: Spec, seed: int = 0) -> Net:
    """The net of an architecture, its weights drawn as published and settled by the seed."""
    net = empty(spec).to_empty(device="cpu")
    net.load_state_dict(fresh(spec, seed), assign=True)
    return net


def empty(spec: Spec) -> Net:
    """The net without its numbers, which costs no memory."""
    with torch.device("meta"):
        blocks = [_block(spec, i) for i in range(spec.blocks)]
        norm = _norm(spec.norm, spec.width) if isinstance(spec.placement, PreNorm) else nn.Identity()
        net = Net(_embed(spec), blocks, spec.order, norm, predicate(spec.attention.mask))
        for name, part in spec.outputs.present().items():
            net.outputs[name] = _output(part, spec, net)
    return net


def fresh(spec: Spec, seed: int = 0, only: str = "") -> dict[str, Tensor]:
    """New weights for the tensors whose names start with `only`. Each is drawn from the seed and its own name."""
    return {name: _drawn(name, shape, spec, seed) for name, shape in spec.tensors().items() if name.startswith(only)}


def sinusoid(size: int, width: int) -> Tensor:
    """The table of a sinusoid: sines in even columns, cosines in odd ones."""
    steps = torch.arange(0, width, 2, dtype=torch.float64) / width
    angles = torch.arange(size, dtype=torch.float64)[:, None] / 10000**steps
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :width].float()


def _embed(spec: Spec) -> Embed:
    table, embedding = spec.table_width, spec.embedding
    positions = embedding.positions
    return Embed(
        tokens=Table(spec.vocabulary, table),
        positions=Positions(positions.size, table, positions.offset, isinstance(positions, Learned))
        if positions
        else Nothing(),
        segments=Segments(embedding.segments, table) if embedding.segments else Nothing(),
        languages=Languages(embedding.languages, table) if embedding.languages else Nothing(),
        norm=_norm(embedding.norm, table) if embedding.norm else nn.Identity(),
        dropout=embedding.dropout,
        project=nn.Linear(table, spec.width) if embedding.width else nn.Identity(),
    )


def _norm(norm: Norm, width: int) -> nn.Module:
    match norm:
        case LayerNorm():
            return nn.LayerNorm(width, norm.epsilon)
        case RMSNorm():
            return nn.RMSNorm(width, norm.epsilon)


def _block(spec: Spec, layer: int) -> Block:
    attention, feed = spec.attention, spec.feed
    activation, inner = ACTIVATIONS[feed.activation], feed.inside(spec.width)
    scale = attention.scale.at(spec.head_width, layer)
    kind = {PostNorm: PostNormBlock, PreNorm: PreNormBlock}[type(spec.placement)]
    return kind(
        attention=Attention(spec.width, spec.heads, attention.bias, scale, attention.weights_dropout),
        attention_norm=_norm(spec.norm, spec.width),
        attention_dropout=attention.dropout,
        feed=FeedForward(spec.width, inner, activation, feed.gated, feed.bias),
        feed_norm=_norm(spec.norm, spec.width),
        feed_dropout=feed.dropout,
    )


def _output(part: PoolerSpec | Words | Pair | Classify | Tag | Span, spec: Spec, net: Net) -> nn.Module:
    match part:
        case PoolerSpec():
            return Pooler(spec.width)
        case Words():
            return _words(part, spec, net)
        case Pair():
            read, out = _read(Pooled(), net), nn.Linear(spec.width, 2)
            return EachSequence(read, nn.Identity(), part.dropout, out, ACTIVATIONS["identity"])
        case Classify():
            hidden = nn.Identity()
            if part.hidden:
                hidden = Hidden(spec.width, spec.width, ACTIVATIONS[part.hidden], part.hidden_dropout)
            out = nn.Linear(spec.width, len(part.labels), part.bias)
            return EachSequence(_read(part.reads, net), hidden, part.dropout, out, ACTIVATIONS[part.activation])
        case Tag():
            return EachToken(part.dropout, nn.Linear(spec.width, len(part.labels)))
        case Span():
            return EachToken(part.dropout, nn.Linear(spec.width, 2))


def _words(words: Words, spec: Spec, net: Net) -> nn.Module:
    table, transform, norm = spec.table_width, nn.Identity(), nn.Identity()
    if words.transform:
        transform = Hidden(spec.width, table, ACTIVATIONS[words.transform.activation])
        norm = _norm(words.transform.norm, table)
    match words.projection:
        case Tied():
            bias = nn.Parameter(torch.empty(spec.vocabulary)) if words.projection.bias else None
            return TiedWords(transform, norm, net.embed.tokens, bias)
        case Untied():
            return UntiedWords(transform, norm, nn.Linear(table, spec.vocabulary, words.projection.bias))
        case Adaptive():
            cutoffs, factor = list(words.projection.cutoffs), words.projection.factor
            adaptive = nn.AdaptiveLogSoftmaxWithLoss(table, spec.vocabulary, cutoffs, factor, head_bias=True)
            return AdaptiveWords(transform, norm, adaptive)


def _read(reading: Reading, net: Net) -> Read:
    match reading:
        case Pooled():
            # A partial is not a module, so the pooler keeps the one name that it has.
            return functools.partial(nn.Module.__call__, net.outputs["pooler"])
        case First():
            return first
        case Last():
            return last
        case Mean():
            return mean


def _drawn(name: str, shape: tuple[int, ...], spec: Spec, seed: int) -> Tensor:
    """One new tensor: gains one, biases zero, sinusoids computed, the rest normal around zero."""
    if name.endswith("bias"):
        return torch.zeros(shape)
    if len(shape) == 1:
        return torch.ones(shape)
    if name == "embed.positions.weight" and isinstance(spec.embedding.positions, Sinusoid):
        return sinusoid(*shape)
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=7).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest, "big"))
    return torch.normal(0.0, _std(name, spec.initial, len(spec.order)), shape, generator=generator)


def _std(name: str, initial: Initial, layers: int) -> float:
    if name.startswith("embed.") and initial.tables is not None:
        return initial.tables
    writes_to_stream = name.startswith("blocks.") and name.endswith((".out.weight", ".down.weight"))
    return initial.std / math.sqrt(2 * layers) if initial.residual and writes_to_stream else initial.std
