"""How a document of benchmarks is read: as a table on a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.bar import Bar
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bough.bench.document import Document, Machine, Outcome, Row

OURS, PEER = "#a6da6c", "#8a9a94"
FASTER, SLOWER, WRONG = "#a6da6c", "#f0b35a", "bold #e0708a"
HEADINGS = ("Bough is", "least to most", "error", "cosine")
LEGEND = "Error is the largest difference, cosine the least likeness, of answers to those of bough in the first row."


class Figures(NamedTuple):
    """A row's numbers as text; what it does not have is empty."""

    speed: str
    ratio: str
    spread: str
    error: str
    cosine: str


def table(document: Document) -> RenderableType:
    """The document for a terminal of 80 columns or more."""
    about = [Text(line, style="dim") for line in described(document.machine)]
    return Group(*about, *(part for outcome in document.works for part in _work(outcome)))


def markdown(document: Document) -> str:
    """The document as Markdown, for a README."""
    lines = [f"- {line}" for line in described(document.machine)]
    for outcome in document.works:
        headings = ("", "", f"{outcome.unit} in a second", *HEADINGS)
        lines += ["", f"**{outcome.work}**: {outcome.says}", "", _line(headings), "|---|---|" + "---:|" * 5]
        lines += [_line((row.case, row.runner, *figures(row))) for row in outcome.rows]
        lines += ["", *(f"- {note}" for note in notes(outcome))]
    return "\n".join(lines) + "\n"


def described(machine: Machine) -> Iterator[str]:
    """Where it was measured, in a few lines."""
    limits = machine.limits
    gpu = f"{machine.device}; " if machine.device != machine.processor else ""
    yield f"{gpu}{machine.processor}, cores: {machine.cores}, threads: {machine.threads}"
    if machine.flags:
        yield ", ".join(machine.flags)
    yield f"seen at most: {limits.fp32:,.0f} GFLOP/s fp32, {limits.bf16:,.0f} bf16, {limits.memory:,.1f} GB/s"
    yield ", ".join(f"{one.package} {one.version}" for one in machine.versions)


def figures(row: Row) -> Figures:
    """A row's numbers as they are printed."""
    ratio, near = row.ratio, row.agreement
    return Figures(
        speed=f"{row.speed:,.0f}" if row.speed >= 100 else f"{row.speed:.3g}",
        ratio=f"{ratio.median:.2f}x" if ratio else "",
        spread=f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio else "",
        error=f"{near.error:.1e}" if near else "",
        cosine=f"{near.cosine:.5f}" if near else "",
    )


def notes(outcome: Outcome) -> Iterator[str]:
    """What a reader should know besides the numbers."""
    yield f"The median of {outcome.repeats} rounds in which the tools took turns. {LEGEND}"
    for runner, note in {row.runner: row.note for row in outcome.rows if row.note}.items():
        yield f"{runner}: {note}."
    for row in outcome.rows:
        if row.agreement and not row.agreement.same:
            yield f"{row.runner}, {row.case}: its answers are others, so that its speed says nothing."
    for one in outcome.missing:
        yield f"{one.package} is not installed, and was left out ({'; '.join(one.runners)})."


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _work(outcome: Outcome) -> Iterator[RenderableType]:
    yield Padding(Text.assemble((outcome.work, "bold"), f"  {outcome.says}"), (1, 0))
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim", expand=True)
    grid.add_column("", no_wrap=True)
    grid.add_column("", ratio=1, min_width=4)
    for heading in (f"{outcome.unit}/s", *HEADINGS):
        grid.add_column(heading, justify="right", no_wrap=True)
    fastest = max(row.speed for row in outcome.rows)
    for number, (case, rows) in enumerate(outcome.cases.items()):
        if number:
            grid.add_row()
        grid.add_row(Text(case, style="bold"))
        for row in rows:
            grid.add_row(*_cells(row, fastest))
    yield grid
    yield Padding(Text("\n".join(notes(outcome)), style="dim"), (1, 0, 0, 0))


def _cells(row: Row, fastest: float) -> Iterator[RenderableType]:
    shown, colour = figures(row), PEER if row.ratio else OURS
    yield Text(f"  {row.runner}", style="" if row.ratio else "bold")
    yield Bar(fastest, 0, row.speed, color=colour)
    yield Text(shown.speed, style=colour)
    yield Text(shown.ratio, style=f"bold {FASTER if row.ratio and row.ratio.median >= 1 else SLOWER}")
    yield Text(shown.spread, style="dim")
    agrees = row.agreement is None or row.agreement.same
    yield Text(shown.error, style="dim" if agrees else WRONG)
    yield Text(shown.cosine, style="dim" if agrees else WRONG)
