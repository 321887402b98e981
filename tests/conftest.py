"""What every test may lean on: small models of any family, ragged sequences, and one thread to run them on."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

import bough
from bough.families import Family
from bough.model import Model
from bough.spec import Outputs, Spec

torch.set_num_threads(1)

VOCABULARY = 97
CUTOFFS = (13, 40)
LENGTHS = (1, 64, 7, 31, 7, 2)
FIRST_WORD = 5
"""Ids below it are some family's padding, which other tools treat apart."""


@pytest.fixture
def small_spec() -> Callable[..., Spec]:
    """A family's architecture in small, with the heads asked for, or those that one of its files can hold at once."""

    def make(family: Family, *heads: str) -> Spec:
        outputs = family.outputs.only(*heads) if heads else together(family)
        return family.base.but(width=32, depth=3, heads=4, outputs=outputs, **little(family.base))

    return make


@pytest.fixture
def small_model(small_spec: Callable[..., Spec]) -> Callable[..., Model]:
    """A family's model in small, its biases and gains drawn too, so that each of them counts."""

    def make(family: Family, *heads: str, seed: int = 0) -> Model:
        spec = small_spec(family, *heads)
        return Model(spec, stirred(bough.build(spec, seed)))

    return make


@pytest.fixture
def sequences(request: pytest.FixtureRequest) -> list[Any]:
    """Sequences of unequal lengths, the shortest of one token; pictures of unequal sizes for a family that sees."""
    families = [request.getfixturevalue(name) for name in ("family", "labelled") if name in request.fixturenames]
    if families and families[0].base.embedding.patches:
        return pictures(families[0])
    draw = random.Random(0)
    return [[draw.randrange(FIRST_WORD, VOCABULARY) for _ in range(length)] for length in LENGTHS]


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
