"""`bough convert`: other layouts in, one layout out, every number as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from running import Run
from safetensors.torch import load_file, save_file

import bough


def as_pickle(encoder: Path, folder: Path) -> Path:
    """The same checkpoint as the tools of old wrote it."""
    folder.mkdir()
    tensors = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(encoder / "model.safetensors").items()
    }
    torch.save(tensors, folder / "pytorch_model.bin")
    (folder / "config.json").write_bytes((encoder / "config.json").read_bytes())
    (folder / "tokenizer.json").write_bytes((encoder / "tokenizer.json").read_bytes())
    return folder


def as_shards(encoder: Path, folder: Path) -> Path:
    """The same checkpoint in two files and their index."""
    folder.mkdir()
    places: dict[str, str] = {}
    tensors = load_file(encoder / "model.safetensors")
    for number in (0, 1):
        name = f"model-0000{number + 1}-of-00002.safetensors"
        held = {key: tensors[key] for key in sorted(tensors)[number::2]}
        save_file(held, folder / name)
        places |= dict.fromkeys(held, name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    (folder / "config.json").write_bytes((encoder / "config.json").read_bytes())
    (folder / "tokenizer.json").write_bytes((encoder / "tokenizer.json").read_bytes())
    return folder


@pytest.mark.parametrize(
    ("layout", "options"), [(as_pickle, ["--allow-pickle"]), (as_shards, [])], ids=["pickle", "shards"]
)
def test_other_layouts_become_the_one_folder_byte_for_byte(
    run: Run, encoder: Path, tmp_path: Path, layout: object, options: list[str]
) -> None:
    done = run("convert", layout(encoder, tmp_path / "old"), tmp_path / "new", *options)
    assert done.code == 0, done.err
    assert {one.name: one.read_bytes() for one in (tmp_path / "new").iterdir()} == {
        one.name: one.read_bytes() for one in encoder.iterdir()
    }


def test_a_pickle_is_refused_unless_it_is_allowed(run: Run, encoder: Path, tmp_path: Path) -> None:
    done = run("convert", as_pickle(encoder, tmp_path / "old"), tmp_path / "new")
    assert done.code == 3
    assert "--allow-pickle" in done.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_tensors_keep_their_type(run: Run, encoder: Path, tmp_path: Path, kind: torch.dtype) -> None:
    tensors = {name: one.to(kind) for name, one in load_file(encoder / "model.safetensors").items()}
    old = as_shards(encoder, tmp_path / "old")
    (old / "model.safetensors.index.json").unlink()
    save_file(tensors, old / "model.safetensors")
    report = run("convert", old, tmp_path / "new", "--json").document
    new = load_file(tmp_path / "new" / "model.safetensors")
    assert report["types"] == [str(kind).removeprefix("torch.")]
    assert all(new[name].dtype == kind and torch.equal(new[name], one) for name, one in tensors.items())


def test_a_folder_that_holds_something_else_is_left_alone(run: Run, encoder: Path, tmp_path: Path) -> None:
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "monday.txt").write_text("rain")
    done = run("convert", encoder, tmp_path / "diary")
    assert (done.code, done.err) == (
        2, f"bough: {tmp_path}/diary: holds something that is no checkpoint; name a new folder, or an empty one\n"
    )  # fmt: skip
    assert [one.name for one in (tmp_path / "diary").iterdir()] == ["monday.txt"]


def test_converting_in_place_leaves_one_set_of_weights(run: Run, encoder: Path, tmp_path: Path) -> None:
    folder = as_shards(encoder, tmp_path / "model")
    assert run("convert", folder, folder).code == 0
    assert not list(folder.glob("*index*")) + list(folder.glob("model-0*"))
    assert (folder / "model.safetensors").read_bytes() == (encoder / "model.safetensors").read_bytes()


def test_it_says_what_it_read_and_wrote(
    run: Run, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    model = bough.load(encoder)
    assert run("convert", encoder, tmp_path / "new").out == (
        f"read  {encoder}: BERT, {model.spec.parameters:,} parameters in float32; heads: pooler\n"
        f"wrote {tmp_path}/new: 0.0 MiB of tensors, and the rest\n"
    )


def test_a_new_head_has_the_labels_asked_for_and_is_said_to_be_new(run: Run, encoder: Path, tmp_path: Path) -> None:
    done = run("convert", encoder, tmp_path / "new", "--new-head", "classify", "--labels", "good, bad, neither")
    assert "classify is new, and untrained" in " ".join(done.out.split())
    assert bough.load(tmp_path / "new").spec.outputs.classify.labels == ("good", "bad", "neither")


def test_what_was_passed_over_need_not_be_passed_over_again(run: Run, encoder: Path, tmp_path: Path) -> None:
    old = as_shards(encoder, tmp_path / "old")
    config = json.loads((old / "config.json").read_text())
    (old / "config.json").write_text(json.dumps({**config, "colour_of_ink": "blue"}))
    assert run("convert", old, tmp_path / "new").code == 3
    assert run("convert", old, tmp_path / "new", "--ignore", "colour_of_ink").code == 0
    assert bough.load(tmp_path / "new").spec == bough.load(encoder).spec
