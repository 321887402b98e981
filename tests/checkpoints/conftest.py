"""A small model, and the folder that it was saved into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jaxtyping import config

import bough
from bough.model import Model
from bough.spec import Spec


@pytest.fixture
def small() -> Spec:
    """BERT with words to score, so small that its file has a few kilobytes."""
    return bough.spec("bert-tiny").but(vocabulary=11, width=8, depth=1, heads=2)


@pytest.fixture
def model(small: Spec) -> Model:
    """It with weights."""
    return Model(small, bough.build(small, seed=1))


@pytest.fixture
def folder(model: Model, tmp_path: Path) -> Path:
    """It in a folder."""
    model.save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def as_for_users() -> Iterator[None]:
    """Without the check of annotations, which would complain of a wrong type before Bough does."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
