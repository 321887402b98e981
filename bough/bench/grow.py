"""Grow: how the cost of one causal trunk grows with the length of what it reads, for each kind of mask."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import torch

from bough.bench.document import Growth, Point
from bough.bench.machine import timed
from bough.bench.work import Answers, Effort, Sweep, Trial, Way, words
from bough.core import build
from bough.core.kernels import Heads, Keys, Layout, Mixed, Plan, plan
from bough.core.masks import Halves, Seeing, Sparse
from bough.core.relative import NOWHERE, Nowhere
from bough.families import preset
from bough.packed import Packed
from bough.spec import Causal, Fixed, Mask, Outputs, Spec, Strided, Window

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
QUICK = LENGTHS[:4]
SUMMARY = 8


def root(length: int) -> int:
    """The stride that the paper takes, near the square root of the length: 128 at 16,384."""
    return round(math.sqrt(length))


Masked = Callable[[int], Mask]
"""What the tokens of a sequence of some length see."""
MASKS: dict[str, Masked] = {
    "full": lambda length: Causal(),
    "window 256": lambda length: Window(256),
    "strided": lambda length: Strided(root(length), over="union"),
    "strided, heads": lambda length: Strided(root(length), over="heads"),
    "fixed": lambda length: Fixed(root(length), SUMMARY, over="union"),
    "fixed, heads": lambda length: Fixed(root(length), SUMMARY, over="heads"),
}
NOTES = (
    f"Strides are the root of the length, as in the paper, and summaries {SUMMARY} tokens of each stretch.",
    "Over heads, half of the heads have each part of a pattern; else all have both.",
    "Attention is its plan and its mixing, without projections. The peak is what torch had given out besides weights.",
)


def trunk() -> Spec:
    """Narrow, so that at the greatest length attention outweighs all else; without positions, so that none is last."""
    return preset("gpt2").but(
        vocabulary=256, width=256, depth=2, heads=4, outputs=Outputs(), **{"embedding.positions": None}
    )


@contextmanager
def grow(effort: Effort) -> Generator[Sweep]:
    """The work."""
    yield sweep(trunk(), QUICK if effort.quick else LENGTHS, MASKS, effort.device)


def sweep(spec: Spec, lengths: tuple[int, ...], masks: dict[str, Masked], device: str = "cpu") -> Sweep:
    """One sequence of each length, read by trunks of equal weights whose tokens see others by each of the masks."""
    return Sweep(
        says=(
            f"one sequence read by {spec.depth} layers of width {spec.width} with {spec.heads} heads, "
            "by what its tokens see of those before"
        ),
        along="tokens read",
        lengths=lengths,
        ways=tuple(Way(name, functools.partial(_trial, spec, mask, device)) for name, mask in masks.items()),
        notes=NOTES,
        memory=True,
        growth=growth,
    )


def growth(points: Sequence[Point]) -> tuple[Growth, ...]:
    """The powers of length that time grows as, of attention and of all, and what is seen; of the longer half too.

    Few tokens cost what a call costs, and many what they see: the longer half says more of what is still to come.
    """
    figures: dict[str, Callable[[Point], float]] = {
        "attention": lambda point: statistics.median(point.attention),
        "whole": lambda point: statistics.median(point.seconds),
        "pairs seen": lambda point: float(point.pairs or 1),
    }
    return tuple(
        Growth(of, part[0].length, part[-1].length, power([(one.length, figure(one)) for one in part]))
        for part in (points, points[len(points) // 2 :])
        for of, figure in figures.items()
        if len(part) > 1
    )


def power(found: Sequence[tuple[int, float]]) -> float:
    """The slope of the straight line that lies nearest to the logarithms of lengths and figures."""
    lengths, figures = zip(*found, strict=True)
    return statistics.linear_regression([math.log(one) for one in lengths], [math.log(one) for one in figures]).slope


def pairs(seeing: Seeing, length: int) -> int:
    """How many times a token of a sequence sees one, itself included, in the mean of all heads."""
    if isinstance(seeing, Halves):
        return (pairs(seeing.first, length) + pairs(seeing.second, length)) // 2
    if isinstance(seeing, Sparse):
        return sum(int(route.visible().sum()) for route in seeing.routes(length))
    return length * (length + 1) // 2


class Stopwatch:
    """A planner that adds up what attention takes: the plan, and each layer's mixing by it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, layout: Layout, seeing: Seeing) -> Plan:
        made: list[Plan] = []
        self.seconds += timed(lambda: made.append(plan(layout, seeing)))
        return _Watched(made[0], self)


class _Watched:
    """A plan whose use is timed."""

    def __init__(self, made: Plan, watch: Stopwatch) -> None:
        self.made = made
        self.watch = watch

    def attend(self, q: Heads, k: Keys, v: Keys, scale: float, dropout: float, relative: Nowhere = NOWHERE) -> Mixed:
        mixed: list[Mixed] = []
        self.watch.seconds += timed(lambda: mixed.append(self.made.attend(q, k, v, scale, dropout, relative)))
        return mixed[0]


def _trial(spec: Spec, mask: Masked, device: str, length: int) -> Trial:
    net = build(spec.but(**{"attention.mask": mask(length)})).eval().to(device)
    batch, watch = Packed.of([words(spec.vocabulary, length)], device=device), Stopwatch()

    def run() -> Answers:
        watch.seconds = 0.0
        with torch.inference_mode():
            return [net(batch, watch)]

    return Trial(length, run, lambda: watch.seconds, pairs(net.seeing[0], length))
