"""A document of benchmarks as a picture: a bar for each tool, and how many times as fast Bough is beside the peers'."""

from __future__ import annotations

import importlib
import importlib.util
import textwrap
from pathlib import Path
from typing import Any

from bough.bench.document import Document, Outcome
from bough.bench.show import described, figures
from bough.errors import BoughError

OURS, PEER, INK = "#4f8f2f", "#b9c4bf", "#3a4440"
ROW = 0.34
"""The height of a bar and its gap, in inches."""


def plot(document: Document, path: Path) -> None:
    """Draw the document into a file, of the kind that its name ends in."""
    required()
    # Not pyplot: a figure of its own leaves no state behind and asks for no display.
    figures_of = importlib.import_module("matplotlib.figure")
    heights = [len(outcome.rows) + len(outcome.cases) for outcome in document.works]
    page: Any = figures_of.Figure(figsize=(8, ROW * sum(heights) + 0.9 * len(heights) + 0.5), layout="constrained")
    areas = page.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, outcome in zip(areas, document.works, strict=True):
        _draw(axes, outcome)
    page.supxlabel("\n".join(described(document.machine)), fontsize=7, color=INK)
    try:
        page.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise BoughError(f"{path}: the picture cannot be written ({error})") from None


def required() -> None:
    """An error where the library that draws is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise BoughError("a plot needs matplotlib; install it with: pip install 'bough[plots]'")


def _draw(axes: Any, outcome: Outcome) -> None:
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
    axes.set_title(textwrap.fill(f"{outcome.work}: {outcome.says}", 80), fontsize=8, color=INK, loc="left")
