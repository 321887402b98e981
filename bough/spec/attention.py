"""How tokens look at each other: who sees whom, how scores are scaled, and what distance adds to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from bough.record import Range, Record
from bough.spec.parts import Count, Rate, Size, Tensors, linear


@dataclass(frozen=True)
class Full(Record):
    """Every token sees its whole sequence."""


@dataclass(frozen=True)
class Causal(Record):
    """A token sees itself and what came before."""


@dataclass(frozen=True)
class Window(Record):
    """A token sees the last `size` tokens, itself among them."""

    size: Size = 256


Over: TypeAlias = Literal["heads", "layers", "union"]
"""How the two halves of a factorised pattern are shared out: half the heads each, layers in turn, or both at once."""


@dataclass(frozen=True)
class Strided(Record):
    """A token sees itself and the `stride` tokens before it, and every token a whole number of strides back."""

    stride: Size = 128
    over: Over = "union"


@dataclass(frozen=True)
class Fixed(Record):
    """A token sees its own stretch of `stride` tokens up to itself, and the last `summary` tokens of every stretch."""

    stride: Size = 128
    summary: Size = 8
    over: Over = "union"


Mask: TypeAlias = Full | Causal | Window | Strided | Fixed


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
class RelativeBias(Record):
    """A learned number for each head and stretch of distances, one table for all layers (T5)."""

    buckets: Annotated[int, Range(4, 2**16)] = 32
    distance: Size = 128
    """From here on all distances are one."""

    def shared(self, name: str, heads: int, head_width: int) -> Tensors:
        yield f"{name}.weight", (self.buckets, heads)

    def own(self, name: str, heads: int, head_width: int, width: int) -> Tensors:
        yield from ()


@dataclass(frozen=True)
class LinearBias(Record):
    """A penalty that grows with distance, at a slope of each head's own; nothing is learned (ALiBi)."""

    def shared(self, name: str, heads: int, head_width: int) -> Tensors:
        yield from ()

    def own(self, name: str, heads: int, head_width: int, width: int) -> Tensors:
        yield from ()


@dataclass(frozen=True)
class RelativeKeys(Record):
    """A learned vector for each distance, added to the keys, for every head the same (Shaw)."""

    distance: Size = 16
    """From here on all distances are one, to either side."""

    def shared(self, name: str, heads: int, head_width: int) -> Tensors:
        yield from ()

    def own(self, name: str, heads: int, head_width: int, width: int) -> Tensors:
        yield f"{name}.weight", (2 * self.distance + 1, head_width)


@dataclass(frozen=True)
class RelativeTerms(Record):
    """Scores of content and of distance, each with a learned bias in the query's place (Transformer-XL)."""

    clamp: Count = 0
    """From here on all distances are one; 0 for never."""
    tied: bool = False
    """One pair of biases for all layers."""

    def shared(self, name: str, heads: int, head_width: int) -> Tensors:
        if self.tied:
            yield from self._biases(name, heads, head_width)

    def own(self, name: str, heads: int, head_width: int, width: int) -> Tensors:
        yield from linear(f"{name}.project", width, heads * head_width, bias=False)
        if not self.tied:
            yield from self._biases(name, heads, head_width)

    def _biases(self, name: str, heads: int, head_width: int) -> Tensors:
        yield f"{name}.content", (heads, head_width)
        yield f"{name}.position", (heads, head_width)


@dataclass(frozen=True)
class Rotary(Record):
    """Queries and keys turned by an angle that grows with position, so that scores depend on distance."""

    base: Annotated[float, Range(1, 1e12)] = 10000.0

    def shared(self, name: str, heads: int, head_width: int) -> Tensors:
        yield from ()

    def own(self, name: str, heads: int, head_width: int, width: int) -> Tensors:
        yield from ()


Relative: TypeAlias = RelativeBias | LinearBias | RelativeKeys | RelativeTerms | Rotary | None


@dataclass(frozen=True)
class Attention(Record):
    """How tokens look at each other."""

    mask: Mask = Full()
    scale: Scale = Scale()
    relative: Relative = None
    """What the distance between two tokens does to their score."""
    width: Size | None = None
    """Width of a head where it is not the trunk's shared out among them."""
    key_width: Size | None = None
    """Width of a head's queries and keys where it is not that of its values (Sparse Transformer)."""
    projected: bool = True
    """Pass tokens through weights on the way in and out; without, each takes the average of those that are like it."""
    bias: bool = True
    """On the way in."""
    out_bias: bool = True
    """On the way out."""
    weights_dropout: Rate = 0.1
    """On the attention weights."""
    dropout: Rate = 0.1
    """On what attention adds to the residual stream."""

    def tensors(self, name: str, width: int, heads: int, crossing: bool = False) -> Tensors:
        """Its tensors in a trunk of this width; where it looks at another sequence, keys are projected apart."""
        values = (self.width or width // heads) * heads
        keys = self.key_width * heads if self.key_width else values
        if self.projected and crossing:
            yield from linear(f"{name}.q", width, keys, self.bias)
            yield from linear(f"{name}.kv", width, keys + values, self.bias)
        if self.projected and not crossing:
            yield from linear(f"{name}.qkv", width, 2 * keys + values, self.bias)
        if self.projected:
            yield from linear(f"{name}.out", values, width, self.out_bias)
        if self.relative and not crossing:
            yield from self.relative.own(f"{name}.relative", heads, keys // heads, width)
