"""The room of architectures: a transformer as frozen data, counted to the last parameter; no torch may come in.

A `Spec` is made of small variants. Each one knows the tensors it brings (`tensors`), so that an architecture can be
counted, compared and checked against a file before anything is allocated. `core` turns the same variants into modules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from bough.errors import FieldError
from bough.record import Range, Record, brief

Size: TypeAlias = Annotated[int, Range(1, 2**24)]
"""A count of something that a tensor has one row for."""
Count: TypeAlias = Annotated[int, Range(0, 2**24)]
LAYERS = 4096
"""More than any net has; a bound on the names that an architecture can be asked to spell out."""
CLUSTERS = 64
Few: TypeAlias = Annotated[int, Range(1, LAYERS)]
Rate: TypeAlias = Annotated[float, Range(0, 1)]
Epsilon: TypeAlias = Annotated[float, Range(0, 1)]

Activation: TypeAlias = Literal[
    "relu", "gelu", "gelu_tanh", "gelu_sigmoid", "silu", "tanh", "sigmoid", "mish", "relu_squared", "identity"
]
Shape: TypeAlias = tuple[int, ...]
Tensors: TypeAlias = Iterator[tuple[str, Shape]]


def linear(name: str, inputs: int, outputs: int, bias: bool = True) -> Tensors:
    """The tensors of a linear layer."""
    yield f"{name}.weight", (outputs, inputs)
    if bias:
        yield f"{name}.bias", (outputs,)


# Normalisation


@dataclass(frozen=True)
class LayerNorm(Record):
    """Mean and variance taken out over the width, then a learned gain and bias."""

    epsilon: Epsilon = 1e-5

    def tensors(self, name: str, width: int) -> Tensors:
        yield f"{name}.weight", (width,)
        yield f"{name}.bias", (width,)


@dataclass(frozen=True)
class RMSNorm(Record):
    """Only the root mean square taken out, then a learned gain."""

    epsilon: Epsilon = 1e-6

    def tensors(self, name: str, width: int) -> Tensors:
        yield f"{name}.weight", (width,)


Norm: TypeAlias = LayerNorm | RMSNorm


@dataclass(frozen=True)
class PostNorm(Record):
    """Norm after each residual sum, as in the original Transformer and BERT."""


@dataclass(frozen=True)
class PreNorm(Record):
    """Norm on the way into each sublayer and once at the end, as in GPT-2."""


# Positions


@dataclass(frozen=True)
class Learned(Record):
    """A learned vector for each of `size` positions; the first token takes row `offset`."""

    size: Size = 512
    offset: Count = 0

    @property
    def limit(self) -> int:
        """The longest sequence that has a position for each token."""
        return self.size - self.offset


@dataclass(frozen=True)
class Sinusoid(Record):
    """Sines and cosines of falling frequency, interleaved, in a table that is kept with the weights but not trained."""

    size: Size = 512
    offset: Count = 0

    @property
    def limit(self) -> int:
        """The longest sequence that has a position for each token."""
        return self.size - self.offset


Positions: TypeAlias = Learned | Sinusoid | None


@dataclass(frozen=True)
class Embedding(Record):
    """What a token is before the first layer: the sum of its tables, then norm, dropout and a projection."""

    positions: Positions = Learned()
    segments: Count = 0
    """How many kinds of segment (sentence A, sentence B, …) have a vector; 0 for none."""
    languages: Count = 0
    """How many languages have a vector; 0 for none."""
    norm: Norm | None = None
    dropout: Rate = 0.1
    width: Size | None = None
    """Width of the tables where it is not the trunk's, with a projection between the two (ALBERT)."""


# Attention


@dataclass(frozen=True)
class Full(Record):
    """Every token sees its whole sequence."""


@dataclass(frozen=True)
class Causal(Record):
    """A token sees itself and what came before."""


Mask: TypeAlias = Full | Causal


@dataclass(frozen=True)
class Scale(Record):
    """What scores are multiplied by before the softmax."""

    root: bool = True
    """Divide by the square root of a head's width."""
    by_layer: bool = False
    """Divide by the layer's number too, counted from one (a setting of GPT-2)."""

    def at(self, head_width: int, layer: int) -> float:
        """The factor in one layer, counted from zero."""
        scale = head_width**-0.5 if self.root else 1.0
        return scale / (layer + 1) if self.by_layer else scale


