"""What a package index has and a sample needs: fetched by pip as the user has set it up, and checked by its hash."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

from bough.errors import ArtefactError, ResourceError

OTHER = "pip's index serves another package under this name; mend pip's settings and try again"
Form = Literal["wheel", "source"]


def cache() -> Path:
    """Where what was fetched or made once is kept: the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bough"


def download(package: str, room: Path, form: Form = "wheel") -> Path:
    """One file of a package, `name==version`, fetched into an empty folder."""
    pip = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "--quiet"]
    kind = "--only-binary" if form == "wheel" else "--no-binary"
    wanted = ["download", "--no-deps", kind, ":all:", "--dest", str(room), package]
    done = subprocess.run([*pip, *wanted], capture_output=True, text=True, check=False)  # noqa: S603 (every word is ours)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        remedy = "go online and try again, or name an index that has it in pip's settings"
        if "No module named pip" in said[-1]:
            remedy = f"run `{sys.executable} -m ensurepip` and try again"
        raise ResourceError(f"{package}: pip cannot download it ({said[-1].removeprefix('ERROR: ')}); {remedy}")
    return next(one for one in room.iterdir() if one.is_file())


def check(path: Path, content: bytes, wanted: str, remedy: str) -> None:
    """Raise where a file is not the one that was published."""
    found = hashlib.sha256(content).hexdigest()
    if found != wanted:
        raise ArtefactError(f"{path}: not the file that was published (sha256 {found}, not {wanted}); {remedy}")
