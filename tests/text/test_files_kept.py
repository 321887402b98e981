"""A model's folder keeps the files of its tokenizer, whatever they are: saved and loaded again it reads alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from carried import LAYOUTS
from scripts import corpus

import bough
from bough.files.folder import Folder, small_files
from bough.model import Model
from bough.text.reading.read import open_tokenizer

SIZES = {"xlm": "xlm-tiny", "transformer": "transformer-tiny", "mbart": "mbart-tiny"}


@pytest.mark.parametrize("family", SIZES)
def test_a_model_keeps_the_files_of_its_tokenizer(tmp_path: Path, family: str) -> None:
    LAYOUTS[family](tmp_path / "carried", family)
    files = small_files(Folder(tmp_path / "carried"))
    own = open_tokenizer(tmp_path / "carried")
    spec = bough.spec(SIZES[family]).but(vocabulary=own.rows, width=16, heads=2)
    Model(spec, bough.build(spec), files=files).save(tmp_path / "one")
    bough.load(tmp_path / "one").save(tmp_path / "two")
    model = bough.load(tmp_path / "two")
    assert model.files == files == small_files(Folder(tmp_path / "two"))
    lines = corpus()[:20]
    assert model.tokenizer.ids(lines) == own.ids(lines)
    assert model.tokenizer.target.ids(lines) == own.target.ids(lines)
    assert model.tokenizer.fingerprint == own.fingerprint
