"""Cutting what there is into a side to train on and two smaller ones, for samples; the same way on every machine."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from bough.data.near import groups

T = TypeVar("T")
SHARE = 0.1
"""How much of each kind is for validation, and how much for the test."""


def together(items: Sequence[T], text: Callable[[T], str], likeness: float) -> list[list[T]]:
    """Items in groups, those whose texts are near in one."""
    near = groups([text(item) for item in items], likeness)
    grouped = {number for group in near for number in group}
    alone = [[item] for number, item in enumerate(items) if number not in grouped]
    return [[items[number] for number in group] for group in near] + alone


def split(
    grouped: Sequence[Sequence[T]], key: Callable[[T], str], weight: Callable[[T], Mapping[str, int]]
) -> dict[str, list[T]]:
    """The items on three sides, groups whole, in an order by hash; a weight says how much of each kind an item is."""
    weights = [_sum(map(weight, group)) for group in grouped]
    room = {name: {kind: round(SHARE * whole) for kind, whole in _sum(weights).items()} for name in ("valid", "test")}
    sides: dict[str, list[T]] = {"train": [], "valid": [], "test": []}
    for group, amount in sorted(zip(grouped, weights, strict=True), key=lambda pair: _hash(key(pair[0][0]))):
        fits = (name for name, left in room.items() if all(left[kind] >= much for kind, much in amount.items()))
        name = next(fits, "train")
        sides[name] += group
        if name in room:
            room[name] = {kind: left - amount[kind] for kind, left in room[name].items()}
    return sides


def _sum(weights: Iterable[Mapping[str, int]]) -> Counter[str]:
    total = Counter[str]()
    for one in weights:
        total.update(one)
    return total


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
