"""How a document of benchmarks is read: as a table on a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rich.bar import Bar
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bough.bench.document import Curves, Document, Line, Machine, Outcome, Point, Row

OURS, PEER = "#a6da6c", "#8a9a94"
FASTER, SLOWER, WRONG = "#a6da6c", "#f0b35a", "bold #e0708a"
HEADINGS = ("Bough is", "least to most", "error", "cosine")
LEGEND = "Error is the largest difference, cosine the least likeness, of answers to those of bough in {}."


class Figures(NamedTuple):
    """A row's numbers as text; what it does not have is empty."""

    speed: str
    ratio: str
    spread: str
    error: str
    cosine: str


class Block(NamedTuple):
    """One figure of each way of a work that is followed over lengths: a row for each way, as text."""

    says: str
    headings: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]


def table(document: Document) -> RenderableType:
    """The document for a terminal of 80 columns or more."""
    about = [Text(line, style="dim") for line in described(document.machine)]
    return Group(*about, *(part for work in document.works for part in _work(work)))


def markdown(document: Document) -> str:
    """The document as Markdown, for a README."""
    lines = [f"- {line}" for line in described(document.machine)]
    for work in document.works:
        lines += ["", f"**{work.work}**: {work.says}"]
        lines += _lines_of_curves(work) if isinstance(work, Curves) else _lines_of_outcome(work)
        lines += ["", *(f"- {note}" for note in notes(work))]
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
        speed=_short(row.speed),
        ratio=f"{ratio.median:.2f}x" if ratio else "",
        spread=f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio else "",
        error=f"{near.error:.1e}" if near else "",
        cosine=f"{near.cosine:.5f}" if near else "",
    )


def blocks(curves: Curves) -> Iterator[Block]:
    """What was found, figure by figure."""
    first = curves.lines[0].way
    along = tuple(f"{length:,}" for length in curves.lengths)
    each: tuple[tuple[str, Callable[[Point], str]], ...] = (
        ("tokens in a second", lambda point: _short(point.speed)),
        (f"times as fast as {first}", lambda point: _short(point.ratio.median) if point.ratio else ""),
        ("KiB at the peak for each token", _memory),
    )
    for says, shown in each:
        every = {line.way: tuple(map(shown, line.points)) for line in curves.lines}
        rows = {way: cells for way, cells in every.items() if any(cells)}
        if rows:
            yield Block(f"{says}, by {curves.along}", along, rows)
    fits = [one for line in curves.lines for one in line.growth]
    for low, high in dict.fromkeys((one.low, one.high) for one in fits):
        names = tuple(dict.fromkeys(one.of for one in fits if one.low == low))
        rows = {line.way: _powers(line, low, names) for line in curves.lines}
        yield Block(f"grows as this power of the length, from {low:,} to {high:,}", names, rows)


def notes(work: Outcome | Curves) -> Iterator[str]:
    """What a reader should know besides the numbers."""
    yield from _notes_of_curves(work) if isinstance(work, Curves) else _notes_of_outcome(work)


def _notes_of_outcome(outcome: Outcome) -> Iterator[str]:
    alone = [row.agreement for row in outcome.rows].count(None) > 1
    legend = LEGEND.format("the same case" if alone else "the first row")
    yield f"The median of {outcome.repeats} rounds in which the tools took turns. {legend}"
    for runner, note in {row.runner: row.note for row in outcome.rows if row.note}.items():
        yield f"{runner}: {note}."
    for row in outcome.rows:
        if row.agreement and not row.agreement.same:
            yield f"{row.runner}, {row.case}: its answers are others, so that its speed says nothing."
    for one in outcome.missing:
        yield f"{one.package} is not installed, and was left out ({'; '.join(one.runners)})."


def _notes_of_curves(curves: Curves) -> Iterator[str]:
    yield f"The median of {curves.repeats} rounds in which the ways took turns."
    ratios = [point.ratio for line in curves.lines for point in line.points if point.ratio]
    if ratios and curves.repeats > 1:
        furthest = max(max(one.high / one.median, one.median / one.low) for one in ratios)
        yield f"No round's ratio is further than {furthest:.2f}x from the median one."
    if any(line.growth for line in curves.lines):
        yield "Powers are the slopes of straight lines through logarithms, by least squares."
    yield from curves.notes
    compared = {line.way: line.agreement for line in curves.lines if line.agreement}
    for way, near in compared.items():
        if not near.equal:
            yield f"{way}: its answers are others, by as much as {near.error:.1e}, so that its speed says nothing."
    if compared and all(near.equal for near in compared.values()):
        yield f"All answers are the same, but for {max(near.error for near in compared.values()):.1e} at most."


def _powers(line: Line, low: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """What was fitted from a length on, in the order of these names."""
    found = {one.of: f"{one.power:.2f}" for one in line.growth if one.low == low}
    return tuple(found.get(name, "") for name in names)


def _memory(point: Point) -> str:
    return "" if point.memory is None else _short(point.memory / point.length / 1024)


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _lines_of_outcome(outcome: Outcome) -> Iterator[str]:
    headings = ("", "", f"{outcome.unit} in a second", *HEADINGS)
    yield from ("", _line(headings), "|---|---|" + "---:|" * 5)
    yield from (_line((row.case, row.runner, *figures(row))) for row in outcome.rows)


def _lines_of_curves(curves: Curves) -> Iterator[str]:
    for block in blocks(curves):
        yield from ("", _line((block.says, *block.headings)), "|---|" + "---:|" * len(block.headings))
        yield from (_line((way, *cells)) for way, cells in block.rows.items())


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _work(work: Outcome | Curves) -> Iterator[RenderableType]:
    yield Padding(Text.assemble((work.work, "bold"), f"  {work.says}"), (1, 0))
    yield from _blocks(work) if isinstance(work, Curves) else _grid(work)
    yield Padding(Text("\n".join(notes(work)), style="dim"), (1, 0, 0, 0))


def _blocks(curves: Curves) -> Iterator[RenderableType]:
    for number, block in enumerate(blocks(curves)):
        yield Padding(Text(block.says, style="bold"), (int(number > 0), 0, 0, 0))
        grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
        grid.add_column("", no_wrap=True, min_width=max(len(line.way) for line in curves.lines) + 2)
        for heading in block.headings:
            grid.add_column(heading, justify="right", no_wrap=True, min_width=6)
        for way, cells in block.rows.items():
            grid.add_row(f"  {way}", *cells, style=PEER if way == curves.lines[0].way else OURS)
        yield grid


def _grid(outcome: Outcome) -> Iterator[RenderableType]:
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
