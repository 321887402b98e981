"""`bough embed`: a vector for each text."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from json import dumps
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, cast

import typer

from bough.cli import terminal
from bough.cli.options import AllowPickle, FamilyName, Ignore, Json
from bough.errors import BoughError

AT_ONCE = 512
"""So many texts are held at a time, however many there are."""
LONGEST = 16 * 2**20
"""Bytes of a line; more is no text but a mistake, or meant to fill the memory."""


def embed(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A checkpoint's folder or hub id.", show_default=False)],
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT...", help="The texts; - reads them from stdin.", show_default=False),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Read a text from each line of this file.")] = None,
    pooling: Annotated[
        Literal["mean", "first", "last", "max"] | None,
        typer.Option(
            metavar="HOW",
            help="mean, first, last or max of the tokens; unsaid, as the model has it.",
            show_default=False,
        ),
    ] = None,
    layer: Annotated[int, typer.Option(help="The layer to read; 0 is the embedding, -1 the last.")] = -1,
    normalize: Annotated[
        bool | None, typer.Option(help="Bring vectors to length one; unsaid, as the model has it.", show_default=False)
    ] = None,
    precision: Annotated[Literal["auto", "fp32", "bf16"], typer.Option(help="What to compute in.")] = "auto",
    device: Annotated[str, typer.Option(help="Where to compute: auto, cpu or cuda.")] = "auto",
    family: FamilyName = None,
    allow_pickle: AllowPickle = False,
    ignore: Ignore = None,
    json: Json = False,
) -> None:
    """Print a vector for each text, a line each, in the order given."""
    with _source(texts or [], file) as lines:
        from bough.model import load

        asked = load(model, precision, device, allow_pickle, family=family, ignore=ignore or ())
        for some in _batches(lines):
            vectors = cast("list[list[float]]", asked.embed(some, pooling, layer, normalize).tolist())
            for text, vector in zip(some, vectors, strict=True):
                if json:
                    terminal.line(dumps({"text": text, "vector": vector}, ensure_ascii=False))
                else:
                    terminal.line(" ".join(f"{one:.6g}" for one in vector))


@contextlib.contextmanager
def _source(texts: Sequence[str], file: Path | None) -> Generator[Iterable[str]]:
    """The texts, from where the user said they are."""
    if bool(texts) == bool(file):
        raise BoughError("give texts, or --file with a text on each line, or - to read them from stdin; one of these")
    if file:
        with file.open("rb") as handle:
            yield _lines(handle, str(file))
    elif texts == ["-"]:
        yield _lines(sys.stdin.buffer, "stdin")
    else:
        yield texts


def _lines(handle: BinaryIO, where: str) -> Iterator[str]:
    """The text of each line, so that an empty one has its vector too and lines keep their numbers."""
    number = 0
    while line := handle.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            raise BoughError(f"{where}:{number}: a line of more than {LONGEST >> 20} MiB; split it into texts")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BoughError(
                f"{where}:{number}: not UTF-8 ({error.reason} at byte {error.start + 1}); convert it"
            ) from None
        yield text.rstrip("\r\n")


def _batches(lines: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(lines)
    while some := list(islice(rest, AT_ONCE)):
        yield some
