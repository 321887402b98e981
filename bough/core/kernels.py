"""How attention is computed over a packed batch: the plain reference defines it; the faster ones are tested against it.

A plan is made once for each forward and each mask, and used by every layer that has it. Sequences never see each other
in any of them. Keys may reach further back than queries, where a memory holds some, or be those of another sequence.

Shapes: T tokens asking, R rows of keys, N sequences of a group, B rows of a route, H heads, D a head's width.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from bough.core.masks import Halves, Predicate, Route, Seeing, Sparse, everything, the_past
from bough.core.relative import NOWHERE, Nowhere

Heads = Float[Tensor, "rows heads head_width"]
Keys = Float[Tensor, "held heads head_width"]
Values = Float[Tensor, "held heads value_width"]
Mixed = Float[Tensor, "tokens heads value_width"]


SUMMED = "_scaled_dot_product_flash_attention_for_cpu"
"""Torch's fused attention in the form that also tells what each query's softmax summed to."""


@dataclass(frozen=True)
class Rows:
    """Where the tokens of each sequence lie in a tensor: the first row, how many, and the position of the first."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    firsts: tuple[int, ...]

    @classmethod
    def packed(cls, lengths: Sequence[int], firsts: Sequence[int] = ()) -> Rows:
        """End to end."""
        starts = tuple(accumulate((0, *lengths)))[:-1]
        return cls(starts, tuple(lengths), tuple(firsts) or (0,) * len(starts))

    def index(self, device: torch.device) -> Int[Tensor, " rows"]:
        """The row of each token, sequence after sequence."""
        return torch.tensor([s + i for s, n in zip(self.starts, self.lengths, strict=True) for i in range(n)],
                            dtype=torch.long, device=device)  # fmt: skip

    def positions(self, device: torch.device) -> Int[Tensor, " rows"]:
        """The position of each token, sequence after sequence."""
        return torch.tensor([f + i for f, n in zip(self.firsts, self.lengths, strict=True) for i in range(n)],
                            dtype=torch.long, device=device)  # fmt: skip

    def sequences(self, device: torch.device) -> Int[Tensor, " rows"]:
        """The sequence of each token."""
        return torch.tensor([number for number, n in enumerate(self.lengths) for _ in range(n)],
                            dtype=torch.long, device=device)  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Who asks and who is asked; which of them may meet is for a mask to say."""

    queries: Rows
    keys: Rows
    device: torch.device

    @property
    def plain(self) -> bool:
        """Whether whole sequences ask themselves, end to end."""
        return self.queries == self.keys == Rows.packed(self.queries.lengths)


@runtime_checkable
class Plan(Protocol):
    """Attention over one batch, ready to be run in every layer."""

    def attend(self, q: Heads, k: Keys, v: Values, scale: float, dropout: float, relative: Nowhere = NOWHERE) -> Mixed:
        """Mix the values by how well each query fits each key; one row for each token that asks, end to end."""
        ...


Planner = Callable[[Layout, Seeing], Plan]


class Reference:
    """Every query against every key of the batch, and what may not be seen crossed out: slow, plain, always right."""

    def __init__(self, layout: Layout, seeing: Seeing) -> None:
        asking, asked, device = layout.queries, layout.keys, layout.device
        self.rows_T, self.rows_R = asking.index(device), asked.index(device)
        at_T, at_R = asking.positions(device), asked.positions(device)
        self.distance_TR = at_R - at_T[:, None]
        same_TR = asked.sequences(device) == asking.sequences(device)[:, None]
        parts = (seeing.first, seeing.second) if isinstance(seeing, Halves) else (seeing,)
        self.visible_PTR = torch.stack([same_TR & part(at_T[:, None], at_R) for part in parts])

    def weights(
        self, q: Heads, k: Keys, scale: float, relative: Nowhere = NOWHERE
    ) -> Float[Tensor, "heads queries keys"]:
        """How much each query takes from each key; nothing where it sees none."""
        q_HTD, k_HRD = q[self.rows_T].transpose(0, 1), k[self.rows_R].transpose(0, 1)
        scores_HTR = q_HTD @ k_HRD.transpose(1, 2) * scale
        scores_HTR = scores_HTR + relative.scores(q_HTD, k_HRD, self.distance_TR, scale)
        visible_HTR = self.visible_PTR.repeat_interleave(q.shape[1] // len(self.visible_PTR), 0)
        return scores_HTR.masked_fill(~visible_HTR, -torch.inf).softmax(-1).masked_fill(~visible_HTR, 0)

    def attend(self, q: Heads, k: Keys, v: Values, scale: float, dropout: float, relative: Nowhere = NOWHERE) -> Mixed:
        weights_HTR = F.dropout(self.weights(q, k, scale, relative), dropout)
        return (weights_HTR @ v[self.rows_R].transpose(0, 1)).transpose(0, 1)


@dataclass(frozen=True)
class Side:
    """The rows of a group on one side: as many for each sequence, from the same position on."""

    starts: tuple[int, ...]
    length: int
    first: int

    def of(self, x: Heads) -> Float[Tensor, "sequences own heads head_width"]:
        """These rows of a tensor; where they lie at even steps, without copying them."""
        count, start = len(self.starts), self.starts[0]
        step = self.starts[1] - start if count > 1 else self.length
        evenly = all(b - a == step for a, b in zip(self.starts, self.starts[1:], strict=False))
        if evenly and step >= self.length and start + count * step <= len(x):
            return x[start : start + count * step].view(count, step, *x.shape[1:])[:, : self.length]
        rows = torch.tensor(self.starts, device=x.device)[:, None] + torch.arange(self.length, device=x.device)
        return x[rows]

    def positions(self, device: torch.device) -> Int[Tensor, " rows"]:
        """The position of each row."""
        return torch.arange(self.first, self.first + self.length, device=device)


@dataclass(frozen=True)
class Group:
    """Sequences that are alike in how many ask, how many are asked, and where both begin."""

    numbers: tuple[int, ...]
    queries: Side
    keys: Side


class Grouped:
    """Sequences of equal lengths go through torch's fused attention together, as a rectangle without padding."""

    def __init__(self, layout: Layout, seeing: Predicate) -> None:
        self.groups = list(_groups(layout))
        self.back_T = _back(layout, self.groups)
        # The fused attention counts causal from the first of each; that holds only where both begin together.
        self.causal = [seeing is the_past and group.queries.first == group.keys.first for group in self.groups]
        self.masks = [
            None if causal else _mask(group, seeing, layout.device)
            for group, causal in zip(self.groups, self.causal, strict=True)
        ]
        self.seeing, self.device = seeing, layout.device

    def attend(self, q: Heads, k: Keys, v: Values, scale: float, dropout: float, relative: Nowhere = NOWHERE) -> Mixed:
        mixed: list[Tensor] = []
        for group, mask, causal in zip(self.groups, self.masks, self.causal, strict=True):
            q_NHQD = group.queries.of(q).transpose(1, 2)
            k_NHKD, v_NHKD = (group.keys.of(x).transpose(1, 2) for x in (k, v))
            shown = self._biased(group, relative, q_NHQD, k_NHKD, scale) if relative.counts else mask
            first_on = causal and shown is None
            out = F.scaled_dot_product_attention(q_NHQD, k_NHKD, v_NHKD, shown, dropout, first_on, scale=scale)
            mixed.append(out.transpose(1, 2).flatten(0, 1))
        out_THD = torch.cat(mixed)
        return out_THD if self.back_T is None else out_THD[self.back_T]

    def _biased(self, group: Group, relative: Nowhere, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """What distance adds, with what may not be seen crossed out."""
        added = relative.scores(q, k, _distance(group, self.device), scale)
        mask = _mask(group, self.seeing, self.device)
        return added if mask is None else added.masked_fill(~mask, -torch.inf)


Way = Callable[["Sequence[_Cells]", Tensor, Tensor, Tensor, float, float, Nowhere], Tensor]
"""How the routes of one group are walked."""


class Routed:
    """A sparse mask over whole sequences: only the cells that its routes lead through are computed."""

    def __init__(self, layout: Layout, seeing: Sparse) -> None:
        self.groups = list(_groups(layout))
        self.back_T = _back(layout, self.groups)
        self.routes = [[_Cells(route, layout.device) for route in seeing.routes(g.queries.length)] for g in self.groups]

    def attend(self, q: Heads, k: Keys, v: Values, scale: float, dropout: float, relative: Nowhere = NOWHERE) -> Mixed:
        way = self._way(q, v, dropout, relative)
        mixed: list[Tensor] = []
        for group, routes in zip(self.groups, self.routes, strict=True):
            q_NLHD, k_NLHD, v_NLHD = (side.of(x) for side, x in ((group.queries, q), (group.keys, k), (group.keys, v)))
            mixed.append(way(routes, q_NLHD, k_NLHD, v_NLHD, scale, dropout, relative).flatten(0, 1))
        out_THD = torch.cat(mixed)
        return out_THD if self.back_T is None else out_THD[self.back_T]

    def _way(self, q: Heads, v: Values, dropout: float, relative: Nowhere) -> Way:
        """The fastest way that can do it; the plain one always can."""
        if relative.counts:
            return _plainly
        if all(len(routes) == 1 for routes in self.routes):
            return _at_once
        # The fused sums carry no gradient, and torch has them for heads of one width on a CPU, by a name of its own.
        summed = not torch.is_grad_enabled() and not dropout and q.shape[-1] == v.shape[-1]
        told = q.device.type == "cpu" and hasattr(torch.ops.aten, SUMMED)
        return _by_sums if summed and told else _plainly


def _plainly(
    routes: Sequence[_Cells], q: Tensor, k: Tensor, v: Tensor, scale: float, dropout: float, relative: Nowhere
) -> Tensor:
    """A query's cells of all routes under one softmax; where all of them are hidden, it takes nothing."""
    each = [cells.scores(q, k, scale, relative) for cells in routes]
    scores = torch.cat(each, -1)
    weights = F.dropout(scores.softmax(-1).masked_fill(scores == -torch.inf, 0), dropout)
    parts = torch.split(weights, [one.shape[-1] for one in each], -1)
    return torch.stack([cells.mixed(part, v) for cells, part in zip(routes, parts, strict=True)]).sum(0)


def _at_once(
    routes: Sequence[_Cells], q: Tensor, k: Tensor, v: Tensor, scale: float, dropout: float, relative: Nowhere
) -> Tensor:
    """A single route by torch's fused attention, each row of it as a sequence."""
    return routes[0].back(F.scaled_dot_product_attention(*routes[0].laid(q, k, v), dropout, scale=scale), len(q))


def _by_sums(
    routes: Sequence[_Cells], q: Tensor, k: Tensor, v: Tensor, scale: float, dropout: float, relative: Nowhere
) -> Tensor:
    """Each route by torch's fused attention, which also tells what its softmax summed to; weighed by those sums."""
    outs: list[Tensor] = []
    sums: list[Tensor] = []
    # A short sequence has no summaries, and what looks at no key at all is not for the fused one.
    for cells in (one for one in routes if one.keys_BK.numel()):
        q_MHQD, k_MHKD, v_MHKD, mask = cells.laid(q, k, v)
        bias = torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask, -torch.inf)
        fused = getattr(torch.ops.aten, SUMMED)
        out, total = fused(q_MHQD, k_MHKD, v_MHKD, 0.0, False, attn_mask=bias, scale=scale)
        # What a query that sees nothing by this route is told of it says nothing.
        blind = ~mask.any(-1)
        outs.append(cells.back(out.masked_fill(blind[..., None], 0), len(q)))
        sums.append(cells.back(total.masked_fill(blind, -torch.inf)[..., None], len(q)))
    shares = torch.stack(sums).float().softmax(0).nan_to_num().to(q.dtype)
    return (torch.stack(outs) * shares).sum(0)


