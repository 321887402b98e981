"""The parts of a layer besides attention: norms and their placement, the feed-forward, which block runs when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bough.record import Record
from bough.spec.parts import Activation, Epsilon, Few, Rate, Size, Tensors, linear


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


@dataclass(frozen=True)
class BatchNorm(Record):
    """Mean and variance of each column taken out over all tokens of a batch, then a learned gain and bias.

    A trained net uses the averages it kept while it learned, so that an answer never depends on its company.
    """

    epsilon: Epsilon = 1e-5
    momentum: Rate = 0.1
    """How much each batch moves the averages."""

    def tensors(self, name: str, width: int) -> Tensors:
        yield f"{name}.weight", (width,)
        yield f"{name}.bias", (width,)
        yield f"{name}.running_mean", (width,)
        yield f"{name}.running_var", (width,)


Norm: TypeAlias = LayerNorm | RMSNorm | BatchNorm


@dataclass(frozen=True)
class PostNorm(Record):
    """Norm after each residual sum, as in the original Transformer and BERT."""


@dataclass(frozen=True)
class PreNorm(Record):
    """Norm on the way into each sublayer and once at the end, as in GPT-2."""

    last: bool = True
    """The one at the end."""


Placement: TypeAlias = PostNorm | PreNorm


@dataclass(frozen=True)
class FeedForward(Record):
    """The two linear layers of each block and what is between them."""

    inner: Size | None = None
    """Width between the two where it is not four times the trunk's."""
    activation: Activation = "gelu"
    gated: bool = False
    """Multiply the activated half of a doubled `up` with its other half."""
    bias: bool = True
    inner_dropout: Rate = 0.0
    """Between the two."""
    dropout: Rate = 0.1
    """On what the feed-forward adds to the residual stream."""

    def inside(self, width: int) -> int:
        """The width between the two layers in a trunk of this width."""
        return self.inner or 4 * width

    def tensors(self, name: str, width: int) -> Tensors:
        inner = self.inside(width)
        yield from linear(f"{name}.up", width, 2 * inner if self.gated else inner, self.bias)
        yield from linear(f"{name}.down", inner, width, self.bias)


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
