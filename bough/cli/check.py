"""`bough check`: what is wrong with a corpus, and what it will cost, before time is spent on it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bough.cli import terminal
from bough.cli.options import ColumnNames, Format, Json, Per, SkipBad, column_names
from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.data.check import Report
    from bough.data.recipe import Recipe

RECIPE = ".toml"


def check(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="RECIPE|DATA...",
            help="A recipe, or what is to be trained on: files, folders of shards, - for stdin, a sample's file.",
            show_default=False,
        ),
    ],
    valid: Annotated[
        list[str] | None, typer.Option(help="What is validated on; may be said again.", metavar="DATA")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(help="What is tested on; may be said again.", metavar="DATA")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="A folder that holds a tokenizer; without one, words are counted.", metavar="FOLDER"),
    ] = None,
    format: Format = None,  # noqa: A002  # the option is called so
    columns: ColumnNames = None,
    per: Per = None,
    limit: Annotated[int | None, typer.Option(help="At most so many tokens of a text are read.")] = None,
    skip_bad: SkipBad = False,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any field of a recipe, such as task.kind=translate.", metavar="FIELD=VALUE"),
    ] = None,
    places: Annotated[int, typer.Option(help="How many places of each finding --json tells.", min=1)] = 20,
    json: Json = False,
) -> None:
    """Find what is wrong with a corpus, by file and row, and what it will cost, before time is spent on it.

    Duplicates, overlap of the sets, odd rows, label errors, damaged letters, other languages, what is cut or unknown.
    Errors end with exit code 2, warnings alone with 0.
    """
    from bough.data.recipe import changed

    flags = {
        "data.valid": valid,
        "data.test": test,
        "tokenizer.from": tokenizer,
        "data.format": format,
        "data.per": per,
        "text.limit": limit,
        "data.skip_bad": skip_bad or None,
        **{f"data.columns.{part}": name for part, name in column_names(columns)},
        **changed(changes or []),
    }
    given = {path: value for path, value in flags.items() if value is not None}
    recipe = _recipe(paths, given)
    batches = "batch.tokens" in given or paths[0].endswith(RECIPE)
    report = _checked(recipe, recipe.batch.tokens if batches else None, places)
    if json:
        terminal.document(_plain(report))
    else:
        from bough.cli.check_page import page

        terminal.show(*page(report, recipe))
    if report.count("error"):
        raise typer.Exit(2)


def _recipe(paths: list[str], changes: dict[str, Any]) -> Recipe:
    """The recipe that was named, or the one that the data make."""
    from bough.data.recipe import parsed, read

    recipes = [path for path in paths if path.endswith(RECIPE)]
    if recipes and len(paths) > 1:
        raise BoughError(f"{recipes[0]}: is a recipe, and says itself what is read; name it alone")
    return read(recipes[0], changes) if recipes else parsed("", "", {"data.train": paths, **changes})


def _checked(recipe: Recipe, batch: int | None, places: int) -> Report:
    from bough.data.check import Wanted, check
    from bough.text.reading.read import open_tokenizer

    named = recipe.tokenizer and recipe.tokenizer.from_
    wanted = Wanted(
        task=recipe.task and recipe.task.kind,
        labels=recipe.data.labels,
        separator=recipe.data.separator,
        tokenizer=open_tokenizer(named) if named else None,
        limit=recipe.text.limited(),
        batch=batch,
        places=places,
    )
    sources = recipe.data.sources()
    with terminal.working(f"checking {' and '.join(sources)}"):
        return check(sources, wanted)


def _plain(report: Report) -> dict[str, Any]:
    """The report as JSON has it."""
    sets = [one.name for one in report.sets]
    return {
        "passed": not report.count("error"),
        **{f"{severity}s": report.count(severity) for severity in ("error", "warning", "note")},
        **asdict(report),
        "longest": [{"place": place, "length": length} for place, length in report.longest],
        "classes": [{"name": one.name, **dict(zip(sets, one.counts, strict=True))} for one in report.classes],
    }