@dataclass(frozen=True)
class Attention(Record):
    """How tokens look at each other."""

    mask: Mask = Full()
    scale: Scale = Scale()
    bias: bool = True
    weights_dropout: Rate = 0.1
    """On the attention weights."""
    dropout: Rate = 0.1
    """On what attention adds to the residual stream."""

    def tensors(self, name: str, width: int) -> Tensors:
        yield from linear(f"{name}.qkv", width, 3 * width, self.bias)
        yield from linear(f"{name}.out", width, width, self.bias)


@dataclass(frozen=True)
class FeedForward(Record):
    """The two linear layers of each block and what is between them."""

    inner: Size | None = None
    """Width between the two where it is not four times the trunk's."""
    activation: Activation = "gelu"
    gated: bool = False
    """Multiply the activated half of a doubled `up` with its other half."""
    bias: bool = True
    dropout: Rate = 0.1
    """On what the feed-forward adds to the residual stream."""

    def inside(self, width: int) -> int:
        """The width between the two layers in a trunk of this width."""
        return self.inner or 4 * width

    def tensors(self, name: str, width: int) -> Tensors:
        inner = self.inside(width)
        yield from linear(f"{name}.up", width, 2 * inner if self.gated else inner, self.bias)
        yield from linear(f"{name}.down", inner, width, self.bias)


# Which block runs at which depth


@dataclass(frozen=True)
class Separate(Record):
    """A block of its own at every depth."""

    def order(self, depth: int) -> tuple[int, ...]:
        return tuple(range(depth))


@dataclass(frozen=True)
class Groups(Record):
    """Blocks shared by depth (ALBERT): the layers fall into groups, each a run of `inner` blocks used over and over."""

    groups: Few = 1
    inner: Few = 1

    def order(self, depth: int) -> tuple[int, ...]:
        # The float division is the published rule; in whole numbers some uneven splits would fall elsewhere.
        starts = [int(turn / (depth / self.groups)) * self.inner for turn in range(depth)]
        return tuple(start + step for start in starts for step in range(self.inner))


Sharing: TypeAlias = Separate | Groups


# Outputs: what a net can be asked for besides its hidden states


@dataclass(frozen=True)
class Pooled(Record):
    """The pooler's vector."""


@dataclass(frozen=True)
class First(Record):
    """The first token's state."""


@dataclass(frozen=True)
class Last(Record):
    """The last token's state."""


@dataclass(frozen=True)
class Mean(Record):
    """The mean of all states."""


Reading: TypeAlias = Pooled | First | Last | Mean


