"""What every test may lean on: small models of any family, ragged sequences, and one thread to run them on."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from small import FIRST_WORD, LENGTHS, VOCABULARY, little, pictures, stirred, together

import bough
from bough.families import Family
from bough.model import Model
from bough.spec import Spec

torch.set_num_threads(1)


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
