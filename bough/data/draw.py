"""Random numbers without a state: what is drawn follows from seed, purpose, item and position, in whatever company."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
Whole: TypeAlias = NDArray[np.integer[Any]] | int
"""Whole numbers, or one; in shapes that numpy stretches to each other's."""

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""The constants of splitmix64."""


@dataclass(frozen=True)
class Draw:
    """A seed. Any of its numbers can be had at any time, which is what makes a run resume exactly."""

    seed: int

    def bits(self, purpose: int, items: Whole, positions: Whole = 0) -> Words:
        """64 random bits for each position of each item; another purpose has others."""
        key = mixed(mixed(_words(self.seed)) ^ _words(purpose))
        return mixed(mixed(key ^ _words(items)) ^ _words(positions))

    def uniform(self, purpose: int, items: Whole, positions: Whole = 0) -> NDArray[np.float64]:
        """Numbers from 0 to below 1."""
        return (self.bits(purpose, items, positions) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, limit: Whole, purpose: int, items: Whole, positions: Whole = 0) -> NDArray[np.int64]:
        """Whole numbers from 0 to below `limit`, which may be one for each."""
        return np.floor(self.uniform(purpose, items, positions) * limit).astype(np.int64)


def mixed(words: Words) -> Words:
    """Each word as another that has nothing to do with it, one to one: a step of splitmix64."""
    with np.errstate(over="ignore"):  # it means to overflow
        words = words + GOLDEN
        words = (words ^ (words >> np.uint64(30))) * FIRST
        words = (words ^ (words >> np.uint64(27))) * SECOND
    return words ^ (words >> np.uint64(31))


def _words(numbers: Whole) -> Words:
    """Whole numbers as words of 64 bits, those below zero by their complement; one number as a row of one."""
    return np.array([numbers % 2**64], np.uint64) if isinstance(numbers, int) else numbers.astype(np.uint64)