class _Cells:
    """One route through sequences of one length, and the way back from its cells to their tokens."""

    def __init__(self, route: Route, device: torch.device) -> None:
        queries_BQ, keys_BK = route.queries.to(device), route.keys.to(device)
        self.hidden_B1QK = ~route.visible().to(device)[:, None]
        self.distance_BQK = (keys_BK[:, None] - queries_BQ[:, :, None]).masked_fill(self.hidden_B1QK[:, 0], 0)
        self.queries_BQ, self.keys_BK = queries_BQ.clamp(min=0), keys_BK.clamp(min=0)
        cells = queries_BQ.flatten()
        self.cell_L = torch.empty(int((cells >= 0).sum()), dtype=torch.long, device=device)
        self.cell_L[cells[cells >= 0]] = torch.arange(len(cells), device=device)[cells >= 0]

    def laid(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Its rows as sequences of their own, and what their queries see."""
        q_MHQD, k_MHKD, v_MHKD = (
            x[:, rows].flatten(0, 1).transpose(1, 2)
            for x, rows in ((q, self.queries_BQ), (k, self.keys_BK), (v, self.keys_BK))
        )
        return q_MHQD, k_MHKD, v_MHKD, ~self.hidden_B1QK.repeat(len(q), 1, 1, 1)

    def back(self, out_MHQD: Tensor, count: int) -> Float[Tensor, "n length heads value_width"]:
        """What its rows give, token by token."""
        rows, width = self.queries_BQ.shape
        return out_MHQD.transpose(1, 2).reshape(count, rows * width, *out_MHQD.shape[1::2])[:, self.cell_L]

    def scores(self, q: Tensor, k: Tensor, scale: float, relative: Nowhere) -> Float[Tensor, "n length heads keys"]:
        """Each query's score of each key of its row."""
        q_NBHQD = q[:, self.queries_BQ].transpose(2, 3)
        k_NBHKD = k[:, self.keys_BK].transpose(2, 3)
        scores_NBHQK = q_NBHQD @ k_NBHKD.transpose(3, 4) * scale
        if relative.counts:
            scores_NBHQK = scores_NBHQK + relative.scores(q_NBHQD, k_NBHKD, self.distance_BQK, scale)
        scores_NBHQK = scores_NBHQK.masked_fill(self.hidden_B1QK, -torch.inf)
        return scores_NBHQK.transpose(2, 3).flatten(1, 2)[:, self.cell_L]

    def mixed(self, weights_NLHK: Tensor, v: Tensor) -> Float[Tensor, "n length heads value_width"]:
        """What each query takes from the values of its row."""
        rows, width = self.queries_BQ.shape
        count, _, heads, keys = weights_NLHK.shape
        spread = weights_NLHK.new_zeros(count, rows * width, heads, keys).index_copy(1, self.cell_L, weights_NLHK)
        w_NBHQK = spread.view(count, rows, width, heads, keys).transpose(2, 3)
        out_NBHQD = w_NBHQK @ v[:, self.keys_BK].transpose(2, 3)
        return out_NBHQD.transpose(2, 3).flatten(1, 2)[:, self.cell_L]


class Ragged:
    """Torch's fused attention over a nested tensor, which on a GPU takes sequences of any lengths in one call."""

    def __init__(self, layout: Layout, seeing: Predicate) -> None:
        # Causal, it takes neither an empty sequence nor a head of a width that is no multiple of eight.
        lengths = [length for length in layout.queries.lengths if length]
        self.offsets, self.longest = torch.tensor((0, *accumulate(lengths)), device=layout.device), max(lengths)
        self.causal = seeing is the_past
        self.biased = Grouped(layout, seeing)

    def attend(self, q: Heads, k: Keys, v: Values, scale: float, dropout: float, relative: Nowhere = NOWHERE) -> Mixed:
        if relative.counts:
            return self.biased.attend(q, k, v, scale, dropout, relative)  # the fused one takes no bias
        width = q.shape[2]
        q, k, v = (self._nested(F.pad(x, (0, -width % 8))) for x in (q, k, v))
        out = F.scaled_dot_product_attention(q, k, v, None, dropout, is_causal=self.causal, scale=scale)
        return out.transpose(1, 2).values()[..., :width]

    def _nested(self, x_THD: Heads) -> Tensor:
        x_NLHD = torch.nested.nested_tensor_from_jagged(x_THD.contiguous(), self.offsets, max_seqlen=self.longest)
        return x_NLHD.transpose(1, 2)


class Halved:
    """Half of the heads by one plan, half by another."""

    def __init__(self, first: Plan, second: Plan) -> None:
        self.plans = (first, second)

    def attend(self, q: Heads, k: Keys, v: Values, scale: float, dropout: float, relative: Nowhere = NOWHERE) -> Mixed:
        assert not relative.counts, "terms of all heads are not for half of them"
        halves = zip(self.plans, *(x.chunk(2, 1) for x in (q, k, v)), strict=True)
        return torch.cat([plan.attend(*half, scale, dropout) for plan, *half in halves], 1)


def plan(layout: Layout, seeing: Seeing) -> Plan:
    """The fastest kernel that can do this batch on its device."""
    if not sum(layout.queries.lengths):
        return Reference(layout, seeing)  # the others have no answer about nothing
    if isinstance(seeing, Halves):
        return Halved(plan(layout, seeing.first), plan(layout, seeing.second))
    if isinstance(seeing, Sparse) and layout.plain and _spares(seeing, max(layout.queries.lengths)):
        return Routed(layout, seeing)
    if layout.device.type == "cuda" and layout.plain and seeing in (everything, the_past):
        return Ragged(layout, seeing)
    return Grouped(layout, seeing)


def _spares(seeing: Sparse, length: int) -> bool:
    """Whether the routes through a sequence have fewer cells than the rectangle, by what each way costs a cell."""
    routes = seeing.routes(length)
    cells = sum(route.queries.numel() * route.keys.shape[1] for route in routes)
    fused = len(routes) == 1 or not torch.is_grad_enabled()
    return (1 if fused else 4) * cells < length**2


def _groups(layout: Layout) -> Iterator[Group]:
    """The groups of a batch; sequences of which nobody asks are in none."""
    alike: dict[tuple[int, int, int, int], list[int]] = defaultdict(list)
    q, k = layout.queries, layout.keys
    for number, key in enumerate(zip(q.lengths, k.lengths, q.firsts, k.firsts, strict=True)):
        if key[0]:
            alike[key].append(number)
    for (asking, asked, first_q, first_k), numbers in alike.items():
        yield Group(
            tuple(numbers),
            Side(tuple(q.starts[n] for n in numbers), asking, first_q),
            Side(tuple(k.starts[n] for n in numbers), asked, first_k),
        )


def _back(layout: Layout, groups: Sequence[Group]) -> Int[Tensor, " tokens"] | None:
    """Where each token's row went; None where the groups lie in the order of their tokens."""
    ends = Rows.packed(layout.queries.lengths).starts
    rows = [ends[number] + i for group in groups for number in group.numbers for i in range(group.queries.length)]
    if rows == list(range(len(rows))):
        return None
    return torch.tensor(rows, device=layout.device).argsort()


def _distance(group: Group, device: torch.device) -> Int[Tensor, "queries keys"]:
    return group.keys.positions(device) - group.queries.positions(device)[:, None]


def _mask(group: Group, seeing: Predicate, device: torch.device) -> Bool[Tensor, "queries keys"] | None:
    """What a group's queries see; None for all."""
    if seeing is everything:
        return None
    visible = seeing(group.queries.positions(device)[:, None], group.keys.positions(device))
    return None if bool(visible.all()) else visible
