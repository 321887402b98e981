"""A transformer whole, as frozen data, counted to the last parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

from bough.errors import FieldError
from bough.record import Range, Record, brief
from bough.spec.attention import Attention, Fixed, Full, RelativeBias, Rotary, Strided
from bough.spec.inputs import Clusters, Embedding, Factored, Learned, Sinusoid
from bough.spec.layers import FeedForward, LayerNorm, Norm, Placement, PostNorm, PreNorm, Separate, Sharing
from bough.spec.outputs import Adaptive, Clustered, Outputs, Pooled, SentenceVector, Tied
from bough.spec.parts import CLUSTERS, LAYERS, Count, Few, Rate, Shape, Size, Tensors, linear

UNTRAINED = ("shift", "running_mean", "running_var")
"""The last names of tensors that are kept in files but not counted as parameters: no training step moves them."""


@dataclass(frozen=True)
class Initial(Record):
    """How weights are drawn before training: normal around zero, biases zero, gains one."""

    std: Annotated[float, Range(0, 10)] = 0.02
    tables: Annotated[float, Range(0, 10)] | None = None
    """For the embedding tables, where it differs."""
    residual: bool = False
    """Divide it for layers that write to the residual stream by the root of how many do (GPT-2)."""
    fan: bool = False
    """Divide it by the root of how many numbers each output sums; where scores are not scaled, queries' are (T5)."""


@dataclass(frozen=True)
class Encoder(Record):
    """The stack that reads the source, which every layer of the trunk then looks at. None means as in the trunk."""

    depth: Few | None = None
    heads: Size | None = None
    inner: Size | None = None
    """Width inside its feed-forward."""
    vocabulary: Size | None = None
    """How many words the source has, where they are other words, in a table of their own."""
    start: Count = 0
    """The word that the trunk reads before the first one that it has to say."""


@dataclass(frozen=True)
class Recurrence(Record):
    """What every layer read of the last tokens is kept for the next stretch of the text (Transformer-XL)."""

    length: Count = 1600
    """How many tokens are kept, unless the one who asks says otherwise."""


@dataclass(frozen=True)
class Spec(Record):
    """One architecture, whole. Make a changed copy with `but`; a wrong value is an error that names its place."""

    family: str
    """Whose checkpoint files it is written to; nothing else follows from it."""
    vocabulary: Count
    """How many words there are; 0 where the input is not words."""
    width: Size
    depth: Few
    """How many times a block, or a run of shared blocks, is applied."""
    heads: Size
    embedding: Embedding = field(default_factory=Embedding)
    attention: Attention = Attention()
    feed: FeedForward = FeedForward()
    norm: Norm = LayerNorm()
    placement: Placement = PostNorm()
    sharing: Sharing = Separate()
    dropout: Rate = 0.0
    """On the last states."""
    encoder: Encoder | None = None
    recurrence: Recurrence | None = None
    initial: Initial = Initial()
    outputs: Outputs = Outputs()
    vector: SentenceVector | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _settle(self)
        _check_attention(self)
        _check_embedding(self)
        _check_encoder(self)
        _check_sharing(self)
        _check_outputs(self)

    @property
    def normed_last(self) -> bool:
        """Whether there is a norm behind the last layer."""
        return isinstance(self.placement, PreNorm) and self.placement.last

    @property
    def table_width(self) -> int:
        """The width of the embedding tables."""
        return self.embedding.width or self.width

    @property
    def head_width(self) -> int:
        """The width of one attention head."""
        return self.attention.width or self.width // self.heads

    @property
    def key_width(self) -> int:
        """The width of one head's queries and keys."""
        return self.attention.key_width or self.head_width

    @property
    def order(self) -> tuple[int, ...]:
        """Which block each layer runs, from first to last."""
        return self.sharing.order(self.depth)

    @property
    def blocks(self) -> int:
        """How many blocks there are; fewer than layers where they are shared."""
        return max(self.order) + 1

    @property
    def limit(self) -> int | None:
        """The longest sequence it can read, or None where nothing sets one."""
        positions = self.embedding.positions
        return positions.limit if positions and not self.embedding.patches else None

    @property
    def source(self) -> Spec:
        """The encoder that its trunk looks at, as an architecture of its own; where it has none, itself."""
        other = self.encoder
        if not other:
            return self
        return self.but(
            vocabulary=other.vocabulary or self.vocabulary,
            depth=other.depth or self.depth,
            heads=other.heads or self.heads,
            encoder=None,
            outputs=Outputs(),
            **{"feed.inner": other.inner or self.feed.inside(self.width), "attention.mask": Full()},
        )

    @property
    def parameters(self) -> int:
        """How many numbers its tensors hold; a table that is used twice counts once, what is never trained does not."""
        counted = (shape for name, shape in self.tensors().items() if not name.endswith(UNTRAINED))
        return sum(math.prod(shape) for shape in counted)

    def tensors(self) -> dict[str, Shape]:
        """Every tensor of the architecture, by name, with its shape."""
        return dict(_tensors(self))


