"""`bough embed`: a vector for each text."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from bough.cli import terminal
from bough.cli.options import AllowPickle, FamilyName, Ignore, Json
from bough.cli.texts import batches, given


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
    with given(texts or [], file) as source:
        from bough.model import load

        asked = load(model, precision, device, allow_pickle, family=family, ignore=ignore or ())
        for some in batches(source.lines):
            vectors = cast("list[list[float]]", asked.embed(some, pooling, layer, normalize).tolist())
            for text, vector in zip(some, vectors, strict=True):
                if json:
                    terminal.line(dumps({"text": text, "vector": vector}, ensure_ascii=False))
                else:
                    terminal.line(" ".join(f"{one:.6g}" for one in vector))
