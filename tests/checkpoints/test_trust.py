"""A file never votes on trust: what asks for its own program to be run is read past, and not passed on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from crafted import rewrite

import bough
from bough.model import Model

ASKS = {
    "auto_map": {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"},
    "trust_remote_code": True,
    "custom_pipelines": {"feel": {"impl": "evil.Pipeline"}},
    "code_revision": "main",
}


@pytest.fixture
def evil(folder: Path) -> Path:
    """A folder that asks for its program to be run, in every way there is."""
    rewrite(folder / "config.json", **ASKS)
    (folder / "tokenizer_config.json").write_text(json.dumps({**ASKS, "model_max_length": 512}))
    for name in ("evil.py", "__init__.py", "modeling_bert.py"):
        (folder / name).write_text(f"import pathlib; pathlib.Path({str(folder / 'ran')!r}).touch()")
    return folder


def test_a_folder_that_asks_to_be_run_is_read_as_any_other(evil: Path, model: Model) -> None:
    loaded = bough.load(evil)
    assert torch.equal(loaded.logits([[1, 2, 3]])[0], model.logits([[1, 2, 3]])[0])
    assert not (evil / "ran").exists()


def test_a_config_cannot_allow_a_pickle(evil: Path) -> None:
    (evil / "model.safetensors").rename(evil / "pytorch_model.bin")
    rewrite(evil / "config.json", allow_pickle=True, _allow_pickle=True)
    with pytest.raises(bough.ArtefactError, match="refused, because a pickle can hold a program"):
        bough.load(evil)


def test_what_is_saved_asks_for_nothing(evil: Path, tmp_path: Path) -> None:
    bough.load(evil).save(tmp_path / "clean")
    for name in ("config.json", "tokenizer_config.json"):
        assert not ASKS.keys() & json.loads((tmp_path / "clean" / name).read_text()).keys()
    assert json.loads((tmp_path / "clean" / "tokenizer_config.json").read_text()) == {"model_max_length": 512}
    assert not list((tmp_path / "clean").glob("*.py"))


def test_a_small_config_that_asks_for_nothing_keeps_its_bytes(folder: Path, tmp_path: Path) -> None:
    content = b'{"model_max_length":512,   "note": "\xc3\xa9"}'
    (folder / "tokenizer_config.json").write_bytes(content)
    bough.load(folder).save(tmp_path / "again")
    assert (tmp_path / "again" / "tokenizer_config.json").read_bytes() == content