def _tensors(spec: Spec) -> Tensors:
    yield from _stack(spec)
    if spec.encoder:
        shared = () if spec.encoder.vocabulary else ("embed.tokens.weight",)
        yield from ((f"encoder.{name}", shape) for name, shape in _stack(spec.source) if name not in shared)
    for name, part in spec.outputs.present().items():
        yield from part.tensors(f"outputs.{name}", spec)


def _stack(spec: Spec) -> Tensors:
    """The embedding and the blocks."""
    width, attention = spec.width, spec.attention
    yield from _embed(spec)
    if attention.relative:
        yield from attention.relative.shared("relative", spec.heads, spec.key_width)
    for i in range(spec.blocks):
        yield from attention.tensors(f"blocks.{i}.attention", width, spec.heads)
        yield from spec.norm.tensors(f"blocks.{i}.attention_norm", width)
        if spec.encoder:
            yield from attention.tensors(f"blocks.{i}.cross", width, spec.heads, crossing=True)
            yield from spec.norm.tensors(f"blocks.{i}.cross_norm", width)
        yield from spec.feed.tensors(f"blocks.{i}.feed", width)
        yield from spec.norm.tensors(f"blocks.{i}.feed_norm", width)
    if spec.normed_last:
        yield from spec.norm.tensors("norm", width)


def _embed(spec: Spec) -> Tensors:
    width, table, embedding = spec.width, spec.table_width, spec.embedding
    if embedding.patches:
        yield from embedding.patches.tensors("embed.tokens", width)
    elif embedding.clusters:
        yield from embedding.clusters.tensors("embed.tokens", spec.vocabulary, table, width)
    else:
        yield "embed.tokens.weight", (spec.vocabulary, table)
    if embedding.positions:
        yield "embed.positions.weight", (embedding.positions.size, table)
    if embedding.segments:
        yield "embed.segments.weight", (embedding.segments, table)
    if embedding.languages:
        yield "embed.languages.weight", (embedding.languages, table)
    if embedding.norm:
        yield from embedding.norm.tensors("embed.norm", table)
    if embedding.width and not embedding.clusters:
        yield from linear("embed.project", table, width)


def _settle(spec: Spec) -> None:
    """Give what has two spellings one, so that equal architectures compare equal."""
    if spec.feed.inner == 4 * spec.width:
        object.__setattr__(spec, "feed", spec.feed.but(inner=None))
    if spec.attention.width and spec.attention.width * spec.heads == spec.width:
        object.__setattr__(spec, "attention", spec.attention.but(width=None))
    if spec.attention.key_width == spec.head_width:
        object.__setattr__(spec, "attention", spec.attention.but(key_width=None))
    if spec.embedding.clusters and spec.embedding.width == spec.width:
        object.__setattr__(spec, "embedding", spec.embedding.but(width=None))
    if spec.encoder:
        same = {"depth": spec.depth, "heads": spec.heads, "inner": spec.feed.inside(spec.width)}
        changes = {name: None for name, value in same.items() if getattr(spec.encoder, name) == value}
        object.__setattr__(spec, "encoder", spec.encoder.but(**changes))


def _check_attention(spec: Spec) -> None:
    attention, mask = spec.attention, spec.attention.mask
    if not attention.width and spec.width % spec.heads:
        raise FieldError("heads", f"{spec.heads} heads do not divide a width of {spec.width}")
    if isinstance(attention.relative, Rotary) and spec.key_width % 2:
        raise FieldError("attention.relative", f"an odd head width of {spec.key_width} cannot be turned in pairs")
    if isinstance(attention.relative, RelativeBias):
        # Where a token sees what follows too, half of the buckets are for that.
        near = attention.relative.buckets // (4 if isinstance(mask, Full) else 2)
        if attention.relative.distance <= near:
            problem = f"{attention.relative.distance} must be more than the {near} distances that have a bucket each"
            raise FieldError("attention.relative.distance", problem)
    if isinstance(mask, Strided | Fixed) and mask.over == "heads" and spec.heads % 2:
        raise FieldError("attention.mask.over", f"{spec.heads} heads cannot be halved")
    if isinstance(mask, Strided | Fixed) and mask.over == "heads" and not isinstance(attention.relative, Rotary | None):
        raise FieldError("attention.relative", "its terms are for all heads at once, and half of them see otherwise")
    if isinstance(mask, Fixed) and mask.summary > mask.stride:
        raise FieldError("attention.mask.summary", f"{mask.summary} tokens are more than a stretch of {mask.stride}")
    if not attention.projected and (attention.width or attention.key_width or attention.relative):
        raise FieldError("attention.projected", "tokens that pass no weights have the width they have, and no terms")


