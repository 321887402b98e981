"""A save killed at any call of the system, or told at any that the disk is full, as strace injects it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bough.model import Model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

CALLS = (
    "write", "pwrite64", "writev", "ftruncate", "fallocate", "fsync", "fdatasync", "openat", "close", "mkdir",
    "mkdirat", "chmod", "fchmodat", "link", "linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir",
)  # fmt: skip
FILLING = ("write", "pwrite64", "writev", "ftruncate", "fallocate", "fsync", "fdatasync", "openat", "mkdir", "mkdirat",
           "link", "linkat", "rename", "renameat", "renameat2")  # fmt: skip
"""Those that a full disk makes fail."""


class Saver:
    """The program that saves, and what befalls it."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self.program = program

    def save(self, folder: Path, *watch: str) -> int:
        """Save into a folder under strace; the exit code, or minus the signal."""
        assert self.program.stdin
        assert self.program.stdout
        print(folder, file=self.program.stdin, flush=True)
        child = int(self.program.stdout.readline())
        command = ["strace", "-f", "-qq", "-p", str(child), "-o", "/dev/null", *watch]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
            attached = wait_until_traced(child, tracer)
            os.kill(child, signal.SIGCONT)
            code = int(self.program.stdout.readline())
            if not attached:
                pytest.skip(f"strace cannot trace here: {tracer.communicate()[1].strip()}")
            return code


def wait_until_traced(child: int, tracer: subprocess.Popen[str]) -> bool:
    """Whether strace has taken hold of the child; False where it gives up."""
    while tracer.poll() is None:
        status = Path(f"/proc/{child}/status").read_text()
        if "TracerPid:\t0\n" not in status:
            return True
    return False


@pytest.fixture(scope="module")
def saver() -> Iterator[Saver]:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    command = [sys.executable, str(Path(__file__).with_name("saver.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield Saver(program)
        program.stdin.close()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def old(model: Model, tmp_path: Path) -> Path:
    """A folder as an earlier save left it, with a file that is not ours and weights that will be stale."""
    folder = tmp_path / "old"
    model.save(folder)
    (folder / "runs").mkdir()
    (folder / "runs" / "log.txt").write_text("kept")
    (folder / "pytorch_model.bin").write_text("stale")
    return folder


def calls(saver: Saver, old: Path, tmp_path: Path, names: tuple[str, ...]) -> list[tuple[str, int]]:
    """Every call that a save over a copy of this folder makes: its name, and the how-many-th of that name it is."""
    shutil.copytree(old, tmp_path / "after")
    code = saver.save(tmp_path / "after", "-o", str(tmp_path / "trace"), "-e", f"trace=?{',?'.join(names)}")
    assert code == 0
    made = Counter(re.findall(r"^\d+ +(\w+)\(", (tmp_path / "trace").read_text(), re.MULTILINE))
    return [(name, at) for name in names for at in range(1, made[name] + 1)]


def test_a_save_killed_at_any_call_leaves_the_old_folder_or_the_new(saver: Saver, old: Path, tmp_path: Path) -> None:
    points = calls(saver, old, tmp_path, CALLS)
    before, after, seen = contents(old), contents(tmp_path / "after"), set[bool]()
    for call, at in points:
        target = shutil.copytree(old, tmp_path / "target")
        code = saver.save(target, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={at}")
        assert code == -signal.SIGKILL
        found = contents(target)
        assert found in (before, after), f"{call} {at}"
        seen.add(found == after)
        shutil.rmtree(target)
    assert seen == {True, False}, "some came before the exchange and some behind it"


def test_a_disk_full_at_any_call_leaves_the_old_folder_and_nothing_else(
    saver: Saver, old: Path, tmp_path: Path
) -> None:
    points = calls(saver, old, tmp_path, FILLING)
    before, after, failed = contents(old), contents(tmp_path / "after"), 0
    for call, at in points:
        target = shutil.copytree(old, tmp_path / "target")
        beside = sorted(tmp_path.iterdir())
        code = saver.save(target, "-e", f"trace={call}", "-e", f"inject={call}:error=ENOSPC:when={at}")
        found = contents(target)
        assert (code, found) in ((4, before), (0, after)), f"{call} {at}"
        if code:
            failed += 1
            assert sorted(tmp_path.iterdir()) == beside, f"{call} {at}"
        for place in {*tmp_path.iterdir()} - {*beside} | {target}:
            shutil.rmtree(place)
    assert failed > len(points) / 2, "the others only tidy up, or ask for what is there already"
