"""A store gives back what was written, takes no more room than it needs, and does not open what is not whole."""

from __future__ import annotations

import os
import pickle
import shutil
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bough.data.storing.store import HELD, MANIFEST, Store, writing
from bough.errors import ArtefactError, BoughError

REMEDY = "remove the folder and prepare it again"


def written(folder: Path, rows: int = 5) -> Store:
    with writing(folder) as writer:
        for row in range(rows):
            writer.add({"ids": list(range(row)), "pair": [row] * 2}, {"label": row % 2, "value": row / 2})
        writer.about["said"] = ["anything", 1]
    return Store(folder)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.lists(st.integers(-(2**40), 2**40), max_size=5), st.integers(0, 300)), max_size=30))
def test_rows_come_back_as_they_were_written(tmp_path: Path, rows: list[tuple[list[int], int]]) -> None:
    with writing(tmp_path / "store") as writer:
        for ids, label in rows:
            writer.add({"ids": ids}, {"label": label})
    store = Store(tmp_path / "store")
    assert len(store) == len(rows)
    if rows:
        ids, labels = store.ragged["ids"], store.plain["label"]
        assert [ids[row].tolist() for row in range(len(ids))] == [one for one, _ in rows]
        assert ids.lengths.tolist() == [len(one) for one, _ in rows]
        assert ids.lengths_of(np.array([len(rows) - 1, 0])).tolist() == [len(rows[-1][0]), len(rows[0][0])]
        assert labels.tolist() == [one for _, one in rows]


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0, 255], "uint8"), ([256], "uint16"), ([65_536], "uint32"), ([2**32], "int64"), ([-1, 127], "int8"),
        ([-1, 128], "int16"), ([-1, 40_000], "int32"), ([-1, 2**31], "int64"), ([1, 0.5], "float64"),
    ],
)  # fmt: skip
def test_a_column_is_as_narrow_as_its_numbers(tmp_path: Path, numbers: list[float], kind: str) -> None:
    with writing(tmp_path / "store") as writer:
        for number in numbers:
            writer.add({}, {"number": number})
    store = Store(tmp_path / "store")
    assert store.plain["number"].dtype == kind
    assert store.plain["number"].tolist() == numbers
    assert (tmp_path / "store" / "number").stat().st_size == len(numbers) * np.dtype(kind).itemsize


def test_a_wide_number_that_comes_late_spoils_none_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.data.storing.store.HELD", 8)
    numbers = [3] * 20 + [-7] * 20 + [0.5] * 20 + [2**40]
    ids = [row % 200 for row in range(60)] + [70_000]
    with writing(tmp_path / "store") as writer:
        for number, one in zip(numbers, ids, strict=True):
            writer.add({"ids": [one]}, {"number": number})
    store = Store(tmp_path / "store")
    assert (store.ragged["ids"].flat.dtype, store.plain["number"].dtype) == ("uint32", "float64")
    assert store.ragged["ids"].flat.tolist() == ids
    assert store.plain["number"].tolist() == numbers


def test_a_store_says_what_its_writer_did(tmp_path: Path) -> None:
    assert written(tmp_path / "store").about == {"said": ["anything", 1]}


def test_rows_are_written_in_bounded_memory(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        tracemalloc.start()
        with writing(tmp_path / str(rows)) as writer:
            for row in range(rows):
                writer.add({"ids": [row % 30_000] * 500}, {"label": row % 2})
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(4_000) < 1.2 * peak(1_000)


def test_a_store_travels_to_another_process_as_its_place(tmp_path: Path) -> None:
    store = written(tmp_path / "store", 300)
    sent = pickle.dumps(store)
    assert len(sent) < 500
    assert pickle.loads(sent).ragged["ids"][99].tolist() == list(range(99))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["ids.flat", "ids.bounds", "label"])
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_cut, "has {less:,} bytes and should have {size:,}"),
        (_flip, "is not what was written (another sha256)"),
        (Path.unlink, "No such file or directory"),
    ],
)
def test_a_file_that_is_not_whole_is_named(tmp_path: Path, name: str, spoil: Callable[[Path], None], said: str) -> None:
    written(tmp_path / "store")
    path = tmp_path / "store" / name
    size = path.stat().st_size
    spoil(path)
    with pytest.raises(ArtefactError) as caught:
        Store(tmp_path / "store")
    assert str(caught.value) == f"{path}: {said.format(less=size - 1, size=size)}; {REMEDY}"
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("spoil", [_cut, _flip])
def test_a_manifest_that_is_not_whole_is_refused(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    written(tmp_path / "store")
    spoil(tmp_path / "store" / MANIFEST)
    with pytest.raises(ArtefactError, match=f"{MANIFEST}: is not what was written; {REMEDY}$"):
        Store(tmp_path / "store")


def test_a_folder_that_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=f"{MANIFEST}: No such file or directory; {REMEDY}$"):
        Store(tmp_path)


def test_a_copy_is_opened_once_its_content_is_known_to_be_the_same(tmp_path: Path) -> None:
    written(tmp_path / "store")
    shutil.copytree(tmp_path / "store", tmp_path / "copy", copy_function=shutil.copyfile)
    assert Store(tmp_path / "copy").ragged["ids"][4].tolist() == [0, 1, 2, 3]


def test_a_change_that_hides_from_the_clock_is_found_by_reading_all(tmp_path: Path) -> None:
    store = written(tmp_path / "store")
    store.check()
    path = tmp_path / "store" / "ids.flat"
    then = path.stat()
    _flip(path)
    os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
    with pytest.raises(ArtefactError, match=r"ids.flat: is not what was written \(another sha256\)"):
        Store(tmp_path / "store").check()


def test_no_change_can_bear_the_time_of_what_was_written(tmp_path: Path) -> None:
    began = time.time_ns()
    folder = written(tmp_path / "store").folder
    assert all(one.stat().st_mtime_ns < began for one in folder.iterdir() if one.name != MANIFEST)


def test_a_store_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stopped() -> None:
        with writing(tmp_path / "store") as writer:
            writer.add({"ids": [1] * 2 * HELD})
            raise StopError

    with pytest.raises(StopError):
        stopped()
    assert list(tmp_path.iterdir()) == []
    written(tmp_path / "store", 7)
    with pytest.raises(StopError):
        stopped()
    assert [one.name for one in tmp_path.iterdir()] == ["store"]
    assert len(Store(tmp_path / "store")) == 7


def test_a_store_takes_the_place_of_another_whole(tmp_path: Path) -> None:
    old = written(tmp_path / "store", 9)
    with writing(tmp_path / "store") as writer:
        writer.add({"ids": [5]})
    assert sorted(one.name for one in (tmp_path / "store").iterdir()) == ["ids.bounds", "ids.flat", MANIFEST]
    assert Store(tmp_path / "store").ragged["ids"][0].tolist() == [5]
    assert old.ragged["ids"][8].tolist() == list(range(8)), "who has it open keeps what it opened"


def test_a_disk_that_is_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *mode: str) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(BoughError) as caught, writing(tmp_path / "store") as writer:  # noqa: PT012  # both are the promise
        writer.add({"ids": [1]})
        monkeypatch.setattr(Path, "open", full)
    monkeypatch.undo()
    assert str(caught.value) == (
        f"{tmp_path / 'store'}: cannot be saved (No space left on device); free some space and save again"
    )
    assert caught.value.exit_code == 4
    assert list(tmp_path.iterdir()) == []
