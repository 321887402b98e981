"""The net: embed, a loop over layers, norm; `build` decides what of, and nothing here knows an architecture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Literal, NamedTuple, cast

from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint  # pyright: ignore[reportUnknownVariableType]

from bough.core.attention import Layer
from bough.core.block import Block
from bough.core.embed import Embed
from bough.core.kernels import Heads, Keys, Layout, Plan, Planner, Rows, Values, plan
from bough.core.masks import Seeing, everything
from bough.core.memory import Cache, Nothing, Recurrence
from bough.core.norms import averaging
from bough.core.relative import NOWHERE, Nowhere
from bough.errors import BoughError
from bough.packed import Packed

Stream = Float[Tensor, "tokens width"]
Run = Callable[[Block, Stream, Layer], Stream]
Kind = Literal["auto", "none", "cache", "recurrence"]
FORGETFUL = Nothing()


class Layers(NamedTuple):
    """The blocks of a stack, which of them each layer runs, and what each layer sees."""

    blocks: list[Block]
    order: tuple[int, ...]
    seeing: tuple[Seeing, ...]


class Stack(nn.Module):
    """Layers over an embedding. Call it with a packed batch for its last hidden states."""

    def __init__(self, embed: Embed, layers: Layers, norm: nn.Module, dropout: float, relative: nn.Module) -> None:
        super().__init__()
        self.embed = embed
        self.blocks = nn.ModuleList(layers.blocks)
        self.order = layers.order
        self.seeing = layers.seeing
        self.norm = norm
        self.dropout = nn.Dropout(dropout)
        self.relative = relative
        """What all layers know of distances."""
        self.run: Run = _run

    def forward(self, batch: Packed, planner: Planner = plan, memory: Nothing = FORGETFUL) -> Stream:
        return self.state(batch, len(self.order), planner, memory)

    def state(self, batch: Packed, layer: int, planner: Planner = plan, memory: Nothing = FORGETFUL) -> Stream:
        """The states after one layer, counted from the embedding; the layers behind it are not run."""
        return next(islice(self.states(batch, planner, memory), layer, None))

    def states(self, batch: Packed, planner: Planner = plan, memory: Nothing = FORGETFUL) -> Iterator[Stream]:
        """The embedding, then what each layer makes of it; the last has been through the final norm."""
        memory, batch = memory.begin(batch)
        x_TW = self.embed(batch)
        for block, layer in zip(self.order, self.layers(batch, planner, memory), strict=True):
            yield x_TW
            x_TW = self.run(self.block(block), x_TW, layer)
        yield self.dropout(self.norm(x_TW))

    def block(self, number: int) -> Block:
        """One of its blocks, of which a layer may share another's."""
        block = self.blocks[number]
        assert isinstance(block, Block)
        return block

    def layers(self, batch: Packed, planner: Planner, memory: Nothing) -> list[Layer]:
        """What each layer has before it."""
        layout = memory.layout(batch)
        plans = {seeing: planner(layout, seeing) for seeing in dict.fromkeys(self.seeing)}
        source_SW, across = self.source(batch, planner, memory)
        return [
            Layer(depth, plans[seeing], across, source_SW, memory, batch) for depth, seeing in enumerate(self.seeing)
        ]

    def source(self, batch: Packed, planner: Planner, memory: Nothing) -> tuple[Stream, Plan]:
        """What is looked at besides the batch itself, and how; a stack alone looks at nothing."""
        return batch.ids.new_zeros(0, 0).float(), NOWHERE_ELSE

    def recompute(self, on: bool = True) -> None:
        """In training, keep only what enters each layer and compute the rest again on the way back: slower, smaller."""
        self.run = _run_again if on else _run


class Net(Stack):
    """A transformer of any branch: a stack, its heads, and what one may keep between calls."""

    def __init__(
        self, embed: Embed, layers: Layers, norm: nn.Module, dropout: float, relative: nn.Module, kept: int | None
    ) -> None:
        super().__init__(embed, layers, norm, dropout, relative)
        self.outputs = nn.ModuleDict()
        """The heads, by name: each takes the last hidden states and their batch."""
        self.kept = kept

    @property
    def reader(self) -> Stack:
        """The stack that reads what a user gives."""
        return self

    def memory(self, kind: Kind = "auto", length: int | None = None) -> Nothing:
        """A memory for successive calls: of keys and values, or of the last tokens' states as some nets were trained.

        `length` is how many tokens a recurrence keeps, where that is not the architecture's own number.
        """
        chosen = ("cache" if self.kept is None else "recurrence") if kind == "auto" else kind
        if chosen == "none":
            return FORGETFUL
        if everything in self.seeing:
            raise BoughError("memory: where tokens see what follows, a sequence cannot be read stretch by stretch")
        if chosen == "cache" and length is None:
            return Cache()
        if chosen == "cache":
            raise BoughError("memory: a cache keeps all that is read; length= is for a recurrence")
        held = self.kept if length is None else length
        if held is None or held < 0:
            raise BoughError("memory: how many tokens a recurrence keeps is not said; give it as length=, 0 or more")
        return Recurrence(held)


class EncoderDecoder(Net):
    """A net whose layers look at the last states of an encoder as well."""

    encoder: Stack

    @property
    def reader(self) -> Stack:
        return self.encoder

    def source(self, batch: Packed, planner: Planner, memory: Nothing) -> tuple[Stream, Plan]:
        source_SW, lengths = memory.source(lambda: (self.encoder(batch.read, planner), batch.read.lengths))
        rows = Rows.packed(batch.lengths), Rows.packed(lengths)
        return source_SW, planner(Layout(*rows, batch.ids.device), everything)

    def recompute(self, on: bool = True) -> None:
        super().recompute(on)
        self.encoder.recompute(on)


class NowhereElse:
    """The plan of those that look at nothing besides: it is never asked."""

    def attend(self, q: Heads, k: Keys, v: Values, scale: float, dropout: float, relative: Nowhere = NOWHERE) -> Heads:
        raise NotImplementedError


NOWHERE_ELSE = NowhereElse()


def _run(block: Block, x_TW: Stream, layer: Layer) -> Stream:
    return block(x_TW, layer)


def _run_again(block: Block, x_TW: Stream, layer: Layer) -> Stream:
    again = cast("Callable[..., Tensor]", checkpoint)
    runs = count()

    def run(x_TW: Stream, layer: Layer) -> Stream:
        with averaging(next(runs) == 0):
            return block(x_TW, layer)

    return again(run, x_TW, layer, use_reentrant=False)
