"""A machine with small limits, and a document such as a run leaves behind."""

from __future__ import annotations

import pytest

from bough.bench.document import Agreement, Document, Limits, Machine, Missing, Outcome, Ratio, Row, Version


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
