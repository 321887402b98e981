"""What `bough check` shows: what was found, each with a mark and its first places; then sets, labels and costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import floor
from pathlib import Path

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bough.data.check import Finding, Report, Spot
from bough.data.check.findings import plural
from bough.data.check.size import EpochFacts
from bough.data.recipe import Recipe

MARKS = {"error": ("✗", "bold red"), "warning": ("!", "bold yellow"), "note": ("·", "bold cyan")}
BARS = " ▁▂▃▄▅▆▇█"
SHOWN = 3
"""As many places of a finding are shown."""
CLASSES = 12
"""As many classes are shown."""
SIDES = {"source": "source", "target": "target", "text": "text", "text_pair": "second text"}

Short = Callable[[str], str]


def page(report: Report, recipe: Recipe) -> Iterator[RenderableType]:
    """All of it, from what is wrong to what it costs."""
    folder = _folder(report)
    short = partial(_short, folder)
    for finding in report.findings:
        yield _finding(finding, short)
    if any(one.rows for one in report.sets):
        yield from _facts(report, recipe, folder, short)
    yield ""
    yield _verdict(report)


def _facts(report: Report, recipe: Recipe, folder: str | None, short: Short) -> Iterator[RenderableType]:
    """Sets, labels and tokens, a table of each."""
    if report.findings:
        yield ""
    yield _sets(report)
    yield _about(report, short)
    if folder:
        yield Text(f"Files are in {folder}.")
    if recipe.tokenizer and not recipe.tokenizer.from_:
        yield Text("The tokenizer is yet to be trained, so words are counted.")
    if report.classes:
        yield from ("", _classes(report), _baseline(report))
    if report.vocabulary:
        yield from ("", _vocabulary(report))
    if report.epoch:
        yield Text(_epoch(report.epoch, report.sets[0].name, recipe.batch.tokens))


def _finding(finding: Finding, short: Short) -> Table:
    """A line for it, and one for each of the first places."""
    mark, style = MARKS[finding.severity]
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_row(Text(mark, style), Text(finding.says, "bold" if finding.severity == "error" else ""))
    if finding.places:
        table.add_row("", _places(finding, short))
    return table


def _places(finding: Finding, short: Short) -> Table:
    shown = [(_place(spot, short), spot.shows) for spot in finding.places[:SHOWN]]
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="cyan", min_width=max(len(place) for place, _ in shown))
    table.add_column(style="dim")
    for place, shows in shown:
        table.add_row(Text(place), Text(shows, overflow="ellipsis", no_wrap=True))
    if finding.count > SHOWN:
        table.add_row(Text(f"and {finding.count - SHOWN:,} more", "dim"))
    return table


def _place(spot: Spot, short: Short) -> str:
    return short(spot.place) if spot.beside is None else f"{short(spot.place)} = {short(spot.beside)}"


def _sets(report: Report) -> Table:
    """A row for each set: how much it holds, and how long its rows are."""
    table = _table("set", "rows", report.unit, "mean", "median", "99%", "longest")
    top = max(one.p99 for one in report.sets)
    table.add_column(f"0 to {top:,}", no_wrap=True)
    for one in report.sets:
        numbers = (
            f"{one.rows:,}",
            f"{one.length:,}",
            f"{one.mean:,.1f}",
            f"{one.median:,}",
            f"{one.p99:,}",
            f"{one.longest:,}",
        )
        table.add_row(one.name, *numbers, Text(_sketch(one.sketch), "green"))
    return table


def _about(report: Report, short: Short) -> Text:
    """Which rows are longest, and what texts are written in."""
    longest = ", ".join(f"{short(place)} ({length:,})" for place, length in report.longest[:SHOWN])
    parts = [f"Longest are {longest}."] if longest else []
    for side, kinds in report.mixture.items():
        names = [", ".join(map(_share, shares.items())) for shares in kinds.values()]
        parts += [f"{SIDES[side].capitalize()}: {'; '.join(names)}."] if names else []
    return Text("\n".join(parts))


def _share(one: tuple[str, float]) -> str:
    """A script or a language, and how much of a corpus is in it where that is not all."""
    name, share = one
    return name if share == 1 else f"{name} {max(0.1, floor(1000 * share) / 10)}%"


def _classes(report: Report) -> Table:
    """A row for each class: how often each set has it."""
    sets = [one.name for one in report.sets]
    totals = [max(1, sum(one.counts[number] for one in report.classes)) for number in range(len(sets))]
    table = _table("label", *sets)
    table.add_column("", no_wrap=True)
    for one in report.classes[:CLASSES]:
        shares = [count / total for count, total in zip(one.counts, totals, strict=True)]
        cells = [f"{count:,}  {share:6.1%}" for count, share in zip(one.counts, shares, strict=True)]
        table.add_row(Text(one.name), *cells, Text("━" * round(24 * shares[0]), "green"))
    if len(report.classes) > CLASSES:
        table.add_row(Text(f"and {len(report.classes) - CLASSES:,} more", "dim"))
    return table


def _baseline(report: Report) -> Text:
    """What the class that is commonest in the first set scores in the last."""
    one, last = report.classes[0], report.sets[-1]
    total = sum(other.counts[-1] for other in report.classes)
    return Text(f"Always saying {one.name!r} is right for {one.counts[-1] / max(1, total):.1%} of {last.name}.")


def _vocabulary(report: Report) -> Table:
    table = _table("side", "tokens", "unknown", "vocabulary", "ever used")
    for one in report.vocabulary:
        cells = f"{one.tokens:,}", f"{one.unknown:.2%}", f"{one.vocabulary:,}", f"{one.used:.1%}"
        table.add_row(SIDES[one.side], *cells)
    return table


def _epoch(one: EpochFacts, name: str, batch: int) -> str:
    """What it costs to read a set once."""
    batches = f"{one.batches:,} {plural(one.batches, 'batch', 'batches')} of {batch:,}"
    return f"Reading {name} once is {one.tokens:,} tokens in {batches}, {one.fill:.1%} full."


def _verdict(report: Report) -> Text:
    said = [(severity, report.count(severity)) for severity in MARKS if report.count(severity)]
    if not said:
        return Text("Nothing was found.", "bold green")
    parts: list[tuple[str, str]] = []
    for severity, count in said:
        parts += [(", " if parts else "", ""), (f"{count} {plural(count, severity)}", MARKS[severity][1])]
    return Text.assemble(*parts, ".")


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column(first, no_wrap=True)
    for one in others:
        table.add_column(one, justify="right", no_wrap=True)
    return table


def _sketch(counts: tuple[int, ...]) -> str:
    """Bars as high as the counts."""
    most = max(*counts, 1)
    return "".join(BARS[-(-count * (len(BARS) - 1) // most)] for count in counts)


def _folder(report: Report) -> str | None:
    """The folder that all files are in, if it is one other than the working directory."""
    folders = {str(Path(file).parent) for one in report.sets for file in one.files}
    return next(iter(folders - {"."}), None) if len(folders) == 1 else None


def _short(folder: str | None, place: str) -> str:
    """A place as it is called inside the folder."""
    return place.removeprefix(f"{folder}/") if folder else place
