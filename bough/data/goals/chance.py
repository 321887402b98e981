"""What is left to chance in the examples of a batch: numbers by purpose, item and place, the same in any company."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data.draw import Draw
from bough.data.goals.runs import Numbers, Runs, Uniform


class Purpose(IntEnum):
    """What a number is drawn for: each has draws of its own, which stay the same when another comes to need some."""

    MASK_COUNT = 101
    MASK_PLACE = 102
    MASK_PART = 103
    MASK_WORD = 104
    SPAN_LENGTH = 105
    SPAN_PLACE = 106
    SENTENCE_ORDER = 107
    PAIR = 108


class Chance:
    """The draws of these items."""

    def __init__(self, draw: Draw, items: Sequence[int] | NDArray[Any]) -> None:
        self._draw = draw
        self._items = np.asarray(items, np.int64)

    def __call__(self, purpose: Purpose, things: Runs) -> Uniform:
        """A number from 0 to below 1 for each thing of each item."""
        return self._draw.uniform(purpose, self._items[things.owners], things.places)

    def once(self, purpose: Purpose) -> Uniform:
        """One for each item."""
        return self._draw.uniform(purpose, self._items)

    def below(self, limits: Numbers | int, purpose: Purpose, things: Runs) -> Numbers:
        """A whole number from 0 to below a limit, which may be its own, for each thing of each item."""
        return self._draw.below(limits, purpose, self._items[things.owners], things.places)
