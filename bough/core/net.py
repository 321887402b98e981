"""The net: embed, a loop over layers, norm; `build` decides what of, and nothing here knows an architecture."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from jaxtyping import Float
from torch import Tensor, nn

from bough.core.block import Block
from bough.core.embed import Embed
from bough.core.kernels import Planner, plan
from bough.core.masks import Predicate
from bough.packed import Packed

Stream = Float[Tensor, "tokens width"]


class Net(nn.Module):
    """A transformer of any branch. Call it with a packed batch for its last hidden states."""

    def __init__(
        self, embed: Embed, blocks: list[Block], order: tuple[int, ...], norm: nn.Module, visible: Predicate
    ) -> None:
        super().__init__()
        self.embed = embed
        self.blocks = nn.ModuleList(blocks)
        self.order = order
        self.norm = norm
        self.outputs = nn.ModuleDict()
        """The heads, by name: each takes the last hidden states and their batch."""
        self.visible = visible

    def forward(self, batch: Packed, planner: Planner = plan) -> Stream:
        return self.state(batch, len(self.order), planner)

    def state(self, batch: Packed, layer: int, planner: Planner = plan) -> Stream:
        """The states after one layer, counted from the embedding; the layers behind it are not run."""
        return next(islice(self.states(batch, planner), layer, None))

    def states(self, batch: Packed, planner: Planner = plan) -> Iterator[Stream]:
        """The embedding, then what each layer makes of it; the last has been through the final norm."""
        x_TW = self.embed(batch)
        layout = planner(batch, self.visible)
        for block in self.order:
            yield x_TW
            x_TW = self.blocks[block](x_TW, layout)
        yield self.norm(x_TW)
