"""A folder that is written whole or not at all: aside, synced, then put in place in one step."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
from collections.abc import Generator
from pathlib import Path

from bough.errors import BoughError, ResourceError

HERE = -100
"""What the kernel calls the working directory (AT_FDCWD)."""
EXCHANGE = 2
"""Swap two names in one step (RENAME_EXCHANGE)."""


@contextlib.contextmanager
def replaced(folder: Path) -> Generator[Path]:
    """A folder to write into, which takes the place of `folder` when all of it is on the disk.

    It starts as a copy of what is there, by hard links: replace a file in it with `write`, never in place.
    Whoever reads `folder` meanwhile, or after a crash at any instant, finds all of the old or all of the new.
    """
    target = Path(os.path.realpath(folder))
    aside = target.parent / f".{target.name}-{secrets.token_hex(4)}"
    try:
        _check(folder, target)
        target.parent.mkdir(parents=True, exist_ok=True)
        aside.mkdir()
        if target.exists():
            _link_all(target, aside)
        yield aside
        sync(aside)
        _put(aside, target)
    except OSError as error:
        raise _failed(folder, error) from None
    finally:
        # After the exchange, what lies aside is the old folder.
        shutil.rmtree(aside, ignore_errors=True)


def write(path: Path, content: bytes) -> None:
    """A new file with this content, on the disk when this returns; one of that name is left to its other links."""
    if path.parent.is_symlink():
        path.parent.unlink()
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    sync(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check(folder: Path, target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise BoughError(f"{folder}: is a file; name a folder to save into")
    if Path.cwd().is_relative_to(target):
        raise BoughError(f"{folder}: is where this program works, and would be replaced under it; save from elsewhere")


def _link_all(source: Path, copy: Path) -> None:
    """Fill one folder with what another holds, its files by hard links."""
    for entry in source.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            (copy / entry.name).mkdir()
            _link_all(entry, copy / entry.name)
        else:
            _link(entry, copy / entry.name)
    copy.chmod(source.stat().st_mode)
    sync(copy)


def _link(source: Path, copy: Path) -> None:
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(source, copy, follow_symlinks=False)


def _put(aside: Path, target: Path) -> None:
    """Put `aside` in the place of `target`, for good; what was there, if anything, then lies aside."""
    new = not target.exists()
    _swap(aside, target)
    try:
        sync(target.parent)
    except OSError:
        if new:
            target.rename(aside)
        else:
            _swap(aside, target)
        raise


def _swap(aside: Path, target: Path) -> None:
    if not target.exists():
        aside.rename(target)
        return
    if _exchange(aside, target):
        return
    # For an instant there is no folder of that name, and the old one lies beside it.
    old = aside.with_name(aside.name + "-old")
    with contextlib.ExitStack() as back:
        target.rename(old)
        back.callback(old.rename, target)
        aside.rename(target)
        back.callback(target.rename, aside)
        old.rename(aside)
        back.pop_all()


def _exchange(aside: Path, target: Path) -> bool:
    """Swap two names in one step; False where the system (only Linux can) or its file system cannot."""
    swap = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if not swap:
        return False
    if swap(HERE, os.fsencode(aside), HERE, os.fsencode(target), EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        raise OSError(code, os.strerror(code))
    return False


def _failed(folder: Path, error: OSError) -> BoughError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "free some space and save again" if full else "nothing was changed; mend that and save again"
    return ResourceError(f"{folder}: cannot be saved ({error.strerror or error}); {remedy}")
