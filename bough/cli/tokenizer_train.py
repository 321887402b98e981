"""`bough tokenizer train`: a vocabulary learnt from texts, and the files that make it a tokenizer."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bough.cli import terminal
from bough.cli.options import ColumnNames, Format, Json, Per, SkipBad, column_names
from bough.cli.tokenizer_page import learnt
from bough.errors import BoughError
from bough.record import nearest

if TYPE_CHECKING:
    from bough.data.reading.source import Source
    from bough.families.forms import Form

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)


def train(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="What to learn from: files, folders of shards, - for stdin, a sample's file.",
            show_default=False,
        ),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="word, character, bpe, bytes, wordpiece or unigram; unsaid, the family's.",
            show_default=False,
        ),
    ] = None,
    size: Annotated[int, typer.Option(help="At most so many tokens, special ones included.")] = 8000,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Find words, and put special tokens around texts, as this family does.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the tokenizer into this folder.", show_default=False)
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Take no more, such as 2GB; rare words go for it.", show_default=False),
    ] = None,
    byte_fallback: Annotated[
        bool, typer.Option("--byte-fallback", help="Write letters that are not known as bytes.")
    ] = False,
    lowercase: Annotated[
        bool | None,
        typer.Option(
            "--lowercase/--capitals",
            help="Drop capitals, or keep them; unsaid, as the family does.",
            show_default=False,
        ),
    ] = None,
    min_count: Annotated[int, typer.Option(help="Leave out what occurs less often.")] = 1,
    alphabet: Annotated[
        int | None, typer.Option(help="Know only so many letters, the most frequent.", show_default=False)
    ] = None,
    format: Format = None,  # noqa: A002  # the option is called so
    columns: ColumnNames = None,
    per: Per = None,
    skip_bad: SkipBad = False,
    json: Json = False,
) -> None:
    """Learn a vocabulary from texts, and write the files of a tokenizer, which other tools read as well.

    The same texts make the same files to the byte, however they are packed, and on any number of threads.
    """
    if out and out.is_file():
        raise BoughError(f"--out {out}: is a file; name a folder")
    form, kind = _asked(family, kind)
    from bough.data.reading.rows import Tally
    from bough.text.learning.kinds import Plan
    from bough.text.learning.measure import Sample, measure
    from bough.text.learning.train import trained
    from bough.text.learning.write import save

    plan = Plan(cast("Any", kind), size, byte_fallback, lowercase, min_count, alphabet, _bytes(memory))
    source, tally, sample = source_of(files, format, columns, per, skip_bad), Tally(), Sample()
    start = time.perf_counter()
    with terminal.working(f"learning from {', '.join(files)}"):
        made = trained(sample.passing(source.texts(tally)), plan, form)
    took = time.perf_counter() - start
    if out:
        save(out, made.files)
    [does] = measure(sample.texts, [made.tokenizer])
    notes = [*made.notes, *([f"{tally.skipped:,} bad rows were left out"] if tally.skipped else [])]
    if json:
        terminal.document({
            "kind": kind, "family": family, "size": len(made.tokenizer), "asked": size, "texts": made.texts,
            "words": made.words, "skipped": tally.skipped, "seconds": round(took, 3), "notes": notes,
            "fingerprint": made.tokenizer.fingerprint, "out": str(out) if out else None, "sample": does.plain(),
        })  # fmt: skip
    else:
        terminal.show(*learnt(made, kind, family, took, does, notes, out))


def _asked(family: str | None, kind: str | None) -> tuple[Form | None, str]:
    """The form of a family, and the kind that was asked for, or that is the family's."""
    from bough.families import family as named
    from bough.text.learning.kinds import KINDS, PLAIN

    form = named(family).text if family else None
    if family and not form:
        raise BoughError(f"--family {family}: reads no text, so there is no vocabulary to learn")
    if kind is None and form:
        return form, KINDS[type(form.vocabulary)][0]
    if kind not in PLAIN:
        known = ", ".join(PLAIN)
        said = f"there is no kind {kind!r}{nearest(kind, list(PLAIN))}" if kind else "say which kind to learn"
        raise BoughError(f"--kind: {said}; there are {known}")
    return form, kind


def source_of(
    files: list[str], file_format: str | None, columns: str | None, per: str | None, skip_bad: bool
) -> Source:
    """The texts that were named on the command line."""
    from bough.data.reading.source import Source

    changes = {f"columns.{part}": name for part, name in column_names(columns)}
    return Source(tuple(files)).but(format=file_format, per=per or "line", skip_bad=skip_bad, **changes)


def _bytes(said: str | None) -> int | None:
    """How many bytes 2GB or 500 MiB are."""
    if said is None:
        return None
    match = AMOUNT.fullmatch(said.strip())
    if not match or match[2].lower() not in UNITS:
        raise BoughError(f"--memory {said}: is no amount of memory; say it such as 2GB or 500MB")
    return int(float(match[1]) * UNITS[match[2].lower()])
