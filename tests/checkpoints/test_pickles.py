"""Weights in pickles: refused unless allowed, and then read without running what is in them."""

from __future__ import annotations

import io
import os
import pickle
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from crafted import complaint
from safetensors.torch import load_file

import bough
from bough import ArtefactError
from bough.model import Model

REFUSED = (
    "refused, because a pickle can hold a program; convert it to model.safetensors where it came from, "
    "or allow it with allow_pickle=True (--allow-pickle)"
)

UNSOUND = (
    "{}: is not a sound pickle of tensors ({}); fetch it again, or convert it to model.safetensors where it came from"
)


class Payload:
    """What a pickle does to whoever reads it with the reader that Python brings."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


WRITERS: dict[str, Callable[[Any, Path], object]] = {
    "torch": torch.save,
    "old torch": lambda data, path: torch.save(data, path, _use_new_zipfile_serialization=False),
    "pickle": lambda data, path: path.write_bytes(pickle.dumps(data, protocol=2)),
    "newest pickle": lambda data, path: path.write_bytes(pickle.dumps(data)),
}


@pytest.fixture
def pickled(folder: Path) -> Path:
    """The folder with its weights in a pickle."""
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def test_a_pickle_is_refused_unless_allowed(pickled: Path) -> None:
    with pytest.raises(ArtefactError) as error:
        bough.load(pickled)
    assert complaint(error) == f"{pickled / 'pytorch_model.bin'}: {REFUSED}"
    assert error.value.exit_code == 3


def test_pickled_shards_are_refused_by_the_file_that_is_there(pickled: Path) -> None:
    (pickled / "pytorch_model.bin").rename(pickled / "pytorch_model-00001-of-00001.bin")
    index = pickled / "pytorch_model.bin.index.json"
    index.write_text('{"weight_map": {}}')
    with pytest.raises(ArtefactError) as error:
        bough.load(pickled)
    assert complaint(error) == f"{index}: {REFUSED}"


def test_an_allowed_pickle_holds_the_same_numbers(pickled: Path, model: Model) -> None:
    loaded = bough.load(pickled, allow_pickle=True)
    assert torch.equal(loaded.logits([[1, 2, 3]])[0], model.logits([[1, 2, 3]])[0])


def test_safetensors_are_read_where_both_are_there(pickled: Path, model: Model) -> None:
    torch.save({"a": Payload(pickled / "ran")}, pickled / "pytorch_model.bin")
    model.save(pickled.parent / "other")
    shutil.copy(pickled.parent / "other" / "model.safetensors", pickled)
    bough.load(pickled, allow_pickle=True)
    assert not (pickled / "ran").exists()


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_payload_never_runs(pickled: Path, write: Callable[[Any, Path], object]) -> None:
    path, mark = pickled / "pytorch_model.bin", pickled / "ran"
    write({"a": Payload(mark)}, path)
    with pytest.raises(ArtefactError) as error:
        bough.load(pickled, allow_pickle=True)
    assert not mark.exists()
    said = complaint(error)
    assert said.startswith(f"{path}: is not a sound pickle of tensors (")
    assert "trusted source" not in said, "torch's own words tell how to run it"
    assert error.value.exit_code == 3


def test_a_payload_is_named(pickled: Path) -> None:
    torch.save({"a": Payload(pickled / "ran")}, pickled / "pytorch_model.bin")
    with pytest.raises(ArtefactError) as error:
        bough.load(pickled, allow_pickle=True)
    said = "Trying to load unsupported GLOBAL posix.mkdir whose module posix is blocked"
    assert complaint(error) == UNSOUND.format(pickled / "pytorch_model.bin", said)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([torch.zeros(1)], "must hold tensors by name, not a list"),
        ({"step": 5}, "must hold tensors by name; 'step' is not one"),
        ({0: torch.zeros(1)}, "must hold tensors by name; 0 is not one"),
        ({"a": torch.zeros(1, device="meta")}, "must hold tensors by name; 'a' is not one"),
        ({"a": torch.zeros(2, 2).to_sparse()}, "must hold tensors by name; 'a' is not one"),
    ],
    ids=["a list", "a number", "a nameless one", "one without numbers", "a sparse one"],
)
def test_what_is_no_table_of_tensors_is_refused(pickled: Path, data: Any, said: str) -> None:
    path = pickled / "pytorch_model.bin"
    torch.save(data, path)
    with pytest.raises(ArtefactError) as error:
        bough.load(pickled, allow_pickle=True)
    assert complaint(error) == f"{path}: {said}"


def test_a_compressed_bomb_is_refused_unread(pickled: Path) -> None:
    path = pickled / "pytorch_model.bin"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(2**28))
    assert path.stat().st_size < 2**20
    with pytest.raises(ArtefactError) as error:
        bough.load(pickled, allow_pickle=True)
    assert complaint(error) == UNSOUND.format(path, "a compressed archive, which torch never writes")


def test_an_archive_whose_entries_overlap_is_refused_unread(pickled: Path) -> None:
    path = pickled / "pytorch_model.bin"
    archive = zipfile.ZipFile(path, "w")
    archive.writestr("archive/data.pkl", bytes(1000))
    archive.filelist += [archive.filelist[0]] * 99
    archive._didModify = True
    archive.close()
    with pytest.raises(ArtefactError) as error:
        bough.load(pickled, allow_pickle=True)
    assert complaint(error) == UNSOUND.format(path, "it would unpack to more than it holds")


@pytest.mark.parametrize("new", [True, False], ids=["torch", "old torch"])
def test_a_pickle_damaged_anywhere_is_refused_or_read_but_never_a_traceback(pickled: Path, new: bool) -> None:
    path, draw, sound = pickled / "pytorch_model.bin", random.Random(0), io.BytesIO()
    torch.save({"a": torch.zeros(2), "b": torch.ones(1)}, sound, _use_new_zipfile_serialization=new)
    for _ in range(200):
        content = bytearray(sound.getvalue())
        for _ in range(draw.choice((1, 1, 3))):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content[: draw.choice((len(content), draw.randrange(len(content))))])
        with pytest.raises(bough.BoughError) as error:
            bough.load(pickled, allow_pickle=True)
        complaint(error)
