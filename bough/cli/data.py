"""`bough data`: samples to try things on, and fetching them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bough.cli import terminal
from bough.cli.options import Json

data = typer.Typer(help="Samples to try things on: see which there are, and fetch them.")


@data.command()
def list(json: Json = False) -> None:  # noqa: A001  # the verb is called so
    """Show the samples: what each is, how large, under which licence, and whether it was fetched."""
    from bough.data.samples.named import SAMPLES

    rows = [(one, one.fetched) for one in SAMPLES.values()]
    if json:
        terminal.document([{**asdict(one), "fetched": [str(folder) for folder in there]} for one, there in rows])
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    for one, there in rows:
        about = Text.assemble(one.what, (f"\n{one.size}; licence: {one.licence}", "dim"))
        if there:
            about.append(f"\nfetched: {', '.join(folder.name for folder in there)}", "cyan")
        table.add_row(one.name, about)
    terminal.show(table, "", "`bough data get NAME` fetches one; its files are then named as in `reviews/train.csv`.")


@data.command()
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A sample, such as reviews.", show_default=False)],
    json: Json = False,
) -> None:
    """Fetch a sample, unless it is here already, and print the folder that holds it."""
    from bough.data.samples.named import get as fetched

    with terminal.working(f"fetching {name}"):
        folder = fetched(name)
    if json:
        terminal.document({"name": name, "folder": str(folder), "files": sorted(one.name for one in folder.iterdir())})
    else:
        terminal.line(str(folder))
