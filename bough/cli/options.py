"""The options that several verbs share: how a model is found, and how a model or data are read."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from bough.errors import BoughError

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
AllowPickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Read pytorch_model.bin too, by torch's weights-only reader.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        help="Pass over this config key, tensor or head, or the check of the tokenizer; may be said again.",
        metavar="NAME",
        show_default=False,
    ),
]
FamilyName = Annotated[
    str | None, typer.Option("--family", help="The branch it is of, where its files do not say so.", metavar="NAME")
]
Format = Annotated[
    str | None, typer.Option(help="jsonl, csv, tsv, txt, parquet, po or mo; unsaid, as files are called.")
]
ColumnNames = Annotated[
    str | None,
    typer.Option(help="What columns are called, such as text=review,label=stars.", metavar="PART=NAME,…"),
]
Per = Annotated[
    Literal["line", "document"] | None,
    typer.Option(help="What a text of txt is: a line, or all lines up to a blank one.", metavar="line|document"),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave rows out that cannot be read.")]


def column_names(said: str | None) -> list[tuple[str, str]]:
    """The parts of `text=review,label=stars`, with the names of their columns."""
    pairs = [one.partition("=") for one in said.split(",")] if said else []
    if not all(part and name for part, _, name in pairs):
        raise BoughError(f"--columns {said}: must say which part is which column, such as text=review,label=stars")
    return [(part.strip(), name.strip()) for part, _, name in pairs]
