"""Architectures: a wrong one is an error that names its place, a right one is counted without building it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from jaxtyping import config

import bough
from bough.errors import FieldError
from bough.spec import (
    Adaptive,
    Classify,
    Groups,
    Learned,
    Mean,
    Outputs,
    Pair,
    Pooler,
    PreNorm,
    RelativeBias,
    RMSNorm,
    Scale,
    Sinusoid,
    Spec,
    Tag,
    Tied,
    Untied,
    Words,
)  # fmt: skip

SPEC = Spec("bert", vocabulary=100, width=12, depth=2, heads=3)
CUTOFFS = "outputs.words.projection.cutoffs"


@pytest.fixture(autouse=True)
def as_for_users() -> Iterator[None]:
    """Without the check of annotations, which would complain of a wrong type before the spec does."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"heads": 5}, "heads: 5 heads do not divide a width of 12"),
        ({"width": 0}, "width: must be a whole number from 1 to 16,777,216, not 0"),
        ({"depth": 5000}, "depth: must be a whole number from 1 to 4,096, not 5000"),
        ({"embedding": None}, "embedding: must be Embedding, not None"),
        ({"embedding.dropout": -0.1}, "embedding.dropout: must be a finite number from 0 to 1, not -0.1"),
        ({"embedding.positions": Learned(4, offset=4)}, "embedding.positions.offset: 4 leaves no position of 4"),
        ({"embedding.positions": Sinusoid(2, offset=9)}, "embedding.positions.offset: 9 leaves no position of 2"),
        ({"sharing": Groups(3)}, "sharing.groups: 3 groups are more than a depth of 2 has room for"),
        ({"sharing": Groups(1, 4096)}, "sharing.inner: 4096 blocks at each depth make 8,192 layers of 4,096"),
        (
            {"sharing": Groups(), "attention.scale": Scale(by_layer=True)},
            "attention.scale.by_layer: a block that is shared between layers has no layer number",
        ),
        ({"outputs": Outputs(pair=Pair())}, "outputs.pooler: is missing, and another output reads it"),
        ({"outputs": Outputs(classify=Classify())}, "outputs.pooler: is missing, and another output reads it"),
        ({"outputs": Outputs(tag=Tag(labels=()))}, "outputs.tag.labels: there must be at least one"),
        (
            {"outputs": Outputs(words=Words()), "embedding.width": 4},
            "outputs.words.projection: a table of width 4 cannot score 12",
        ),
        (
            {"outputs": Outputs(words=Words(projection=Adaptive((50, 20))))},
            f"{CUTOFFS}: [50, 20] must rise and end below the vocabulary of 100",
        ),
        (
            {"outputs": Outputs(words=Words(projection=Adaptive((50, 100))))},
            f"{CUTOFFS}: [50, 100] must rise and end below the vocabulary of 100",
        ),
        (
            {"outputs": Outputs(words=Words(projection=Adaptive((10, 20, 30), 4)))},
            f"{CUTOFFS}: 3 clusters leave no width for the last, each 4x narrower",
        ),
        (
            {"vocabulary": 1000, "outputs": Outputs(words=Words(projection=Adaptive(tuple(range(1, 900)), 1024)))},
            f"{CUTOFFS}: 899 clusters are more than 64",
        ),
        (
            {"attention.relative": RelativeBias(32, distance=8)},
            "attention.relative.distance: 8 must be more than the 8 distances that have a bucket each",
        ),
        ({"heds": 4}, "heds: there is no such field; did you mean 'heads'?"),
    ],
)  # fmt: skip
def test_an_architecture_that_cannot_be_is_an_error_that_names_its_place(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(FieldError) as error:
        SPEC.but(**changes)
    assert str(error.value) == said


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"embedding.positions": None, "embedding.segments": 3, "embedding.languages": 5, "embedding.width": 4},
        {"norm": RMSNorm(), "placement": PreNorm(), "feed.gated": True, "feed.bias": False, "attention.bias": False},
        {"depth": 6, "sharing": Groups(2, 3)},
        {"outputs": Outputs(Pooler(), Words(projection=Untied(bias=True)), Pair(), Classify(), Tag())},
        {"outputs": Outputs(words=Words(projection=Tied(bias=True)))},
        {"outputs": Outputs(words=Words(projection=Adaptive((20, 50), 2)))},
        {"outputs": Outputs(classify=Classify(labels=("a", "b", "c"), reads=Mean(), hidden="tanh"))},
    ],
)
def test_parameters_are_counted_as_the_net_has_them(changes: dict[str, Any]) -> None:
    spec = SPEC.but(**changes)
    net = bough.build(spec)
    assert {name: tuple(one.shape) for name, one in net.state_dict().items()} == spec.tensors()
    assert spec.parameters == sum(one.numel() for one in net.parameters())


def test_the_largest_architecture_is_counted_at_once() -> None:
    start = time.perf_counter()
    spec = SPEC.but(depth=4096, width=2**24, heads=2**24, vocabulary=2**24)
    assert spec.parameters > 10**18
    assert time.perf_counter() - start < 5


def test_shared_blocks_run_in_the_published_order() -> None:
    assert SPEC.but(depth=4, sharing=Groups(2, 1)).order == (0, 0, 1, 1)
    assert SPEC.but(depth=3, sharing=Groups(2, 2)).order == (0, 1, 0, 1, 2, 3)
    assert SPEC.but(depth=3).order == (0, 1, 2)


def test_one_architecture_has_one_spelling() -> None:
    assert SPEC.but(**{"feed.inner": 48}) == SPEC
    assert Spec.from_json(SPEC.but(**{"feed.inner": 48}).to_json()) == SPEC


def test_the_limit_is_what_its_positions_reach() -> None:
    assert SPEC.but(**{"embedding.positions": Learned(514, offset=2)}).limit == 512
    assert SPEC.but(**{"embedding.positions": None}).limit is None


def test_only_keeps_the_heads_named_and_the_pooler_they_read() -> None:
    outputs = Outputs(Pooler(), Words(), Pair(), Classify(), Tag())
    assert set(outputs.only("classify").present()) == {"pooler", "classify"}
    assert set(outputs.only("tag", "words").present()) == {"tag", "words"}
