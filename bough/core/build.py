"""From a spec to modules: every variant is dispatched here, once."""

from __future__ import annotations

import functools
import math

import torch
from torch import nn

from bough.core.attention import Attention, Cross, Sublayer, Thrice
from bough.core.block import Around, Block, PostNormBlock, PreNormBlock
from bough.core.draw import fresh
from bough.core.embed import (
    Added,
    Coordinates,
    Embed,
    GridPositions,
    Languages,
    Nothing,
    Pieces,
    Positions,
    SameWords,
    Segments,
    Table,
    WordClusters,
    WordTable,
)
from bough.core.feed import ACTIVATIONS, FeedForward
from bough.core.masks import seeing
from bough.core.net import EncoderDecoder, Layers, Net, Stack
from bough.core.norms import Averaged
from bough.core.outputs import (
    AdaptiveWords,
    Biased,
    ClusteredWords,
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
from bough.core.relative import Bias, Biases, Buckets, KeyVectors, Nowhere, Slopes, Terms, Turned
from bough.spec import (
    Adaptive,
    BatchNorm,
    Classify,
    Clustered,
    Factored,
    First,
    Full,
    Last,
    LayerNorm,
    Learned,
    LinearBias,
    Mean,
    Norm,
    Pair,
    Pooled,
    PostNorm,
    PreNorm,
    Reading,
    RelativeBias,
    RelativeKeys,
    RelativeTerms,
    RMSNorm,
    Rotary,
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
        kept = spec.recurrence.length if spec.recurrence else None
        if spec.encoder:
            net = EncoderDecoder(*_stack(spec), kept)
            net.encoder = Stack(*_stack(spec.source, None if spec.encoder.vocabulary else net.embed))
        else:
            net = Net(*_stack(spec), kept)
        for name, part in spec.outputs.present().items():
            net.outputs[name] = _output(part, spec, net)
    return net


def _stack(spec: Spec, beside: Embed | None = None) -> tuple[Embed, Layers, nn.Module, float, nn.Module]:
    """An embedding, with the words of another where there is one beside, its blocks, and what goes around them."""
    shared = _shared(spec)
    blocks = [_block(spec, i, shared) for i in range(spec.blocks)]
    last = _norm(spec.norm, spec.width) if spec.normed_last else nn.Identity()
    sees = tuple(seeing(spec.attention.mask, depth) for depth in range(len(spec.order)))
    return _embed(spec, beside), Layers(blocks, spec.order, sees), last, spec.dropout, shared


def _embed(spec: Spec, beside: Embed | None) -> Embed:
    table, embedding = spec.table_width, spec.embedding
    return Embed(
        tokens=_same(beside) if beside else _tokens(spec),
        positions=_positions(spec),
        segments=Segments(embedding.segments, table) if embedding.segments else Nothing(),
        languages=Languages(embedding.languages, table) if embedding.languages else Nothing(),
        norm=_norm(embedding.norm, table) if embedding.norm else nn.Identity(),
        dropout=embedding.dropout,
        project=nn.Linear(table, spec.width) if embedding.width and not embedding.clusters else nn.Identity(),
    )


def _same(other: Embed) -> SameWords:
    assert isinstance(other.tokens, WordTable)
    return SameWords(other.tokens)


def _tokens(spec: Spec) -> nn.Module:
    table, embedding = spec.table_width, spec.embedding
    scale = math.sqrt(spec.width) if embedding.scaled else 1.0
    if embedding.patches:
        return Pieces(embedding.patches.channels * math.prod(embedding.patches.shape), spec.width)
    if embedding.clusters:
        bounds, factor = embedding.clusters.bounds(spec.vocabulary), embedding.clusters.factor
        tables = [Table(end - start, table // factor**i) for i, (start, end) in enumerate(bounds)]
        straight = factor == 1 and table == spec.width
        projects = [
            nn.Identity() if straight else nn.Linear(table // factor**i, spec.width, bias=False)
            for i in range(len(bounds))
        ]
        return WordClusters(bounds, tables, projects, scale)
    return WordTable(spec.vocabulary, table, scale)


def _positions(spec: Spec) -> Added:
    positions, patches = spec.embedding.positions, spec.embedding.patches
    if not positions:
        return Nothing()
    if patches:
        return GridPositions(patches.grid, positions.size, spec.width)
    if isinstance(positions, Factored):
        return Coordinates(positions.sizes, spec.table_width)
    return Positions(positions.size, spec.table_width, positions.offset, isinstance(positions, Learned))


def _norm(norm: Norm, width: int) -> nn.Module:
    match norm:
        case LayerNorm():
            return nn.LayerNorm(width, norm.epsilon)
        case RMSNorm():
            return nn.RMSNorm(width, norm.epsilon)
        case BatchNorm():
            return Averaged(width, norm.epsilon, norm.momentum)


def _block(spec: Spec, depth: int, shared: nn.Module) -> Block:
    attention, feed = spec.attention, spec.feed
    activation, inner = ACTIVATIONS[feed.activation], feed.inside(spec.width)
    does: dict[str, tuple[Sublayer, float]] = {"attention": (_attention(spec, depth, shared), attention.dropout)}
    if spec.encoder:
        does["cross"] = _cross(spec, depth), attention.dropout
    up_and_down = FeedForward(spec.width, inner, activation, feed.gated, feed.bias, feed.inner_dropout)
    does["feed"] = up_and_down, feed.dropout
    kind = {PostNorm: PostNormBlock, PreNorm: PreNormBlock}[type(spec.placement)]
    return kind(
        {name: Around(one, _norm(spec.norm, spec.width), nn.Dropout(rate)) for name, (one, rate) in does.items()}
    )


def _attention(spec: Spec, depth: int, shared: nn.Module) -> Attention:
    attention, widths = spec.attention, _widths(spec)
    qkv = nn.Linear(spec.width, sum(widths), attention.bias) if attention.projected else Thrice()
    out = nn.Linear(widths[2], spec.width, attention.out_bias) if attention.projected else nn.Identity()
    scale = attention.scale.at(spec.key_width, depth)
    return Attention(qkv, out, spec.heads, widths, scale, attention.weights_dropout, _relative(spec, shared))


def _cross(spec: Spec, depth: int) -> Cross:
    attention, widths = spec.attention, _widths(spec)
    q = nn.Linear(spec.width, widths[0], attention.bias)
    kv = nn.Linear(spec.width, widths[1] + widths[2], attention.bias)
    out = nn.Linear(widths[2], spec.width, attention.out_bias)
    scale = attention.scale.at(spec.key_width, depth)
    return Cross(q, kv, out, spec.heads, widths, scale, attention.weights_dropout)


def _widths(spec: Spec) -> tuple[int, int, int]:
    """Of queries, keys and values, those of all heads together."""
    return spec.heads * spec.key_width, spec.heads * spec.key_width, spec.heads * spec.head_width


def _shared(spec: Spec) -> nn.Module:
    """What the layers of a stack have in common."""
    match spec.attention.relative:
        case RelativeBias(buckets=buckets):
            return Bias(buckets, spec.heads)
        case RelativeTerms(tied=True):
            return Biases(spec.heads, spec.key_width)
        case _:
            return nn.Identity()


def _relative(spec: Spec, shared: nn.Module) -> Nowhere:
    attention, width = spec.attention, spec.key_width
    match attention.relative:
        case RelativeBias(distance=furthest):
            assert isinstance(shared, Bias)
            return Buckets(shared, furthest, both_ways=isinstance(attention.mask, Full))
        case LinearBias():
            return Slopes(spec.heads)
        case RelativeKeys(distance=furthest):
            return KeyVectors(furthest, width)
        case RelativeTerms(clamp=clamp):
            biases = shared if isinstance(shared, Biases) else None
            return Terms(spec.width, spec.heads, width, clamp, spec.embedding.dropout, biases)
        case Rotary(base=base):
            return Turned(base)
        case None:
            return Nowhere()


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
    projection = words.projection
    shifted = spec.vocabulary if isinstance(projection, Tied | Untied) and projection.shift else 0
    match projection:
        case Tied():
            bias = nn.Parameter(torch.empty(spec.vocabulary)) if projection.bias else None
            scale = spec.width**-0.5 if projection.scaled else 1.0
            assert isinstance(net.embed.tokens, WordTable)
            return TiedWords(transform, norm, net.embed.tokens, bias, scale, shifted)
        case Untied():
            return UntiedWords(transform, norm, nn.Linear(table, spec.vocabulary, projection.bias), shifted)
        case Clustered():
            return _clustered(projection, spec, net)
        case Adaptive():
            cutoffs, factor = list(projection.cutoffs), projection.factor
            adaptive = nn.AdaptiveLogSoftmaxWithLoss(table, spec.vocabulary, cutoffs, factor, head_bias=True)
            return AdaptiveWords(transform, norm, adaptive)


def _clustered(part: Clustered, spec: Spec, net: Net) -> ClusteredWords:
    clusters, table, embedding = spec.embedding.clusters, spec.table_width, net.embed.tokens
    assert clusters
    assert isinstance(embedding, WordClusters)
    bounds, factor = clusters.bounds(spec.vocabulary), clusters.factor
    tables = [Biased(end - start, table // factor**i, part.tied) for i, (start, end) in enumerate(bounds)]
    projects = {i: Table(spec.width, table // factor**i) for i in part.own_projects(spec)}
    heads = nn.Linear(table, len(clusters.cutoffs)) if clusters.cutoffs else nn.Identity()
    return ClusteredWords(clusters.cutoffs, tables, projects, heads, embedding)


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
