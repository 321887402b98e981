"""How attention is computed over a packed batch: the plain reference defines it; the faster ones are tested against it.

A plan is made once for each forward and used by every layer. Sequences never see each other in any of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from bough.core.masks import Predicate, everything, the_past
from bough.packed import Packed

Heads = Float[Tensor, "tokens heads head_width"]


@runtime_checkable
class Plan(Protocol):
    """Attention over one batch, ready to be run in every layer."""

    def attend(self, q_THD: Heads, k_THD: Heads, v_THD: Heads, scale: float, dropout: float) -> Heads:
        """Mix the values by how well each query fits each key."""
        ...


Planner = Callable[[Packed, Predicate], Plan]


class Reference:
    """Every query against every key of the batch, and what may not be seen crossed out: slow, plain, always right."""

    def __init__(self, batch: Packed, visible: Predicate) -> None:
        same = batch.sequences[:, None] == batch.sequences
        self.visible_TT = same & visible(batch.positions[:, None], batch.positions)

    def weights(self, q_THD: Heads, k_THD: Heads, scale: float) -> Float[Tensor, "heads tokens tokens"]:
        """How much each query takes from each key."""
        scores_HTT = torch.einsum("qhd,khd->hqk", q_THD, k_THD) * scale
        return scores_HTT.masked_fill(~self.visible_TT, -torch.inf).softmax(-1)

    def attend(self, q_THD: Heads, k_THD: Heads, v_THD: Heads, scale: float, dropout: float) -> Heads:
        weights_HTT = F.dropout(self.weights(q_THD, k_THD, scale), dropout)
        return torch.einsum("hqk,khd->qhd", weights_HTT, v_THD)


@dataclass(frozen=True)
class Group:
    """Sequences of one length: how many, how long, and which rows of the batch are theirs."""

    count: int
    length: int
    rows: slice | Int[Tensor, " rows"]


class Grouped:
    """Sequences of equal length go through torch's fused attention together, as a rectangle without padding."""

    def __init__(self, batch: Packed, visible: Predicate) -> None:
        self.groups, self.back_T = _grouped(batch)
        self.causal = visible is the_past
        self.masks = {} if visible in (everything, the_past) else _rectangles(batch, visible)

    def attend(self, q_THD: Heads, k_THD: Heads, v_THD: Heads, scale: float, dropout: float) -> Heads:
        mixed: list[Tensor] = []
        for group in self.groups:
            q, k, v = (
                x_THD[group.rows].view(group.count, group.length, *x_THD.shape[1:]).transpose(1, 2)
                for x_THD in (q_THD, k_THD, v_THD)
            )
            mask = self.masks.get(group.length)
            out = F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal=self.causal, scale=scale)
            mixed.append(out.transpose(1, 2).reshape(-1, *q_THD.shape[1:]))
        out_THD = torch.cat(mixed)
        return out_THD if self.back_T is None else out_THD[self.back_T]


class Ragged:
    """Torch's fused attention over a nested tensor, which on a GPU takes sequences of any lengths in one call."""

    def __init__(self, batch: Packed, visible: Predicate) -> None:
        # Causal, it takes neither an empty sequence nor a head of a width that is no multiple of eight.
        ends = accumulate(length for length in batch.lengths if length)
        self.offsets, self.longest = torch.tensor((0, *ends), device=batch.ids.device), max(batch.lengths)
        self.causal = visible is the_past

    def attend(self, q_THD: Heads, k_THD: Heads, v_THD: Heads, scale: float, dropout: float) -> Heads:
        width = q_THD.shape[2]
        q, k, v = (self._nested(F.pad(x_THD, (0, -width % 8))) for x_THD in (q_THD, k_THD, v_THD))
        out = F.scaled_dot_product_attention(q, k, v, None, dropout, is_causal=self.causal, scale=scale)
        return out.transpose(1, 2).values()[..., :width]

    def _nested(self, x_THD: Heads) -> Tensor:
        x_NLHD = torch.nested.nested_tensor_from_jagged(x_THD.contiguous(), self.offsets, max_seqlen=self.longest)
        return x_NLHD.transpose(1, 2)


def plan(batch: Packed, visible: Predicate) -> Plan:
    """The fastest kernel that can do this batch on its device."""
    if not len(batch.ids):
        return Reference(batch, visible)  # the others have no answer about nothing
    if batch.ids.is_cuda and visible in (everything, the_past):
        return Ragged(batch, visible)
    return Grouped(batch, visible)


def _grouped(batch: Packed) -> tuple[list[Group], Int[Tensor, " tokens"] | None]:
    """The groups of a batch, and where each row went; None where the rows already lie in order of their groups."""
    starts: dict[int, list[int]] = defaultdict(list)
    for start, length in zip(accumulate((0, *batch.lengths)), batch.lengths, strict=False):
        starts[length].append(start)
    starts.pop(0, None)
    rows = {n: [s + i for s in begin for i in range(n)] for n, begin in starts.items()}
    laid_out = [row for group in rows.values() for row in group]
    if laid_out == list(range(len(laid_out))):
        ends = accumulate(len(group) for group in rows.values())
        groups = [Group(len(starts[n]), n, slice(end - len(rows[n]), end)) for n, end in zip(rows, ends, strict=True)]
        return groups, None
    device = batch.ids.device
    groups = [Group(len(starts[n]), n, torch.tensor(rows[n], device=device)) for n in rows]
    return groups, torch.tensor(laid_out, device=device).argsort()


def _rectangles(batch: Packed, visible: Predicate) -> dict[int, Tensor]:
    """The mask of each length, as the fused attention takes it."""
    positions = {n: torch.arange(n, device=batch.ids.device) for n in set(batch.lengths)}
    return {n: visible(at[:, None], at) for n, at in positions.items()}
