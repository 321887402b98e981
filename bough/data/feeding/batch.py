"""What the feed hands on: examples as the store has them, batches as a net reads them, and what makes one the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bough.data.draw import Draw
from bough.packed import Packed

Example: TypeAlias = Mapping[str, NDArray[Any] | int | float]
"""One item by column: `ids` without special tokens and `starts` (1 where a word starts), the same of a second text
(`ids_pair`, `starts_pair`) and of what is to be written (`target`, `starts_target`), and single numbers (`label`)."""
Lengths: TypeAlias = Mapping[str, NDArray[np.int64]]
"""How long some items are: for each column of sequences, a number for each item."""


@dataclass(frozen=True, eq=False)
class Batch:
    """What a step of training reads, and what it should come to say."""

    inputs: Packed
    goals: Mapping[str, Tensor]
    items: tuple[int, ...]
    """Which items these are, in the order of the sequences, counted on from epoch to epoch: item n of epoch e is
    e times the count of items, plus n."""
    tokens: int
    """What it takes of the budget."""


@runtime_checkable
class Collate(Protocol):
    """What makes a batch of examples, for one objective."""

    def __call__(self, examples: Sequence[Example], items: Sequence[int], draw: Draw) -> Batch:
        """The batch. `items` is what a Batch says of them, and what random numbers are drawn for: an item's are its
        own in every epoch, and the same in whatever batch, rank or worker it lies."""
        ...

    def length(self, lengths: Lengths) -> NDArray[np.int64]:
        """How many tokens each of these items takes once it is wrapped and cut."""
        ...