@dataclass(frozen=True)
class Pooler(Record):
    """The first token's state through a square linear layer and tanh; next-sentence and classification read it."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.dense", spec.width, spec.width)


@dataclass(frozen=True)
class Tied(Record):
    """Words are scored with the table that embeds them."""

    bias: bool = False

    def tensors(self, name: str, spec: Spec) -> Tensors:
        if self.bias:
            yield f"{name}.bias", (spec.vocabulary,)


@dataclass(frozen=True)
class Untied(Record):
    """Words are scored with a table of their own."""

    bias: bool = False

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.project", spec.table_width, spec.vocabulary, self.bias)


@dataclass(frozen=True)
class Adaptive(Record):
    """An adaptive softmax: rare words in clusters behind narrower projections. Its scores are log-probabilities."""

    cutoffs: tuple[Size, ...] = (8000, 20000)
    """Where the shortlist and each cluster end; the vocabulary ends the last."""
    factor: Annotated[float, Range(1, 1024)] = 4.0
    """How many times narrower each cluster's projection is than the one before."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        shortlist, ends = self.cutoffs[0], (*self.cutoffs[1:], spec.vocabulary)
        yield from linear(f"{name}.adaptive.head", spec.table_width, shortlist + len(self.cutoffs))
        for i, (start, end) in enumerate(zip(self.cutoffs, ends, strict=True)):
            narrow = int(spec.table_width // self.factor ** (i + 1))
            yield f"{name}.adaptive.tail.{i}.0.weight", (narrow, spec.table_width)
            yield f"{name}.adaptive.tail.{i}.1.weight", (end - start, narrow)


@dataclass(frozen=True)
class Transform(Record):
    """What BERT's masked-word output puts before the projection: linear, activation, norm."""

    activation: Activation = "gelu"
    norm: Norm = LayerNorm(1e-12)


@dataclass(frozen=True)
class Words(Record):
    """A score for every word at every position: masked or causal language modelling, as the mask has it."""

    transform: Transform | None = None
    projection: Tied | Untied | Adaptive = Tied()

    def tensors(self, name: str, spec: Spec) -> Tensors:
        if self.transform:
            yield from linear(f"{name}.transform", spec.width, spec.table_width)
            yield from self.transform.norm.tensors(f"{name}.norm", spec.table_width)
        yield from self.projection.tensors(name, spec)


@dataclass(frozen=True)
class Pair(Record):
    """Whether one sentence follows another: next-sentence (BERT) or sentence-order (ALBERT) prediction."""

    dropout: Rate = 0.0

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.out", spec.width, 2)


@dataclass(frozen=True)
class Classify(Record):
    """A score for each label of the whole sequence."""

    labels: tuple[str, ...] = ("LABEL_0", "LABEL_1")
    task: Literal["single", "multi", "regression"] = "single"
    reads: Reading = Pooled()
    hidden: Activation | None = None
    """The activation of a square layer before the scores, where there is one (RoBERTa, DistilBERT)."""
    hidden_dropout: Rate = 0.0
    """Before that layer."""
    dropout: Rate = 0.1
    """Before the scores."""
    bias: bool = True
    activation: Activation = "identity"
    """On the scores themselves (a setting of XLM)."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        if self.hidden:
            yield from linear(f"{name}.hidden", spec.width, spec.width)
        yield from linear(f"{name}.out", spec.width, len(self.labels), self.bias)


@dataclass(frozen=True)
class Tag(Record):
    """A score for each label of every token."""

    labels: tuple[str, ...] = ("LABEL_0", "LABEL_1")
    dropout: Rate = 0.1

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.out", spec.width, len(self.labels))


@dataclass(frozen=True)
class Span(Record):
    """Two scores for every token: that an answer starts there, and that it ends there."""

    dropout: Rate = 0.0

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.out", spec.width, 2)


@dataclass(frozen=True)
class Outputs(Record):
    """The heads of a net; what is absent is None."""

    pooler: Pooler | None = None
    words: Words | None = None
    pair: Pair | None = None
    classify: Classify | None = None
    tag: Tag | None = None
    span: Span | None = None

    def present(self) -> dict[str, Pooler | Words | Pair | Classify | Tag | Span]:
        """The heads that are there, by name."""
        parts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: part for name, part in parts.items() if part is not None}

    def only(self, *names: str) -> Outputs:
        """The same outputs with just these kept, and the pooler where one of them reads it."""
        kept = {name: part for name, part in self.present().items() if name in names}
        reads = [getattr(part, "reads", Pooled() if isinstance(part, Pair) else None) for part in kept.values()]
        if self.pooler and Pooled() in reads:
            kept["pooler"] = self.pooler
        return Outputs(**kept)  # type: ignore[arg-type]  # each name goes back to the field it came from


@dataclass(frozen=True)
class SentenceVector(Record):
    """How token states become one vector for a text, as a sentence-transformers folder says."""

    pooling: Literal["mean", "first", "last", "max"] = "mean"
    normalize: bool = True
    limit: Size | None = None
    """Longer texts were cut to this many tokens when the encoder was trained."""


@dataclass(frozen=True)
class Initial(Record):
    """How weights are drawn before training: normal around zero, biases zero, gains one."""

    std: Annotated[float, Range(0, 10)] = 0.02
    tables: Annotated[float, Range(0, 10)] | None = None
    """For the embedding tables, where it differs."""
    residual: bool = False
    """Divide it for layers that write to the residual stream by the root of how many do (GPT-2)."""


@dataclass(frozen=True)
class Spec(Record):
    """One architecture, whole. Make a changed copy with `but`; a wrong value is an error that names its place."""

    family: str
    """Whose checkpoint files it is written to; nothing else follows from it."""
    vocabulary: Size
    width: Size
    depth: Few
    """How many times a block, or a run of shared blocks, is applied."""
    heads: Size
    embedding: Embedding = field(default_factory=Embedding)
    attention: Attention = Attention()
    feed: FeedForward = FeedForward()
    norm: Norm = LayerNorm()
    placement: PostNorm | PreNorm = PostNorm()
    sharing: Sharing = Separate()
    initial: Initial = Initial()
    outputs: Outputs = Outputs()
    vector: SentenceVector | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feed.inner == 4 * self.width:
            # One architecture has one spelling, so that equal ones compare equal.
            object.__setattr__(self, "feed", self.feed.but(inner=None))
        if self.width % self.heads:
            raise FieldError("heads", f"{self.heads} heads do not divide a width of {self.width}")
        _check_positions(self.embedding)
        _check_sharing(self)
        _check_outputs(self)

    @property
    def table_width(self) -> int:
        """The width of the embedding tables."""
        return self.embedding.width or self.width

    @property
    def head_width(self) -> int:
        """The width of one attention head."""
        return self.width // self.heads

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
        return self.embedding.positions.limit if self.embedding.positions else None

    @property
    def parameters(self) -> int:
        """How many numbers its tensors hold; a table that is used twice counts once."""
        return sum(math.prod(shape) for shape in self.tensors().values())

    def tensors(self) -> dict[str, Shape]:
        """Every tensor of the architecture, by name, with its shape."""
        return dict(_tensors(self))


def _tensors(spec: Spec) -> Tensors:
    width, table, embedding = spec.width, spec.table_width, spec.embedding
    yield "embed.tokens.weight", (spec.vocabulary, table)
    if embedding.positions:
        yield "embed.positions.weight", (embedding.positions.size, table)
    if embedding.segments:
        yield "embed.segments.weight", (embedding.segments, table)
    if embedding.languages:
        yield "embed.languages.weight", (embedding.languages, table)
    if embedding.norm:
        yield from embedding.norm.tensors("embed.norm", table)
    if embedding.width:
        yield from linear("embed.project", table, width)
    for i in range(spec.blocks):
        yield from spec.attention.tensors(f"blocks.{i}.attention", width)
        yield from spec.norm.tensors(f"blocks.{i}.attention_norm", width)
        yield from spec.feed.tensors(f"blocks.{i}.feed", width)
        yield from spec.norm.tensors(f"blocks.{i}.feed_norm", width)
    if isinstance(spec.placement, PreNorm):
        yield from spec.norm.tensors("norm", width)
    for name, part in spec.outputs.present().items():
        yield from part.tensors(f"outputs.{name}", spec)


def _check_positions(embedding: Embedding) -> None:
    positions = embedding.positions
    if positions and positions.limit < 1:
        raise FieldError("embedding.positions.offset", f"{positions.offset} leaves no position of {positions.size}")


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
    if words and not words.transform and isinstance(words.projection, Tied) and spec.table_width != spec.width:
        raise FieldError("outputs.words.projection", f"a table of width {spec.table_width} cannot score {spec.width}")
    if words and isinstance(words.projection, Adaptive):
        _check_cutoffs(words.projection, spec)


def _check_cutoffs(adaptive: Adaptive, spec: Spec) -> None:
    cutoffs, where = adaptive.cutoffs, "outputs.words.projection.cutoffs"
    if not cutoffs or list(cutoffs) != sorted(set(cutoffs)) or cutoffs[-1] >= spec.vocabulary:
        raise FieldError(where, f"{brief(list(cutoffs))} must rise and end below the vocabulary of {spec.vocabulary}")
    if len(cutoffs) > CLUSTERS:
        raise FieldError(where, f"{len(cutoffs)} clusters are more than {CLUSTERS}")
    if spec.table_width // adaptive.factor ** len(cutoffs) < 1:
        raise FieldError(
            where, f"{len(cutoffs)} clusters leave no width for the last, each {adaptive.factor:g}x narrower"
        )
