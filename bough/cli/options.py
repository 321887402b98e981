"""The options that several verbs share: how a model is found and read."""

from __future__ import annotations

from typing import Annotated

import typer

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
