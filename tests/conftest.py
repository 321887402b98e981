"""What every test may lean on: small models of any family, ragged sequences, and one thread to run them on."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch

import bough
from bough.families import Family
from bough.model import Model
from bough.spec import Outputs, Spec

torch.set_num_threads(1)

VOCABULARY = 97
LENGTHS = (1, 64, 7, 31, 7, 2)
FIRST_WORD = 5
"""Ids below it are some family's padding, which other tools treat apart."""


@pytest.fixture
def small_spec() -> Callable[..., Spec]:
    """A family's architecture in small, with the heads asked for, or those that one of its files can hold at once."""

    def make(family: Family, *heads: str) -> Spec:
        outputs = family.outputs.only(*heads) if heads else together(family)
        return family.base.but(vocabulary=VOCABULARY, width=32, depth=3, heads=4, outputs=outputs)

    return make


@pytest.fixture
def small_model(small_spec: Callable[..., Spec]) -> Callable[..., Model]:
    """A family's model in small, its biases and gains drawn too, so that each of them counts."""

    def make(family: Family, *heads: str, seed: int = 0) -> Model:
        spec = small_spec(family, *heads)
        return Model(spec, stirred(bough.build(spec, seed)))

    return make


@pytest.fixture
def sequences() -> list[list[int]]:
    """Sequences of unequal lengths, the shortest of one token."""
    draw = random.Random(0)
    return [[draw.randrange(FIRST_WORD, VOCABULARY) for _ in range(length)] for length in LENGTHS]


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
