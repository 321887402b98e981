"""A document reads the same on a terminal, in Markdown and in a picture, and comes back from its JSON whole."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from bough import BoughError
from bough.bench import Document
from bough.bench.document import Agreement
from bough.bench.plot import plot, spread
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
FOLLOWED = """\
**grow**: one sequence

| tokens in a second, by tokens | 64 | 1,024 |
|---|---:|---:|
| full | 128 | 16 |
| near | 64 | 64 |

| times as fast as full, by tokens | 64 | 1,024 |
|---|---:|---:|
| near | 0.5 | 4 |

| KiB at the peak for each token, by tokens | 64 | 1,024 |
|---|---:|---:|
| full | 16 | 64 |
| near | 16 | 16 |

| grows as this power of the length, from 64 to 1,024 | attention | whole |
|---|---:|---:|
| full | 2.00 | 1.75 |
| near | 1.00 | 1.00 |

- The median of 2 rounds in which the ways took turns.
- No round's ratio is further than 1.25x from the median one.
- Powers are the slopes of straight lines through logarithms, by least squares.
- All of it is made up.

**recur**: words

| tokens in a second, by words of context | 64 | 1,024 |
|---|---:|---:|
| read again | 64 | 256 |
| memory | 128 | 1,024 |

| times as fast as read again, by words of context | 64 | 1,024 |
|---|---:|---:|
| memory | 2 | 4 |

- The median of 2 rounds in which the ways took turns.
- No round's ratio is further than 1.25x from the median one.
- All answers are the same, but for 2.0e-06 at most.
"""


def test_markdown_holds_every_figure(document: Document) -> None:
    assert markdown(document) == MARKDOWN


def test_markdown_has_a_table_for_each_figure_that_is_followed(followed: Document) -> None:
    assert markdown(followed).split("\n\n", 1)[1] == FOLLOWED


def test_the_table_holds_what_markdown_holds(followed: Document) -> None:
    screen = io.StringIO()
    Console(file=screen, width=80).print(table(followed))
    shown = [line.split() for line in screen.getvalue().splitlines()]
    rows = [line for line in FOLLOWED.splitlines() if line.startswith("| ")]
    for row in (row for row in rows if "," not in row.split("|")[1]):  # the others are headings
        assert row.replace("|", " ").split() in shown
    assert max(map(len, screen.getvalue().splitlines())) <= 80


def test_answers_that_are_others_are_told_by_their_way(followed: Document) -> None:
    recur = followed.works[1]
    again, memory = recur.lines
    other = recur.but(lines=(again, memory.but(agreement=Agreement(0.01, 0.9999))))
    said = markdown(followed.but(works=(other,)))
    assert "- memory: its answers are others, by as much as 1.0e-02, so that its speed says nothing." in said
    assert "All answers are the same" not in said


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


def test_a_picture_is_drawn_of_the_kind_that_its_name_says(
    document: Document, followed: Document, tmp_path: Path
) -> None:
    document = document.but(works=(*document.works, *followed.works))
    plot(document, tmp_path / "bench.svg")
    drawn = (tmp_path / "bench.svg").read_text()
    assert drawn.startswith("<?xml")
    plot(document, tmp_path / "bench.png")
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_an_unknown_kind_is_refused(document: Document, tmp_path: Path) -> None:
    with pytest.raises(BoughError, match=r"bench\.xyz: the picture cannot be written"):
        plot(document, tmp_path / "bench.xyz")


@pytest.mark.parametrize(
    ("heights", "laid"),
    [
        ({"a": 0.2, "b": 0.8}, {"a": 0.2, "b": 0.8}),
        ({"b": 0.5, "a": 0.5}, {"b": 0.45, "a": 0.55}),
        ({"a": 0.5, "b": 0.51, "c": 0.52, "d": 0.65}, {"a": 0.395, "b": 0.495, "c": 0.595, "d": 0.695}),
        ({"a": 1.0, "b": 0.99, "c": 0.0}, {"a": 1.0, "b": 0.9, "c": 0.0}),
    ],
)
def test_names_beside_lines_keep_apart_and_within(heights: dict[str, float], laid: dict[str, float]) -> None:
    found = spread(heights, 0.1)
    assert found == pytest.approx(laid)


def test_a_document_comes_back_from_its_json(document: Document, followed: Document) -> None:
    for one in (document, followed):
        assert Document.from_json(one.to_json()) == one


def test_lines_over_other_lengths_are_refused(followed: Document) -> None:
    curves = followed.works[0]
    first, second = curves.lines
    with pytest.raises(BoughError, match=r"^lines\[1\]\.points: must be at the lengths of the first line"):
        curves.but(lines=(first, second.but(points=second.points[:1])))
    with pytest.raises(BoughError, match=r"^lines: there must be at least one"):
        curves.but(lines=())
    with pytest.raises(BoughError, match=r"^points: there must be at least one"):
        second.but(points=())


def test_a_document_without_results_is_refused(document: Document) -> None:
    with pytest.raises(BoughError, match=r"^works: there must be at least one"):
        document.but(works=())
    with pytest.raises(BoughError, match=r"^rows: there must be at least one"):
        document.works[0].but(rows=())
