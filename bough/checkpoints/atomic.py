"""A folder that is written whole or not at all: aside, synced, then put in place in one step."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import tempfile
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
    target = folder.resolve()
    if target.exists() and not target.is_dir():
        raise BoughError(f"{folder}: is a file; name a folder to save into")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise _failed(folder, error) from None
    try:
        if target.exists():
            shutil.copytree(target, aside, copy_function=_linked, dirs_exist_ok=True, symlinks=True)
        aside.chmod(target.stat().st_mode if target.exists() else 0o777 & ~_umask())
        yield aside
        sync(aside)
        _exchange(aside, target)
        sync(target.parent)
    except OSError as error:
        raise _failed(folder, error) from None
    finally:
        # After the exchange, what lies aside is the old folder.
        shutil.rmtree(aside, ignore_errors=True)


def write(path: Path, content: bytes) -> None:
    """A new file with this content, on the disk when this returns; one of that name is left to its other links."""
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    sync(path)


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _linked(source: str, copy: str) -> None:
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(source, copy)


def _exchange(aside: Path, target: Path) -> None:
    """Put `aside` in the place of `target`, which then lies aside if there was one."""
    if not target.exists():
        aside.rename(target)
        return
    swap = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if swap and swap(HERE, os.fsencode(aside), HERE, os.fsencode(target), EXCHANGE) == 0:
        return
    # No such call here (it is Linux's): for an instant there is no folder of that name, and the old one lies beside it.
    old = aside.with_name(aside.name + "-old")
    target.rename(old)
    aside.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _failed(folder: Path, error: OSError) -> BoughError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "free some space and save again" if full else "nothing was changed; mend that and save again"
    return ResourceError(f"{folder}: cannot be saved ({error.strerror or error}); {remedy}")
