"""Saving: the folder holds all of the old model or all of the new one, at any instant and after any failure."""

from __future__ import annotations

import errno
import itertools
import os
import resource
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from crafted import complaint

import bough
from bough import BoughError, ResourceError
from bough.files import atomic
from bough.model import Model
from bough.spec import SentenceVector

IDS = [[1, 2, 3]]
CALLS = ("mkdir", "link", "open", "fsync", "unlink", "rename", "chmod")
"""What a save asks of the system through Python; the exchange and the weights go through libraries."""


@pytest.fixture
def other(small: bough.Spec) -> Model:
    """Another model, in other numbers and other words."""
    spec = small.but(**{"attention.weights_dropout": 0.5})
    return Model(spec, bough.build(spec, seed=2), files={"tokenizer_config.json": b"{}"})


def contents(folder: Path) -> dict[str, bytes]:
    """Every file beneath a folder, by its path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_saved_loaded_and_saved_again_is_the_same_to_the_byte(folder: Path) -> None:
    bough.load(folder).save(folder.parent / "again")
    assert contents(folder.parent / "again") == contents(folder)


def test_a_model_may_be_saved_onto_the_folder_it_was_loaded_from(folder: Path) -> None:
    before = contents(folder)
    loaded = bough.load(folder)
    expected = loaded.logits(IDS)[0]
    loaded.save(folder)
    assert contents(folder) == before
    loaded.save(folder)
    assert contents(folder) == before
    assert torch.equal(loaded.logits(IDS)[0], expected), "what is mapped is the file that was loaded"


def test_changed_weights_may_be_saved_onto_the_folder_they_were_loaded_from(folder: Path) -> None:
    loaded = bough.load(folder)
    with torch.no_grad():
        for weight in loaded.net.parameters():
            weight.mul_(2)
    loaded.save(folder)
    again = bough.load(folder).net.state_dict()
    assert all(torch.equal(again[name], one) for name, one in loaded.net.state_dict().items())


def test_a_link_is_saved_through_and_stays_a_link(folder: Path, other: Model) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    other.save(link)
    assert link.is_symlink()
    assert torch.equal(bough.load(folder).logits(IDS)[0], other.logits(IDS)[0])


def test_what_is_not_ours_survives_and_stale_weights_do_not(folder: Path, other: Model) -> None:
    stale = (
        "model-00001-of-00002.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
        "pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json", "tf_model.h5", "modules.json",
    )  # fmt: skip
    kept = ("README.md", "runs/log.txt", "optimizer.bin", ".hidden")
    (folder / "runs").mkdir()
    for name in (*stale, *kept):
        (folder / name).write_text(name)
    (folder / "link").symlink_to("README.md")
    other.save(folder)
    for name in stale:
        assert not (folder / name).exists()
    for name in kept:
        assert (folder / name).read_text() == name
    assert (folder / "link").is_symlink()


def test_a_tokenizer_takes_the_place_of_all_the_files_of_the_one_before(folder: Path, other: Model) -> None:
    (folder / "vocab.txt").write_text("old")
    other.save(folder)
    assert not (folder / "vocab.txt").exists()


def test_a_model_without_a_tokenizer_leaves_the_one_that_is_there(folder: Path, model: Model) -> None:
    (folder / "tokenizer.json").write_text("{}")
    model.save(folder)
    assert (folder / "tokenizer.json").exists()


def test_the_folder_keeps_its_rights_and_a_new_one_has_the_usual_ones(folder: Path, model: Model) -> None:
    (folder.parent / "usual").mkdir()
    assert folder.stat().st_mode == (folder.parent / "usual").stat().st_mode
    folder.chmod(0o750)
    model.save(folder)
    assert folder.stat().st_mode & 0o777 == 0o750


def test_a_link_in_the_folder_is_not_written_through(folder: Path, small: bough.Spec) -> None:
    out = folder.parent / "out"
    out.mkdir()
    (folder / "1_Pooling").symlink_to(out)
    spec = small.but(vector=SentenceVector("first"))
    Model(spec, bough.build(spec)).save(folder)
    assert not list(out.iterdir())
    assert bough.load(folder).spec == spec


@pytest.mark.parametrize("place", ["model", "."])
def test_the_folder_one_works_in_is_not_replaced_underfoot(
    folder: Path, model: Model, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(BoughError) as error:
        model.save({"model": folder, ".": "."}[place])
    said = "is where this program works, and would be replaced under it; save from elsewhere"
    assert complaint(error) == f"{folder if place == 'model' else '.'}: {said}"


def test_a_file_is_no_folder_to_save_into(folder: Path, model: Model) -> None:
    path = folder / "config.json"
    with pytest.raises(BoughError) as error:
        model.save(path)
    assert complaint(error) == f"{path}: is a file; name a folder to save into"


class Failing:
    """A call of the system that fails when it has been asked so many times."""

    def __init__(self, call: Callable[..., Any], at: int, code: int) -> None:
        self.call, self.left, self.code = call, at, code

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise OSError(self.code, os.strerror(self.code))
        return self.call(*args, **kwargs)


def refusal(target: Path, code: int) -> str:
    """What a save into this folder says of this failure."""
    remedy = "free some space" if code == errno.ENOSPC else "nothing was changed; mend that"
    return f"{target}: cannot be saved ({os.strerror(code)}); {remedy} and save again"


def saves(model: Model, target: Path, code: int) -> bool:
    """Whether a save succeeds; one that does not fails as it should."""
    try:
        model.save(target)
    except ResourceError as error:
        said, exit_code = str(error), error.exit_code
    else:
        return True
    assert (said, exit_code) == (refusal(target, code), 4)
    return False


@pytest.mark.parametrize("new", [False, True], ids=["over a folder", "into a new one"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["full", "broken"])
@pytest.mark.parametrize("name", CALLS)
def test_a_disk_that_fails_at_any_call_leaves_the_old_folder_and_nothing_else(
    folder: Path, other: Model, monkeypatch: pytest.MonkeyPatch, name: str, code: int, new: bool
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "kept").touch()
    target = folder.parent / "new" if new else folder
    before, beside = contents(folder), sorted(folder.parent.iterdir())
    for at in itertools.count(1):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, Failing(getattr(os, name), at, code))
            if saves(other, target, code):
                break
        assert contents(folder) == before
        assert sorted(folder.parent.iterdir()) == beside
    assert torch.equal(bough.load(target).logits(IDS)[0], other.logits(IDS)[0])


@pytest.mark.parametrize("at", [1, 2, 3])
def test_without_an_exchange_in_one_step_a_failing_disk_leaves_the_old_folder_too(
    folder: Path, other: Model, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(atomic, "_exchange", lambda *_: False)
    before = contents(folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", Failing(os.rename, at, errno.EIO))
        with pytest.raises(ResourceError) as error:
            other.save(folder)
    assert complaint(error) == refusal(folder, errno.EIO)
    assert contents(folder) == before
    assert list(folder.parent.iterdir()) == [folder]
    other.save(folder)
    assert torch.equal(bough.load(folder).logits(IDS)[0], other.logits(IDS)[0])
    assert list(folder.parent.iterdir()) == [folder]


def test_without_hard_links_files_are_copied(folder: Path, other: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "kept").write_text("kept")
    monkeypatch.setattr(os, "link", Failing(os.link, 1, errno.EPERM))
    other.save(folder)
    assert (folder / "kept").read_text() == "kept"


@contextmanager
def small_files_only() -> Generator[None]:
    """A system that writes no file of more than six kilobytes; not the log of the tests either, so be brief."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_weights_that_cannot_be_written_leave_the_old_folder(folder: Path, other: Model) -> None:
    before = contents(folder)
    with pytest.raises(ResourceError) as error, small_files_only():
        other.save(folder)
    assert complaint(error) == refusal(folder, errno.EFBIG)
    assert contents(folder) == before
    assert list(folder.parent.iterdir()) == [folder]
