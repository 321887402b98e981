"""Stores with texts of the lengths that sentences and documents have, and a way to see what a feed gives of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bough.data.draw import Draw
from bough.data.feeding.batch import Batch, Example, Lengths
from bough.data.storing.store import Store, writing
from bough.packed import Packed

FIRST, LAST = 5, 30_000
SENTENCE, PARAGRAPH = (19, 0.5), (130, 0.8)
"""How many words there are in the mean, and how far their logarithms spread."""


def lengths(count: int, kind: tuple[float, float] = SENTENCE, seed: int = 0) -> list[int]:
    """How long so many texts are: log-normal, many short and a few long."""
    mean, spread = kind
    drawn = np.random.default_rng(seed).normal(np.log(mean) - spread**2 / 2, spread, count)
    return np.maximum(np.exp(drawn), 1).astype(int).tolist()


def stock(folder: Path, sizes: Sequence[int], seed: int = 0, fingerprints: dict[str, str] | None = None) -> Store:
    """A store of texts of these lengths, labelled in turn."""
    draw = np.random.default_rng(seed)
    with writing(folder) as writer:
        for number, size in enumerate(sizes):
            ids = draw.integers(FIRST, LAST, size).tolist()
            writer.add({"ids": ids, "starts": [1] * size}, {"label": number % 3})
        writer.about["fingerprints"] = fingerprints or {"data": "d" * 64, "tokenizer": "t" * 64, "settings": "s" * 64}
    return Store(folder)


@dataclass(frozen=True)
class Plain:
    """Examples as they are, with two tokens around each, and something drawn for each token."""

    around: int = 2

    def __call__(self, examples: Sequence[Example], items: Sequence[int], draw: Draw) -> Batch:
        sequences = [[1] * (self.around // 2) + ids(one) + [2] * (self.around - self.around // 2) for one in examples]
        sizes = np.array([len(one) for one in sequences], np.int64)
        places = [np.arange(size) for size in sizes]
        drawn = draw.uniform(9, np.repeat(np.array(items, np.int64), sizes), np.concatenate([np.arange(0), *places]))
        return Batch(Packed.of(sequences), {"drawn": torch.from_numpy(drawn)}, tuple(items), int(sizes.sum()))

    def length(self, lengths: Lengths) -> NDArray[np.int64]:
        return lengths["ids"] + self.around


def ids(example: Example) -> list[int]:
    return np.asarray(example["ids"]).tolist()


def said(batches: Iterable[Batch]) -> list[Any]:
    """All that there is to a batch, in a form that compares: of one, or of the shares of one laid end to end."""
    parts = list(batches)
    return [
        [item for part in parts for item in part.items],
        [length for part in parts for length in part.inputs.lengths],
        torch.cat([part.inputs.ids for part in parts]).tolist(),
        torch.cat([part.goals["drawn"] for part in parts]).tolist(),
    ]
