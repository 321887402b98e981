"""A machine with small limits, and documents such as a run leaves behind."""

from __future__ import annotations

import pytest

from bough.bench.document import (
    Agreement,
    Curves,
    Document,
    Growth,
    Limits,
    Line,
    Machine,
    Missing,
    Outcome,
    Point,
    Ratio,
    Row,
    Version,
)


@pytest.fixture
def document() -> Document:
    """Two cases, a peer that is slower, one that is faster, one that did other work, and one that is missing."""
    machine = Machine(
        "A processor",
        "A processor",
        2,
        1,
        ("avx2", "amx_bf16"),
        Limits(123.4, 1234.5, 13.25),
        (Version("torch", "2.13"),),
    )
    rows = (
        Row("fp32", "bough", (1.0, 2.0), 1200.0, None, None, ""),
        Row("fp32", "peer", (3.0, 4.0), 300.0, Ratio(4.0, 3.5, 4.25), Agreement(2e-6, 0.999999), "padded"),
        Row("bf16", "bough", (0.5, 0.5), 2400.0, None, Agreement(1e-2, 0.9998), ""),
        Row("bf16", "peer", (0.4, 0.4), 3000.0, Ratio(0.8, 0.79, 0.81), Agreement(3.0, 0.1), "padded"),
    )
    outcome = Outcome(
        "encode", "hidden states of a few", "tokens", 1800, 2, rows, (Missing("other", ("other, fast",)),)
    )
    return Document("0.1.0", machine, (outcome,))


@pytest.fixture
def followed(document: Document) -> Document:
    """A run of two works over two lengths: one with all there can be, one whose answers are others in one way."""

    def point(length: int, seconds: float, ratio: float | None, memory: int | None = None) -> Point:
        times = (seconds, seconds), (seconds / 2,) * 2 if memory else ()
        around = Ratio(ratio, ratio / 1.25, ratio * 1.1) if ratio else None
        return Point(length, length, *times, length**2 if memory else None, memory, around)

    def growth(*powers: float) -> tuple[Growth, ...]:
        return tuple(Growth(of, 64, 1024, one) for of, one in zip(("attention", "whole"), powers, strict=True))

    masks = (
        Line("full", (point(64, 0.5, None, 2**20), point(1024, 64.0, None, 2**26)), growth(2.0, 1.75), None),
        Line("near", (point(64, 1.0, 0.5, 2**20), point(1024, 16.0, 4.0, 2**24)), growth(1.0, 1.0), None),
    )
    ways = (
        Line("read again", (point(64, 1.0, None), point(1024, 4.0, None)), (), Agreement(0.0, 1.0)),
        Line("memory", (point(64, 0.5, 2.0), point(1024, 1.0, 4.0)), (), Agreement(2e-6, 0.999999)),
    )
    grow = Curves("grow", "one sequence", "tokens", 2, masks, ("All of it is made up.",))
    return document.but(works=(grow, Curves("recur", "words", "words of context", 2, ways, ())))
