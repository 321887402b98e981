"""Where a checkpoint's files lie: in its folder, whole or in shards, and nowhere that a name in a file leads to."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from crafted import complaint
from safetensors.torch import load_file, save_file

import bough
from bough import ArtefactError, BoughError
from bough.model import Model

LEADS_OUT = "refused, because it leads out of its folder; put the file itself there"
IDS = [[1, 2, 3]]


def shard(folder: Path) -> Path:
    """Split a folder's weights in two; the path of their index."""
    whole = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    places: dict[str, str] = {}
    for part in (0, 1):
        name = f"model-0000{part + 1}-of-00002.safetensors"
        tensors = {key: whole[key] for key in sorted(whole)[part::2]}
        save_file(tensors, folder / name)
        places |= dict.fromkeys(tensors, name)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return index


def test_shards_hold_the_same_numbers(folder: Path, model: Model) -> None:
    shard(folder)
    assert torch.equal(bough.load(folder).logits(IDS)[0], model.logits(IDS)[0])


def test_pickled_shards_hold_the_same_numbers(folder: Path, model: Model) -> None:
    index = shard(folder)
    for path in folder.glob("model-*.safetensors"):
        torch.save(load_file(path), folder / f"pytorch_{path.stem}.bin")
        path.unlink()
    said = index.read_text().replace("model-", "pytorch_model-").replace(".safetensors", ".bin")
    (folder / "pytorch_model.bin.index.json").write_text(said)
    index.unlink()
    assert torch.equal(bough.load(folder, allow_pickle=True).logits(IDS)[0], model.logits(IDS)[0])


def test_a_tensor_in_two_shards_is_read_from_the_one_that_the_index_names(folder: Path, model: Model) -> None:
    index = shard(folder)
    places = json.loads(index.read_text())["weight_map"]
    name = min(places)
    other = next(path for path in folder.glob("model-*") if path.name != places[name])
    save_file({**load_file(other), name: load_file(folder / places[name])[name] + 1}, other)
    assert torch.equal(bough.load(folder).logits(IDS)[0], model.logits(IDS)[0])


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({"a": "../out.safetensors"}, "refused, because it names '../out.safetensors', which is not a plain file name"),
        ({"a": "/etc/passwd"}, "refused, because it names '/etc/passwd', which is not a plain file name"),
        ({"a": "in/a.safetensors"}, "refused, because it names 'in/a.safetensors', which is not a plain file name"),
        ({"a": ".."}, "refused, because it names '..', which is not a plain file name"),
        ({"a": ""}, "names '', which is not there; fetch it again"),
        ({"a": "gone.safetensors"}, "names 'gone.safetensors', which is not there; fetch it again"),
        ({"a": "\0"}, "names '\\x00', which is not there; fetch it again"),
        ({"a": "\ud800"}, "names '\\ud800', which is not there; fetch it again"),
        ({"a": "x" * 5000}, f"names '{'x' * 27}...{'x' * 28}', which is not there; fetch it again"),
        ({"a": 5}, "weight_map must map tensors to file names"),
        (["a"], "weight_map must map tensors to file names"),
        (None, "weight_map must map tensors to file names"),
    ],
)  # fmt: skip
def test_an_index_names_only_files_of_its_folder(folder: Path, places: object, said: str) -> None:
    index = shard(folder)
    (folder.parent / "out.safetensors").touch()
    index.write_text(json.dumps({"weight_map": places}))
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert complaint(error) == f"{index}: {said}"
    assert error.value.exit_code == 3


def test_an_index_names_only_tensors_that_are_there(folder: Path) -> None:
    index = shard(folder)
    said = json.loads(index.read_text())
    index.write_text(json.dumps({"weight_map": {**said["weight_map"], "b": "model-00001-of-00002.safetensors",
                                                "a": "model-00001-of-00002.safetensors"}}))  # fmt: skip
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert complaint(error) == f"{index}: names tensors that their files do not hold: a, b"


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "1_Pooling"])
def test_a_link_that_leads_out_of_the_folder_is_refused(folder: Path, name: str) -> None:
    (folder / "modules.json").write_text('[{"type": "x.Pooling", "path": "1_Pooling"}]')
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean"}')
    (folder / "tokenizer.json").write_text("{}")
    out = folder.parent / "out"
    (folder / name).rename(out)
    (folder / name).symlink_to(out)
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert complaint(error) == f"{folder / name}: {LEADS_OUT}"
    assert error.value.exit_code == 3


