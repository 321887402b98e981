"""The order of items: a permutation that is never stored, batches cut from a pool of them, and shares of a batch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bough.data.draw import Draw, Words, mixed

Numbers = NDArray[np.int64]
ROUNDS = 4
"""Of a Feistel network; from four on, with good functions in them, it is as good as random."""


class Purpose(IntEnum):
    """What a number is drawn for here; other rooms have other numbers."""

    ORDER = 1
    BATCHES = 2
    CUT = 3


def permuted(places: Numbers, count: int, draw: Draw, epoch: int) -> Numbers:
    """Which of `count` items stand at these places of an epoch's order; no place need be known to know another."""
    half = np.uint64(max(1, ((count - 1).bit_length() + 1) // 2))
    keys = draw.bits(Purpose.ORDER, epoch, np.arange(ROUNDS))
    found = _swapped(places.astype(np.uint64), half, keys)
    # The network permutes the next power of four. Walking on from what lies beyond the count permutes the count.
    while len(beyond := np.flatnonzero(found >= count)):
        found[beyond] = _swapped(found[beyond], half, keys)
    return found.astype(np.int64)


def _swapped(words: Words, half: np.uint64, keys: Words) -> Words:
    """A Feistel network: each half of a word in turn is changed by what the other comes to."""
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = words >> half, words & mask
    for key in keys:
        left, right = right, left ^ (mixed(right ^ key) & mask)
    return (left << half) | right


def cut(lengths: Numbers, budget: int, held: int = 0) -> list[Numbers]:
    """Which items come together in batches of at most `budget` tokens; the first has `held` of them already.

    The longest come first, and what room is left gets the longest that fit, so that only the last batch could hold
    more. Of items of one length, those come first that stand first. None may be longer than the budget.
    """
    order = np.argsort(lengths, kind="stable")
    found = np.unique(lengths[order], return_index=True, return_counts=True)
    sizes, firsts, counts = (part.tolist() for part in found)
    start, left = dict(zip(sizes, firsts, strict=True)), dict(zip(sizes, counts, strict=True))
    batches: list[Numbers] = []
    room = budget - held
    while sizes:
        at, taken = len(sizes), [order[:0]]
        while at := bisect_right(sizes, room, hi=at):
            at -= 1
            size = sizes[at]
            some = min(left[size], room // size)
            taken.append(order[start[size] : start[size] + some])
            start[size] += some
            left[size] -= some
            room -= some * size
            if not left[size]:
                del sizes[at]
        batches.append(np.concatenate(taken))
        room = budget
    return batches


def share(lengths: Sequence[int] | Numbers, parts: int) -> list[slice]:
    """Stretches of a batch, one for each part, that are as even in tokens as its items allow; some may be empty."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    middles = ends - np.asarray(lengths) / 2
    bounds = np.searchsorted(middles, [total * part / parts for part in range(1, parts)])
    return [slice(int(first), int(last)) for first, last in pairwise([0, *bounds, len(ends)])]
