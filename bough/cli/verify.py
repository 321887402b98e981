"""`bough verify`: what is promised of every model, measured on the user's own."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from bough.cli import terminal
from bough.cli.options import AllowPickle, FamilyName, Ignore, Json


def verify(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A checkpoint's folder or hub id.", show_default=False)],
    seed: Annotated[int, typer.Option(help="What the sequences to try are drawn from.")] = 0,
    family: FamilyName = None,
    allow_pickle: AllowPickle = False,
    ignore: Ignore = None,
    json: Json = False,
) -> None:
    """Prove on a model that nothing depends on company or order, that saving keeps it, and that transformers agrees.

    Sequences of 1 to 64 random tokens are tried in fp32. A figure is the greatest difference, relative where values
    exceed one.
    """
    with terminal.working(f"verifying {model}"):
        from bough.verify import verify as checked

        checks = checked(model, family=family, allow_pickle=allow_pickle, ignore=ignore or (), seed=seed)
    failed = [one for one in checks if one.passed is False]
    if json:
        rows = [{**dataclasses.asdict(one), "figure": _finite(one.figure)} for one in checks]
        terminal.document({"model": model, "passed": not failed, "checks": rows})
    else:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        table.add_column("check")
        table.add_column("difference", justify="right")
        table.add_column("at most", justify="right")
        table.add_column()
        table.add_column("", style="dim")
        verdicts = {True: Text("PASS", "green"), False: Text("FAIL", "bold red"), None: Text("-", "dim")}
        for one in checks:
            figure = "" if one.figure is None else f"{one.figure:.1e}" if one.figure else "0"
            tolerance = f"{one.tolerance:.0e}" if one.tolerance else "0"
            table.add_row(one.name, figure, tolerance, verdicts[one.passed], one.note)
        tried = [one for one in checks if one.passed is not None]
        terminal.show(table, "", f"{len(tried) - len(failed)} of {len(tried)} checks passed.")
    if failed:
        raise typer.Exit(3)


def _finite(figure: float | None) -> float | None:
    """A figure that JSON can hold."""
    return figure if figure is not None and math.isfinite(figure) else None