def _check_embedding(spec: Spec) -> None:
    embedding = spec.embedding
    positions, patches = embedding.positions, embedding.patches
    if isinstance(positions, Learned | Sinusoid) and positions.limit < 1:
        raise FieldError("embedding.positions.offset", f"{positions.offset} leaves no position of {positions.size}")
    if isinstance(positions, Factored) and not positions.sizes:
        raise FieldError("embedding.positions.sizes", "there must be at least one")
    if not patches and not spec.vocabulary:
        raise FieldError("vocabulary", "must be at least 1 where the input is words")
    if patches:
        if len(patches.shape) != len(patches.grid) or len(patches.grid) not in (2, 3):
            raise FieldError(
                "embedding.patches.grid", "must have 2 directions for pictures, 3 for videos, as its shape"
            )
        if positions and positions.size != patches.count + 1:
            raise FieldError(
                "embedding.positions.size", f"must be {patches.count + 1}, one for each piece and the first"
            )
        if spec.encoder or embedding.clusters or embedding.width or embedding.segments or embedding.languages:
            raise FieldError("embedding.patches", "pictures have no words, segments, languages or encoder beside")
    if embedding.clusters:
        _check_cutoffs(embedding.clusters, spec, "embedding.clusters.cutoffs")


def _check_encoder(spec: Spec) -> None:
    if spec.encoder and isinstance(spec.attention.mask, Full):
        raise FieldError("attention.mask", "what looks at an encoder writes from left to right; it cannot see all")
    if spec.encoder and not spec.attention.projected:
        raise FieldError("attention.projected", "without weights a decoder cannot look at an encoder")
    if spec.encoder and not isinstance(spec.sharing, Separate):
        raise FieldError("sharing", "blocks are shared by depth in one stack only; an encoder beside it has no place")
    if spec.encoder and spec.width % (spec.encoder.heads or spec.heads) and not spec.attention.width:
        raise FieldError("encoder.heads", f"{spec.encoder.heads} heads do not divide a width of {spec.width}")
    if spec.encoder and spec.encoder.start >= spec.vocabulary:
        raise FieldError("encoder.start", f"{spec.encoder.start} is none of {spec.vocabulary} words")
    if spec.encoder and spec.recurrence:
        raise FieldError("recurrence", "a decoder that looks at an encoder keeps keys and values instead")


def _check_sharing(spec: Spec) -> None:
    sharing = spec.sharing
    if isinstance(sharing, Separate):
        return
    if sharing.groups > spec.depth:
        raise FieldError(
            "sharing.groups", f"{sharing.groups} groups are more than a depth of {spec.depth} has room for"
        )
    if sharing.inner * spec.depth > LAYERS:
        layers = sharing.inner * spec.depth
        raise FieldError("sharing.inner", f"{sharing.inner} blocks at each depth make {layers:,} layers of {LAYERS:,}")
    if spec.attention.scale.by_layer:
        raise FieldError("attention.scale.by_layer", "a block that is shared between layers has no layer number")


def _check_outputs(spec: Spec) -> None:
    outputs = spec.outputs
    reads_pooler = outputs.pair or (outputs.classify and outputs.classify.reads == Pooled())
    if reads_pooler and not outputs.pooler:
        raise FieldError("outputs.pooler", "is missing, and another output reads it")
    for name, part in (("classify", outputs.classify), ("tag", outputs.tag)):
        if part and not part.labels:
            raise FieldError(f"outputs.{name}.labels", "there must be at least one")
    words = outputs.words
    if words and not spec.vocabulary:
        raise FieldError("outputs.words", "pictures have no words to score")
    if words and isinstance(words.projection, Clustered) != bool(spec.embedding.clusters):
        raise FieldError("outputs.words.projection", "words in clusters, and no others, are scored by clusters")
    if words and isinstance(words.projection, Clustered) and words.transform:
        raise FieldError("outputs.words.transform", "words that are scored by clusters have none in front")
    if words and not words.transform and isinstance(words.projection, Tied) and spec.table_width != spec.width:
        raise FieldError("outputs.words.projection", f"a table of width {spec.table_width} cannot score {spec.width}")
    if words and isinstance(words.projection, Adaptive):
        _check_cutoffs(words.projection, spec, "outputs.words.projection.cutoffs")


def _check_cutoffs(adaptive: Adaptive | Clusters, spec: Spec, where: str) -> None:
    cutoffs = adaptive.cutoffs
    some = bool(cutoffs) or isinstance(adaptive, Clusters)
    if not some or list(cutoffs) != sorted(set(cutoffs)) or max(cutoffs, default=0) >= spec.vocabulary:
        raise FieldError(where, f"{brief(list(cutoffs))} must rise and end below the vocabulary of {spec.vocabulary}")
    if len(cutoffs) > CLUSTERS:
        raise FieldError(where, f"{len(cutoffs)} clusters are more than {CLUSTERS}")
    if spec.table_width // adaptive.factor ** len(cutoffs) < 1:
        raise FieldError(
            where, f"{len(cutoffs)} clusters leave no width for the last, each {adaptive.factor:g}x narrower"
        )