def test_a_shard_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    shard(folder)
    path = folder / "model-00002-of-00002.safetensors"
    path.rename(folder.parent / "out")
    path.symlink_to("../out")
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert complaint(error) == f"{path}: {LEADS_OUT}"


@pytest.mark.parametrize("path", ["..", "/etc", "../out", "a\0b", "\ud800"])
def test_a_module_that_lies_outside_of_the_folder_is_refused(folder: Path, path: str) -> None:
    (folder / "modules.json").write_text(json.dumps([{"type": "x.Pooling", "path": path}]))
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert complaint(error) == f"{folder}/{path}: {LEADS_OUT}".replace(
        f"{folder}/{path}", str(BoughError(str(folder / path)))
    )


def test_links_that_run_in_a_circle_are_no_files(folder: Path) -> None:
    (folder / "modules.json").write_text('[{"type": "x.Pooling", "path": "round"}]')
    (folder / "round").symlink_to("round")
    with pytest.raises(BoughError) as error:
        bough.load(folder)
    assert complaint(error) == f"{folder / 'round' / 'config.json'}: Too many levels of symbolic links"


def test_a_folder_may_itself_be_a_link_and_hold_links_of_its_own(folder: Path, model: Model) -> None:
    (folder / "model.safetensors").rename(folder / "weights")
    (folder / "model.safetensors").symlink_to("weights")
    (folder.parent / "name").symlink_to(folder)
    assert torch.equal(bough.load(folder.parent / "name").logits(IDS)[0], model.logits(IDS)[0])


def test_the_links_of_the_hubs_cache_are_followed_and_no_others(folder: Path, model: Model) -> None:
    cached = folder.parent / "models--them--it"
    snapshot = cached / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    (cached / "blobs").mkdir()
    for path in folder.iterdir():
        shutil.copy(path, cached / "blobs" / f"hash-of-{path.name}")
        (snapshot / path.name).symlink_to(f"../../blobs/hash-of-{path.name}")
    assert torch.equal(bough.load(snapshot).logits(IDS)[0], model.logits(IDS)[0])
    (cached / "config.json").write_text("{}")
    (snapshot / "config.json").unlink()
    (snapshot / "config.json").symlink_to("../../config.json")
    with pytest.raises(ArtefactError) as error:
        bough.load(snapshot)
    assert complaint(error) == f"{snapshot / 'config.json'}: {LEADS_OUT}"


def test_the_trunk_may_lie_in_a_folder_that_the_list_of_modules_names(folder: Path, model: Model) -> None:
    whole = folder.parent / "sentences"
    shutil.copytree(folder, whole / "0_Transformer")
    (whole / "1_Pooling").mkdir()
    (whole / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    modules = [{"type": f"x.{kind}", "path": f"{i}_{kind}"} for i, kind in enumerate(("Transformer", "Pooling"))]
    (whole / "modules.json").write_text(json.dumps(modules))
    loaded = bough.load(whole)
    assert torch.equal(loaded.logits(IDS)[0], model.logits(IDS)[0])
    assert loaded.spec.vector
    assert loaded.spec.vector.pooling == "first"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("no/such/folder", "no/such/folder: there is no such folder"),
        ("a b", "a b: there is no such folder"),
        ("x" * 5000 + "/y/z", f"{'x' * 5000}/y/z: there is no such folder"),
        ("a\0b", "a\\x00b: there is no such folder"),
    ],
    ids=["a path", "a blank", "an endless name", "a NUL"],
)
def test_a_folder_that_is_not_there_is_said_plainly(source: str, said: str) -> None:
    with pytest.raises(BoughError) as error:
        bough.load(source)
    assert complaint(error) == said
    assert error.value.exit_code == 2


def test_a_file_in_place_of_a_folder_is_said_plainly(folder: Path) -> None:
    path = folder / "model.safetensors"
    with pytest.raises(BoughError) as error:
        bough.load(path)
    assert complaint(error) == f"{path}: is a file; name the folder that holds it and its config.json"


def test_a_folder_without_weights_is_said_plainly(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(BoughError) as error:
        bough.load(folder)
    said = "has no model.safetensors, nor an index of shards; is this a checkpoint's folder?"
    assert complaint(error) == f"{folder}: {said}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_file_that_may_not_be_read_is_said_plainly(folder: Path, name: str) -> None:
    (folder / name).chmod(0)
    with pytest.raises(BoughError) as error:
        bough.load(folder)
    assert complaint(error) == f"{folder / name}: Permission denied"
