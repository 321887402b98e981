"""The one attention: projections in, the plan's kernel, projection out; within a sequence, or across to another.

Neither knows whether there is a memory: the layer it is called in (`Layer`) hands it what there is to read.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor, nn

from bough.core.kernels import Plan
from bough.core.memory import Nothing, Pair
from bough.core.relative import NOWHERE, Nowhere
from bough.packed import Packed

Stream = Float[Tensor, "tokens width"]
Context = Float[Tensor, "rows width"]
"""The stream, and in front of each sequence's tokens what a memory has of it."""
Widths = tuple[int, int, int]
"""Of queries, keys and values, those of all heads together."""


@dataclass(frozen=True, eq=False)
class Layer:
    """What one layer has before it: who may look at whom, what is remembered, and the source where there is one."""

    depth: int
    plan: Plan
    across: Plan
    source: Tensor
    """The source's last states, sequence after sequence."""
    memory: Nothing
    batch: Packed

    @property
    def positions(self) -> Int[Tensor, " rows"]:
        """Where in its sequence each row that attention reads is."""
        return self.memory.positions(self.batch)


class Sublayer(nn.Module):
    """What reads the stream and adds to it."""

    def reads(self, x_TW: Stream, layer: Layer) -> Context:
        """What it is given, once normalised where norms stand in front: the stream, or more than that."""
        return x_TW


class Thrice(nn.Module):
    """What stands for projections where there are none: each token is query, key and value itself."""

    def forward(self, x_TW: Context) -> Float[Tensor, "rows three_times"]:
        return x_TW.repeat(1, 3)


class Attention(Sublayer):
    """Each token gathers from those of its own sequence that it may see."""

    def __init__(
        self,
        qkv: nn.Module,
        out: nn.Module,
        heads: int,
        widths: Widths,
        scale: float,
        dropout: float,
        relative: Nowhere,
    ) -> None:
        super().__init__()
        self.qkv = qkv
        self.out = out
        self.heads = heads
        self.widths = widths
        self.scale = scale
        self.dropout = dropout
        self.relative = relative

    def reads(self, x_TW: Stream, layer: Layer) -> Context:
        return layer.memory.context(layer.depth, x_TW)

    def forward(self, x_RW: Context, layer: Layer) -> Stream:
        q, k, v = (part.unflatten(1, (self.heads, -1)) for part in self.qkv(x_RW).split(self.widths, 1))
        q, k = (self.relative.turn(one, layer.positions) for one in (q, k))
        k, v = layer.memory.extend(layer.depth, k, v)
        dropout = self.dropout if self.training else 0.0
        return self.out(layer.plan.attend(q, k, v, self.scale, dropout, self.relative).flatten(1))


class Cross(Sublayer):
    """Each token gathers from all of its source."""

    def __init__(
        self, q: nn.Linear, kv: nn.Linear, out: nn.Linear, heads: int, widths: Widths, scale: float, dropout: float
    ) -> None:
        super().__init__()
        self.q = q
        self.kv = kv
        self.out = out
        self.heads = heads
        self.widths = widths
        self.scale = scale
        self.dropout = dropout

    def forward(self, x_TW: Stream, layer: Layer) -> Stream:
        q_THD = self.q(x_TW).unflatten(1, (self.heads, -1))
        k_SHD, v_SHD = layer.memory.crossed(layer.depth, lambda: self._projected(layer.source))
        dropout = self.dropout if self.training else 0.0
        return self.out(layer.across.attend(q_THD, k_SHD, v_SHD, self.scale, dropout, NOWHERE).flatten(1))

    def _projected(self, source_SW: Stream) -> Pair:
        k_SHD, v_SHD = (part.unflatten(1, (self.heads, -1)) for part in self.kv(source_SW).split(self.widths[1:], 1))
        return k_SHD, v_SHD
