"""A document of benchmarks as a picture: bars for tools that do the same work, lines for what changes with length."""

from __future__ import annotations

import importlib
import importlib.util
import math
import statistics
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bough.bench.document import Curves, Document, Line, Outcome, Point
from bough.bench.show import described, figures
from bough.errors import BoughError

OURS, PEER, INK, GRID = "#4f8f2f", "#b9c4bf", "#3a4440", "#e4e9e6"
COLOURS, DASHES = ("#8a9a94", OURS, "#2f6f8f", "#b8702a", "#7a4f8f"), ("-", "--", ":")
"""Ways whose names begin alike share a colour."""
ROW, PANEL = 0.34, 3.1
"""The height of a bar and its gap, and that of lines, in inches."""
APART = 0.062
"""How far names beside lines keep from each other, in heights of a panel."""


class Panel(NamedTuple):
    """A figure over lengths; none where a point does not have it."""

    says: str
    value: Callable[[Point], float | None]
    beside: Callable[[Line], str]
    """What stands beside a line's end."""


def plot(document: Document, path: Path) -> None:
    """Draw the document into a file, of the kind that its name ends in."""
    required()
    # Not pyplot: a figure of its own leaves no state behind and asks for no display.
    figures_of = importlib.import_module("matplotlib.figure")
    heights = [_height(work) for work in document.works]
    page: Any = figures_of.Figure(figsize=(8, sum(heights) + 0.5), layout="constrained")
    areas = page.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    for area, work in zip(areas, document.works, strict=True):
        area.suptitle(textwrap.fill(f"{work.work}: {work.says}", 105), fontsize=8, color=INK, x=0.01, ha="left")
        if isinstance(work, Curves):
            for axes, panel in zip(area.subplots(1, 2), panels(work), strict=True):
                _draw_lines(axes, work, panel)
        else:
            _draw_bars(area.subplots(), work)
    page.supxlabel("\n".join(described(document.machine)), fontsize=7, color=INK)
    try:
        page.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise BoughError(f"{path}: the picture cannot be written ({error})") from None


def required() -> None:
    """An error where the library that draws is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise BoughError("a plot needs matplotlib; install it with: pip install 'bough[plots]'")


def panels(curves: Curves) -> Iterator[Panel]:
    """The two figures that say most of a work that is followed over lengths."""
    points = [point for line in curves.lines for point in line.points]
    if all(point.attention for point in points):
        yield Panel("seconds of attention, and the power they grow as", _attention, _with_power)
    else:
        yield Panel("tokens in a second", _speed, _name)
    if any(point.memory for point in points):
        yield Panel("MiB at the peak", _memory, _name)
    else:
        yield Panel(f"times as fast as {curves.lines[0].way}", _ratio, _name)


def _attention(point: Point) -> float:
    return statistics.median(point.attention)


def _speed(point: Point) -> float:
    return point.speed


def _memory(point: Point) -> float | None:
    return point.memory and point.memory / 2**20


def _ratio(point: Point) -> float | None:
    return point.ratio.median if point.ratio else None


def _height(work: Outcome | Curves) -> float:
    return PANEL if isinstance(work, Curves) else ROW * (len(work.rows) + len(work.cases)) + 0.9


def _name(line: Line) -> str:
    return line.way


def _with_power(line: Line) -> str:
    return f"{line.way}  {line.growth[0].power:.2f}" if line.growth else line.way


def _draw_lines(axes: Any, curves: Curves, panel: Panel) -> None:
    """One figure of all ways over lengths, both in logarithms; each way's name where its line ends."""
    styles = _styles([line.way for line in curves.lines])
    ends: dict[str, tuple[float, str]] = {}
    for line in curves.lines:
        found = [(point.length, panel.value(point)) for point in line.points]
        drawn = [(length, value) for length, value in found if value]
        if drawn:
            colour, dash = styles[line.way]
            axes.plot(*zip(*drawn, strict=True), dash, color=colour, lw=1.6, marker="o", ms=3)
            ends[panel.beside(line)] = drawn[-1][1], colour
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(_tick)
    axes.yaxis.set_minor_formatter("")
    low, high = map(math.log, axes.get_ylim())
    at = spread({text: (math.log(value) - low) / (high - low) for text, (value, _) in ends.items()}, APART)
    for text, height in at.items():
        axes.text(1.03, height, text, transform=axes.transAxes, fontsize=7, color=ends[text][1], va="center")
    axes.set_title(panel.says, fontsize=8, color=INK, loc="left")
    axes.set_xlabel(curves.along, fontsize=7, color=INK)
    axes.set_xticks(curves.lengths, [f"{length:,}" for length in curves.lengths], fontsize=7, color=INK)
    axes.tick_params(axis="both", which="both", length=0, labelsize=7, labelcolor=INK)
    axes.grid(color=GRID, lw=0.8)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)


def _tick(value: float, number: int) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def spread(heights: dict[str, float], apart: float) -> dict[str, float]:
    """The same heights, from 0 to 1, moved as little as keeps each so far from the next."""
    order = sorted(heights, key=lambda text: heights[text])
    # Those that crowd are laid out around their middle, with whoever they come to crowd.
    groups = [[heights[text]] for text in order]
    number = 1
    while number < len(groups):
        below, above = groups[number - 1], groups[number]
        if _bottom(above, apart) - _top(below, apart) < apart:
            groups[number - 1 : number + 1] = [below + above]
            number = max(number - 1, 1)
        else:
            number += 1
    laid = [_bottom(group, apart) + apart * n for group in groups for n in range(len(group))]
    return dict(zip(order, laid, strict=True))


def _bottom(group: list[float], apart: float) -> float:
    tall = apart * (len(group) - 1)
    return max(min(statistics.mean(group) - tall / 2, 1 - tall), 0)


def _top(group: list[float], apart: float) -> float:
    return _bottom(group, apart) + apart * (len(group) - 1)


def _styles(ways: list[str]) -> dict[str, tuple[str, str]]:
    """A colour for all names that are one up to the comma, and a dash for each of them."""
    kinds: dict[str, list[str]] = {}
    for way in ways:
        kinds.setdefault(way.partition(",")[0], []).append(way)
    return {
        way: (COLOURS[i % len(COLOURS)], DASHES[n % len(DASHES)])
        for i, names in enumerate(kinds.values())
        for n, way in enumerate(names)
    }


def _draw_bars(axes: Any, outcome: Outcome) -> None:
    """One work: its cases under each other, ours first in each."""
    fastest, at, names = max(row.speed for row in outcome.rows), 0.0, dict[float, str]()
    for case, rows in outcome.cases.items():
        for row in rows:
            shown = figures(row)
            axes.barh(at, row.speed, height=0.78, color=PEER if row.ratio else OURS)
            beside = (
                f"{shown.speed}   Bough is {shown.ratio} as fast" if row.ratio else f"{shown.speed} {outcome.unit}/s"
            )
            axes.text(row.speed + fastest / 100, at, beside, va="center", fontsize=8, color=INK)
            names[at] = f"{row.runner}  {case}"
            at += 1
        at += 0.6
    axes.set_yticks(list(names), list(names.values()), fontsize=8, color=INK)
    axes.set_xlim(0, fastest * 1.35)
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.xaxis.set_visible(False)
    for side in axes.spines.values():
        side.set_visible(False)
