"""The sample `reviews`: snippets of film reviews with what twenty people each thought of them, told apart by sign."""

from __future__ import annotations

import csv
import html
import io
import tarfile
import tempfile
import unicodedata
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bough.data.samples.sides import split, together
from bough.errors import ArtefactError
from bough.files.fetch import OTHER, download_source

PACKAGE = "vaderSentiment==3.3.2"
SHA256 = "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9"
ARCHIVE = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
"""The archive inside the package's."""
TABLE = "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt"
"""In that: a number, the mean rating from -4 to 4 and the snippet, between tabs."""
LARGEST = 2**24
"""More bytes than either has, so that no archive unpacks without end."""
NEUTRAL = 0.4
"""A snippet rated nearer to zero than this is neither."""
NEAR = 0.5
"""From this likeness on, snippets stay on one side."""

README = """# reviews

Snippets of film reviews in English, each positive or negative: `train.csv`, `valid.csv` and `test.csv`, UTF-8, with the
columns `text` and `label`.

| side | rows | positive | negative |
| --- | --- | --- | --- |
{rows}

Source: {package}, from its source distribution (sha256 {hash}), the
archive `hutto_ICWSM_2014.tar.gz` in it, and of that `movieReviewSnippets_GroundTruth.txt`. Twenty people or more rated
each of its 10,605 snippets from -4 to 4.

How it was made: entities of HTML decoded, two apostrophes written as a quotation mark, white space collapsed, and
Unicode's form NFC. Left out are snippets rated nearer to zero than 0.4, and repeats. The label is the sign of the
rating. Snippets that share half of their stretches of five letters stay on one side; else a hash decides, and both
labels have their tenth in `valid` and in `test`.

To know: different snippets may speak of one film. The same sentences are in SST, SST-2 and "rotten tomatoes", so that a
model tuned on those has seen this test.

Licence: the distribution is under the MIT licence, (c) 2016 C.J. Hutto, which speaks for the ratings. The sentences are
their critics', as Pang and Lee compiled them.

Cite: C.J. Hutto and E. Gilbert, VADER: A Parsimonious Rule-based Model for Sentiment Analysis of Social Media Text,
ICWSM 2014; B. Pang and L. Lee, Seeing Stars: Exploiting Class Relationships for Sentiment Categorization with Respect
to Rating Scales, ACL 2005.
"""


@dataclass(frozen=True)
class Snippet:
    """A text and whether it is positive or negative."""

    text: str
    label: str


def make() -> dict[str, bytes]:
    """The files of the sample."""
    alike = together(snippets(_table()), lambda one: one.text, NEAR)
    sides = split(alike, key=lambda one: one.text, weight=lambda one: {one.label: 1})
    return {**{f"{name}.csv": _csv(side) for name, side in sides.items()}, "README.md": _readme(sides)}


def _table() -> str:
    """What the package's table holds."""
    with tempfile.TemporaryDirectory() as room:
        path = download_source(PACKAGE, SHA256, Path(room))
        try:
            inner = _member(path.read_bytes(), ARCHIVE)
            return _member(inner, TABLE).decode()
        except (tarfile.TarError, KeyError, EOFError, OSError, zlib.error, ValueError):
            raise ArtefactError(f"{path.name}: has no {TABLE} that can be read; {OTHER}") from None


def _member(archive: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as found:
        member = found.extractfile(name)
        if member is None:
            raise KeyError(name)
        return member.read(LARGEST)


def snippets(table: str) -> list[Snippet]:
    """The snippets that are positive or negative, each once, as they are written today."""
    found: dict[str, Snippet] = {}
    for line in table.strip().split("\n"):
        _, rating, text = line.split("\t", 2)
        if abs(float(rating)) >= NEUTRAL:
            clean = " ".join(unicodedata.normalize("NFC", html.unescape(text)).replace("''", '"').split())
            found.setdefault(clean, Snippet(clean, "positive" if float(rating) > 0 else "negative"))
    return list(found.values())


def _csv(side: Sequence[Snippet]) -> bytes:
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    writer.writerow(["text", "label"])
    writer.writerows((one.text, one.label) for one in side)
    return rows.getvalue().encode()


def _readme(sides: Mapping[str, Sequence[Snippet]]) -> bytes:
    counts = {name: Counter(one.label for one in side) for name, side in sides.items()}
    rows = "\n".join(
        f"| {name} | {len(sides[name])} | {count['positive']} | {count['negative']} |" for name, count in counts.items()
    )
    return README.format(rows=rows, package=PACKAGE, hash=SHA256).encode()
