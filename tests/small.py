"""What is small: the sizes of the architectures that tests make of any family, and pictures for those that see.

It is not in conftest.py because several rooms have one of those, and only one can be imported by name.
"""

from __future__ import annotations

import math
from typing import Any

import torch

import bough
from bough.families import Family
from bough.spec import Outputs, Spec

VOCABULARY = 97
CUTOFFS = (13, 40)
LENGTHS = (1, 64, 7, 31, 7, 2)
FIRST_WORD = 5
"""Ids below it are some family's padding, which other tools treat apart."""


def little(base: Spec) -> dict[str, Any]:
    """What makes an architecture's tables small."""
    patches = base.embedding.patches
    if patches:
        shape, grid = ((4, 4), (3, 3)) if len(patches.shape) == 2 else ((2, 4, 4), (2, 3, 3))
        count = 1 + math.prod(grid)
        return {"embedding.patches": patches.but(shape=shape, grid=grid), "embedding.positions.size": count}
    clusters = {"embedding.clusters.cutoffs": CUTOFFS} if base.embedding.clusters else {}
    return {"vocabulary": VOCABULARY, **clusters, **({"encoder.start": 2} if base.encoder else {})}


def pictures(family: Family, seed: int = 0) -> list[torch.Tensor]:
    """Pictures or videos of unequal sizes, for the small architecture of a family that sees them."""
    draw = torch.Generator().manual_seed(seed)
    sizes = [(4, 4), (12, 12), (8, 20), (12, 12), (4, 8), (16, 16)]
    frames = [2, 4, 4, 4, 2, 6] if len(family.base.embedding.patches.shape) == 3 else [0] * 6
    return [torch.randn(*([n] if n else []), 3, *size, generator=draw) for n, size in zip(frames, sizes, strict=True)]


def another(one: Any) -> Any:
    """Another sequence of the same length, or picture of the same size."""
    return torch.full_like(one, 0.5) if isinstance(one, torch.Tensor) else [6] * len(one)


def together(family: Family) -> Outputs:
    """The most heads that one file holds: tags and labels share a name in most families."""
    return family.outputs.only(*(name for name in family.outputs.present() if name != "tag"))


def stirred(net: bough.Net) -> bough.Net:
    """A net with every trained tensor moved off the value it starts from."""
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in net.parameters():
            if weight.requires_grad:
                weight.add_(0.1 * torch.randn_like(weight))
    return net
