"""A document reads the same on a terminal, in Markdown and in a picture, and comes back from its JSON whole."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from bough import BoughError
from bough.bench import Document
from bough.bench.plot import plot
from bough.bench.show import markdown, table

MARKDOWN = """\
- A processor, cores: 2, threads: 1
- avx2, amx_bf16
- seen at most: 123 GFLOP/s fp32, 1,234 bf16, 13.2 GB/s
- torch 2.13

**encode**: hidden states of a few

|  |  | tokens in a second | Bough is | least to most | error | cosine |
|---|---|---:|---:|---:|---:|---:|
| fp32 | bough | 1,200 |  |  |  |  |
| fp32 | peer | 300 | 4.00x | 3.50 to 4.25 | 2.0e-06 | 1.00000 |
| bf16 | bough | 2,400 |  |  | 1.0e-02 | 0.99980 |
| bf16 | peer | 3,000 | 0.80x | 0.79 to 0.81 | 3.0e+00 | 0.10000 |

- The median of 2 rounds in which the tools took turns. \
Error is the largest difference, cosine the least likeness, of answers to those of bough in the first row.
- peer: padded.
- peer, bf16: its answers are others, so that its speed says nothing.
- other is not installed, and was left out (other, fast).
"""


def test_markdown_holds_every_figure(document: Document) -> None:
    assert markdown(document) == MARKDOWN


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_fits_the_terminal_and_cuts_no_figure(document: Document, width: int) -> None:
    screen = io.StringIO()
    Console(file=screen, width=width).print(table(document))
    lines = screen.getvalue().splitlines()
    assert max(len(line) for line in lines) <= width
    assert any(line.strip() == "tokens/s Bough is least to most   error  cosine" for line in lines)
    peers = [line.replace("█", " ").split() for line in lines if line.startswith("  peer")]
    assert [one[0:1] + one[-7:] for one in peers] == [
        ["peer", "300", "4.00x", "3.50", "to", "4.25", "2.0e-06", "1.00000"],
        ["peer", "3,000", "0.80x", "0.79", "to", "0.81", "3.0e+00", "0.10000"],
    ]
    assert "…" not in screen.getvalue()


def test_a_picture_is_drawn_of_the_kind_that_its_name_says(document: Document, tmp_path: Path) -> None:
    plot(document, tmp_path / "bench.svg")
    drawn = (tmp_path / "bench.svg").read_text()
    assert drawn.startswith("<?xml")
    plot(document, tmp_path / "bench.png")
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_an_unknown_kind_is_refused(document: Document, tmp_path: Path) -> None:
    with pytest.raises(BoughError, match=r"bench\.xyz: the picture cannot be written"):
        plot(document, tmp_path / "bench.xyz")


def test_a_document_comes_back_from_its_json(document: Document) -> None:
    assert Document.from_json(document.to_json()) == document


def test_a_document_without_results_is_refused(document: Document) -> None:
    with pytest.raises(BoughError, match=r"^works: there must be at least one"):
        document.but(works=())
    with pytest.raises(BoughError, match=r"^rows: there must be at least one"):
        document.works[0].but(rows=())
