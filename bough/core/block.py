"""One layer: attention, a look at the source where there is one, and feed-forward around the residual stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from bough.core.attention import Layer, Sublayer

Stream = Float[Tensor, "tokens width"]


class Around(NamedTuple):
    """A sublayer with its norm and its dropout."""

    does: Sublayer
    norm: nn.Module
    dropout: nn.Module


class Block(nn.Module):
    """Sublayers by name; the two placements of their norms differ only in `forward`."""

    def __init__(self, sublayers: Mapping[str, Around]) -> None:
        super().__init__()
        self.sublayers = tuple(sublayers.values())
        for name, (does, norm, dropout) in sublayers.items():
            self.add_module(name, does)
            self.add_module(f"{name}_norm", norm)
            self.add_module(f"{name}_dropout", dropout)


class PostNormBlock(Block):
    """Norm after each sum."""

    def forward(self, x_TW: Stream, layer: Layer) -> Stream:
        for does, norm, dropout in self.sublayers:
            x_TW = norm(x_TW + dropout(does(does.reads(x_TW, layer), layer)))
        return x_TW


class PreNormBlock(Block):
    """Norm on the way into each sublayer."""

    def forward(self, x_TW: Stream, layer: Layer) -> Stream:
        for does, norm, dropout in self.sublayers:
            x_TW = x_TW + dropout(does(norm(does.reads(x_TW, layer)), layer))
        return x_TW
