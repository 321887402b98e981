"""Samples that are known by name: made or fetched once into the user's cache, whole or not at all, then checked."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from bough.errors import ArtefactError, BoughError
from bough.files.atomic import replaced, write
from bough.files.fetch import cache
from bough.record import nearest

SUMS = "SHA256SUMS"
"""Where the hashes of a sample's files stand, as sha256sum writes and checks them."""
SUM = re.compile(r"([0-9a-f]{64})  ([A-Za-z]+\.[a-z]+)")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}([_@][A-Za-z]+)*")


@dataclass(frozen=True)
class Sample:
    """Something to try things on: what it is, how large, and under which licence."""

    name: str
    what: str
    size: str
    licence: str
    train: str
    """The file of it to train on."""

    @property
    def fetched(self) -> list[Path]:
        """The folders in which it lies, of a sample in several languages one for each."""
        return sorted((cache() / "data").glob(self.name.replace(":LANG", "-*")))


SAMPLES = {
    "reviews": Sample(
        "reviews",
        "snippets of film reviews in English, positive or negative; comes by pip",
        "10,207 rows, 1.3 MB",
        "MIT, and the sentences are their critics'",
        "train.csv",
    ),
    "pydocs": Sample(
        "pydocs",
        "the documentation that this Python carries, as documents",
        "700 documents, 2.6 MB",
        "PSF-2.0",
        "train.txt",
    ),
    "gettext": Sample(
        "gettext:LANG",
        "what the programs on this machine say in English and in a language, as pairs",
        "up to 50,000 pairs, 5 MB",
        "each program's own",
        "train.tsv",
    ),
}
"""By the first word of the name."""


def get(name: str) -> Path:
    """The folder of a sample, fetched or made if it is not in the cache; every file is what was written then."""
    kind, _, variant = name.partition(":")
    known = SAMPLES.get(kind)
    if kind == "gettext" and not LANGUAGE.fullmatch(variant):
        raise BoughError(f"{name}: say a language, such as gettext:es")
    if known is None or (variant and kind != "gettext"):
        names = {one.name: one for one in SAMPLES.values()}
        raise BoughError(f"there is no sample {name!r}{nearest(name, names)}; `bough data list` names them")
    folder = cache() / "data" / name.replace(":", "-")
    if not folder.exists():
        files = _made(kind, variant)
        sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {file}\n" for file, content in files.items())
        with replaced(folder) as aside:
            for file, content in {**files, SUMS: sums.encode()}.items():
                write(aside / file, content)
    for file, wanted in _sums(folder).items():
        if hashlib.sha256(_read(folder / file)).hexdigest() != wanted:
            raise ArtefactError(f"{folder / file}: has changed since it was made; remove {folder} and try again")
    return folder


def file(path: str) -> Path | None:
    """The file that a path such as `reviews/train.csv` means, if it is a sample's."""
    name, _, rest = path.partition("/")
    kind = name.partition(":")[0]
    if kind not in SAMPLES:
        return None
    if not rest:
        raise BoughError(f"{path}: is a sample of several files; name one, such as {name}/{SAMPLES[kind].train}")
    folder = get(name)
    files = _sums(folder)
    if rest not in files:
        raise BoughError(f"{path}: there is no such file in this sample; it has {', '.join(sorted(files))}")
    return folder / rest


def _made(kind: str, variant: str) -> dict[str, bytes]:
    """The files of a sample; what makes them is loaded when it is asked for."""
    match kind:
        case "reviews":
            from bough.data.samples.reviews import make

            return make()
        case "pydocs":
            from bough.data.samples.pydocs import make

            return make()
        case _:
            from bough.data.samples.translations import make

            return make(variant)


def _sums(folder: Path) -> dict[str, str]:
    """The hash of each file of a sample."""
    lines = _read(folder / SUMS).decode(errors="replace").splitlines()
    found = [SUM.fullmatch(line) for line in lines]
    if not found or not all(found):
        raise ArtefactError(f"{folder / SUMS}: cannot be read; remove {folder} and try again")
    return {one[2]: one[1] for one in found if one}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ArtefactError(f"{path}: {error.strerror}; remove {path.parent} and try again") from None
