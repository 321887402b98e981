"""The sample `gettext:LANG`: what the programs on this machine say in English, and in a language of theirs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bough.data.reading.catalogues import compiled
from bough.data.reading.rows import Row
from bough.data.samples.sides import split, together
from bough.errors import BoughError
from bough.record import nearest

LOCALES = Path("/usr/share/locale")
NEAR = 0.8
"""From this likeness on, pairs stay on one side."""

README = """# gettext:{language}

What programs say in English and in the language `{language}`: `train.tsv`, `valid.tsv` and `test.tsv`, UTF-8, with the
columns `source` and `target` between tabs, without quoting.

| side | pairs |
| --- | --- |
{rows}

Source: the catalogues in `{folder}` on the machine where this was made:
{catalogues}.

How it was made: white space collapsed, so that each side is one line. Left out are repeats, and catalogues that cannot
be read. Pairs whose English is nearly the same stay on one side, which a hash decides. Placeholders such as `%s` stand.

Licence: each catalogue has the licence of the program that it is of; on Debian, `/usr/share/doc/PACKAGE/copyright`.
"""


@dataclass(frozen=True)
class Pair:
    """A text and its translation."""

    source: str
    target: str


def languages() -> list[str]:
    """The languages that catalogues are on this machine for."""
    return sorted({path.parent.parent.name for path in LOCALES.glob("*/LC_MESSAGES/*.mo")})


def make(language: str) -> dict[str, bytes]:
    """The files of the sample."""
    folder = LOCALES / language / "LC_MESSAGES"
    paths = sorted(folder.glob("*.mo"))
    pairs = list(dict.fromkeys(pair for path in paths for pair in _pairs(path)))
    if not pairs:
        remedy = "install programs that are translated into it, such as Debian's iso-codes"
        near = nearest(language, languages())
        raise BoughError(f"gettext:{language}: no catalogues in {folder}{near}; {remedy}")
    sides = split(
        together(pairs, lambda one: one.source, NEAR), key=lambda one: one.source, weight=lambda one: {"pairs": 1}
    )
    return {
        **{f"{name}.tsv": _tsv(side) for name, side in sides.items()},
        "README.md": README.format(
            language=language,
            folder=folder,
            catalogues=", ".join(f"`{path.name}`" for path in paths),
            rows="\n".join(f"| {name} | {len(side)} |" for name, side in sides.items()),
        ).encode(),
    }


def _pairs(path: Path) -> Iterator[Pair]:
    """The pairs of a catalogue, on one line each; none of one that cannot be read."""
    with contextlib.suppress(BoughError), path.open("rb") as stream:
        for row in compiled(stream, str(path)):
            if isinstance(row, Row):
                source, target = (" ".join(row.values[side].split()) for side in ("source", "target"))
                if source and target:
                    yield Pair(source, target)


def _tsv(side: Sequence[Pair]) -> bytes:
    return "".join(f"{one.source}\t{one.target}\n" for one in (Pair("source", "target"), *side)).encode()
