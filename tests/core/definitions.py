"""The published definitions, written out position by position: what the trunk's tests hold it to, and small nets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

import torch
from small import stirred
from torch import Tensor

import bough
from bough.core.kernels import Grouped, Halved, Layout, Plan, Routed
from bough.core.masks import Halves, Seeing
from bough.packed import Packed
from bough.spec import (
    Causal,
    Fixed,
    Full,
    LinearBias,
    Mask,
    Relative,
    RelativeBias,
    RelativeKeys,
    RelativeTerms,
    Rotary,
    Strided,
    Window,
)

HEADS, WIDTH = 4, 32
Sees = Callable[[int], set[int]]
"""The positions that a query's sees, however many keys there are behind it."""
Weights = Mapping[str, Tensor]


# Who sees whom


def sees(mask: Mask, head: int, layer: int) -> Sees:
    """What one head of one layer sees. Strided and fixed as in Child et al. 2019, counted from 0."""
    match mask:
        case Full():
            return lambda i: set(range(1000))
        case Causal():
            return lambda i: set(range(i + 1))
        case Window(size=n):
            return lambda i: {j for j in range(i + 1) if j > i - n}
        case Strided(stride=l, over=over):
            return _shared_out(
                lambda i: set(range(max(0, i - l), i + 1)),
                lambda i: {j for j in range(i + 1) if (i - j) % l == 0},
                over, head, layer,
            )  # fmt: skip
        case Fixed(stride=l, summary=c, over=over):
            return _shared_out(
                lambda i: {j for j in range(i + 1) if j // l == i // l},
                lambda i: {j for j in range(i + 1) if j % l in range(l - c, l)},
                over, head, layer,
            )  # fmt: skip


def _shared_out(first: Sees, second: Sees, over: str, head: int, layer: int) -> Sees:
    if over == "union":
        return lambda i: first(i) | second(i)
    return (first, second)[layer % 2 if over == "layers" else 2 * head // HEADS]


# What distance adds


def bucket(distance: int, buckets: int, furthest: int, both_ways: bool) -> int:
    """T5's: half of the buckets one distance each, the others in equal steps of its logarithm up to the furthest.

    Both ways, half of all are for keys ahead. The steps are compared as whole numbers, which no rounding can move.
    """
    if both_ways:
        buckets //= 2
        return buckets * (distance > 0) + bucket(-abs(distance), buckets, furthest, both_ways=False)
    back, exact = max(-distance, 0), buckets // 2
    if back < exact:
        return back
    steps = buckets - exact
    # log(back / exact) / log(furthest / exact) * steps >= step, with both sides raised until they are whole.
    reached = [s for s in range(steps) if back**steps * exact**s >= furthest**s * exact**steps]
    return exact + reached[-1]


def slopes(heads: int) -> list[float]:
    """ALiBi's: 2 to the -8/n, squared, cubed, ...; behind a power of two, every other one of the next power's."""
    power = 1
    while 2 * power <= heads:
        power *= 2
    between = [2 ** (-8 * (n + 0.5) / power) for n in range(heads - power)]
    return [2 ** (-8 * (n + 1) / power) for n in range(power)] + between


def wave(distance: int, width: int) -> Tensor:
    """Transformer-XL's vector of a distance: all sines, then all cosines."""
    angles = [distance / 10000 ** (2 * t / width) for t in range(width // 2)]
    return torch.tensor([math.sin(a) for a in angles] + [math.cos(a) for a in angles])


def turned(x_THD: Tensor, at: Sequence[int], base: float) -> Tensor:
    """Rotary: a pair of numbers is one complex number, turned by its own angle times the position."""
    half = x_THD.shape[-1] // 2
    rates = torch.tensor([base ** (-t / half) for t in range(half)], dtype=torch.float64)
    turns = torch.polar(torch.ones(len(at), half, dtype=torch.float64), torch.tensor(at)[:, None] * rates)
    pairs = torch.complex(x_THD[..., :half].double(), x_THD[..., half:].double()) * turns[:, None]
    return torch.cat((pairs.real, pairs.imag), -1).to(x_THD)


def added(
    relative: Relative, weights: Weights, q: Tensor, k: Tensor, distances: list[list[int]], head: int,
    layer: int, scale: float, both_ways: bool,
) -> Tensor | float:  # fmt: skip
    """What is added to one head's scaled scores."""
    own = f"blocks.{layer}.attention.relative."
    match relative:
        case RelativeBias(buckets=buckets, distance=furthest):
            table = weights["relative.weight"][:, head]
            return torch.stack([table[[bucket(d, buckets, furthest, both_ways) for d in row]] for row in distances])
        case LinearBias():
            return -slopes(HEADS)[head] * torch.tensor(distances).abs()
        case RelativeKeys(distance=furthest):
            table = weights[f"{own}weight"]
            rows = [torch.stack([table[min(max(d, -furthest), furthest) + furthest] for d in row]) for row in distances]
            return torch.stack([row @ one for row, one in zip(rows, q, strict=True)]) * scale
        case RelativeTerms(clamp=clamp, tied=tied):
            pair = "relative." if tied else own
            content, position = (weights[f"{pair}{name}"][head] for name in ("content", "position"))
            project = weights[f"{own}project.weight"].unflatten(0, (HEADS, -1))[head]
            furthest = clamp or 1000
            known = {d: project @ wave(min(max(-d, -furthest), furthest), WIDTH) for row in distances for d in row}
            rows = [torch.stack([known[d] for d in row]) for row in distances]
            by_distance = [row @ (one + position) for row, one in zip(rows, q, strict=True)]
            return (torch.stack(by_distance) + k @ content) * scale
        case _:
            return 0.0


# Attention


def attention(
    q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Mask, layer: int = 0, relative: Relative = None,
    weights: Weights | None = None, asking: Sequence[int] = (), asked: Sequence[int] = (),
) -> Tensor:  # fmt: skip
    """One sequence's, (queries, heads, head width), query by query: of none to be seen, nothing is taken.

    `asking` and `asked` are the positions of queries and keys where they are not counted from 0.
    """
    asking, asked = asking or range(len(q)), asked or range(len(k))
    if isinstance(relative, Rotary):
        q, k = turned(q, asking, relative.base), turned(k, asked, relative.base)
    distances = [[j - i for j in asked] for i in asking]
    heads: list[Tensor] = []
    for head in range(q.shape[1]):
        q_QD, k_KD, v_KD, look = q[:, head], k[:, head], v[:, head], sees(mask, head, layer)
        scores = q_QD @ k_KD.T * scale
        if scores.numel():
            both_ways = isinstance(mask, Full)
            scores = scores + added(relative, weights or {}, q_QD, k_KD, distances, head, layer, scale, both_ways)
        rows: list[Tensor] = []
        for i, row in zip(asking, scores, strict=True):
            shown = look(i)
            columns = [column for column, j in enumerate(asked) if j in shown]
            rows.append(row[columns].softmax(0) @ v_KD[columns])
        heads.append(torch.stack(rows) if rows else q_QD)
    return torch.stack(heads, 1)


# Small nets


def small(seed: int = 0, **changes: object) -> bough.Net:
    """A small net that answers, its biases and gains drawn too."""
    spec = bough.spec("gpt-tiny").but(width=WIDTH, depth=2, heads=HEADS, vocabulary=97).but(**changes)
    return stirred(bough.build(spec, seed)).eval()


def routed(layout: Layout, seeing: Seeing) -> Plan:
    """Routes wherever a mask has some, however few cells they spare."""
    if isinstance(seeing, Halves):
        return Halved(routed(layout, seeing.first), routed(layout, seeing.second))
    return Routed(layout, seeing) if hasattr(seeing, "routes") else Grouped(layout, seeing)


def random_batch(lengths: Sequence[int], seed: int = 0) -> Packed:
    """Sequences of these lengths, of any words."""
    ids = torch.randint(97, (sum(lengths),), generator=torch.Generator().manual_seed(seed))
    return Packed.of([ids[end - n : end].tolist() for n, end in zip(lengths, accumulate(lengths), strict=True)])


def weighed(states: Tensor) -> Tensor:
    """A sum in which every number has a weight of its own, so that no gradient hides behind another."""
    return (states * torch.randn(states.shape, generator=torch.Generator().manual_seed(1))).sum()


def named(value: object) -> str:
    """What a case is called."""
    return value.__name__ if callable(value) else str(value)
