"""How the demo looks on a terminal: heat cells for sentences, a row of dots for each layer a word passes through."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.color import Color, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.style import Style
from rich.table import Table
from rich.text import Text

from bough.cli.demo import Encoder, Layer, Pair, Report, Sentences, Word

COLD, WARM = ColorTriplet(27, 38, 44), ColorTriplet(163, 214, 105)
"""The two ends of the heat."""
INK, CHALK = "#10180c", "#a9b8b0"
"""What is written on warm cells, and on cold ones."""
SENSES = ("yellow", "cyan")
SAME, OTHER = "green", "magenta"
"""Pairs of one sense or meaning, and of two."""
LEAST = 0.6
"""Where the scale of a word's cosines begins: the states of one layer all lean the same way, and never come near 0."""
AXIS = 37
"""Columns of that scale."""
BAR = 30


def page(report: Report) -> RenderableType:
    """The whole demo, fit for 80 columns."""
    return Group(
        *_encoder(report.encoder, report.seconds),
        *_sentences(report.sentences, report.seconds["sentences"]),
        *_word(report.word, report.seconds["word"]),
        *_next(report.encoder),
    )


def _encoder(encoder: Encoder, seconds: dict[str, float]) -> Iterator[RenderableType]:
    steps = {"torch": "importing torch", "fetch": "fetching by pip", "check": "checking it", "load": "reading it"}
    took = {said: seconds[step] for step, said in steps.items() if step in seconds}
    yield _title("A pretrained encoder", sum(took.values()))
    size = f"{encoder.layers} layers, width {encoder.width}, {encoder.heads} heads"
    yield _said(f"{encoder.title}, {size}, {encoder.parameters / 1e6:.1f} million parameters.")
    how = "Fetched by pip" if "fetch" in seconds else "Found in the cache"
    yield _said(f"{how}, every file as it was published: [bold]{_home(encoder.folder)}[/]")
    each = ", ".join(f"{said} {time:.2f} s" for said, time in took.items())
    yield _said(f"[dim]{each.capitalize()}.[/]")


def _sentences(sentences: Sentences, seconds: float) -> Iterator[RenderableType]:
    yield _title("Which sentences are near which", seconds)
    yield _said("Each sentence becomes one vector; a cell is the cosine of two, in hundredths.")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="dim", width=2)
    grid.add_column(no_wrap=True, overflow="ellipsis", max_width=38)
    grid.add_column(no_wrap=True)
    numbers = [str(i) for i in range(1, len(sentences.texts) + 1)]
    grid.add_row("", "", Text("".join(f"{n:>3}" for n in numbers), style="dim"))
    for i, (text, row) in enumerate(zip(sentences.texts, sentences.cosines, strict=True)):
        grid.add_row(numbers[i], text, _cells(row, 0.0, own=i))
    yield Padding(grid, (1, 0, 1, 1), expand=False)
    yield _said(f"[{SAME}]━[/] one meaning in other words, [{OTHER}]╍[/] one word in other meanings:")
    pairs = Table.grid(padding=(0, 2))
    for pair in sentences.pairs:
        shared = ", ".join(pair.shared_words) or "none"
        pairs.add_row(f"{pair.first + 1:>2} · {pair.second + 1}", _bar(pair), f"[dim]words in common: {shared}[/]")
    yield Padding(pairs, (1, 0, 0, 2), expand=False)


def _word(word: Word, seconds: float) -> Iterator[RenderableType]:
    yield _title(f'One word, layer by layer: "{word.word}"', seconds)
    names = list(dict.fromkeys(word.senses))
    colours = dict(zip(names, SENSES, strict=True))
    texts = Table.grid(padding=(0, 2))
    for number, (text, sense) in enumerate(zip(word.texts, word.senses, strict=True), 1):
        shown = Text(text)
        shown.highlight_words([word.word], f"bold underline {colours[sense]}")
        texts.add_row(f"[dim]{number}[/]", Text(sense, style=colours[sense]), shown)
    yield Padding(texts, (0, 0, 1, 2), expand=False)
    yield _said(f'A dot is the cosine of two of the six states of "{word.word}" behind a layer:')
    yield _said(f"[{SAME}]●[/] of one sense, [{OTHER}]○[/] of two senses, ◐ some of each.")
    yield Padding(_drift(word), (1, 0, 1, 1), expand=False)
    yield _said("The same cosines in hundredths; each sense grows into a block of its own:")
    yield Padding(_maps(word, colours), (1, 0, 1, 2), expand=False)
    first, last = word.layers[0], word.layers[-1]
    yield _said(
        f"It starts as one vector and a place in the sentence: pairs of one sense have {_mean(first.same_sense):.2f} "
        f"on average, pairs of two {_mean(first.other_sense):.2f}. Context then pulls the senses apart: "
        f"{_mean(last.same_sense):.2f} and {_mean(last.other_sense):.2f} behind the last layer."
    )


def _next(encoder: Encoder) -> Iterator[RenderableType]:
    yield _title("Next")
    where = _home(encoder.folder)
    lines = Table.grid(padding=(0, 2))
    for command, does in (
        ("bough families", "the tree, and every size in it"),
        (f"bough verify {where}", "prove its numbers right"),
        (f"bough embed {where} 'any text'", "its vector"),
    ):
        lines.add_row(f"[bold]{command}[/]", f"[dim]{does}[/]")
    yield Padding(lines, (0, 0, 1, 2), expand=False)


def _drift(word: Word) -> Table:
    """A row for each layer; the farther to the right a dot, the nearer two states."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column(no_wrap=True)
    table.add_row("", Text(f"{LEAST}".ljust(AXIS - 1) + "1", style="dim"), "[dim]nearest is of its sense[/]")
    count = len(word.senses)
    for number, layer in enumerate(word.layers):
        right = layer.nearest_has_same_sense
        hits = f"[{SAME}]{'■' * right}[/][dim]{'□' * (count - right)}[/] {right} of {count}"
        table.add_row(_layer(number), _dots(layer), hits)
    return table


def _dots(layer: Layer) -> Text:
    """The cosines of one layer on the scale from the least to 1."""
    same, other = ({_column(cosine) for cosine in group} for group in (layer.same_sense, layer.other_sense))
    row = Text()
    for column in range(AXIS):
        if column in same and column in other:
            row.append("◐")
        elif column in same:
            row.append("●", SAME)
        elif column in other:
            row.append("○", OTHER)
        else:
            row.append("·", "dim")
    return row


def _column(cosine: float) -> int:
    return round(_part(cosine, LEAST) * (AXIS - 1))


def _layer(number: int) -> str:
    return f"layer {number}" if number else "embedding"


def _maps(word: Word, colours: Mapping[str, str]) -> Table:
    """Heat cells of every state with every other, in the embedding, half way and at the end."""
    last = len(word.layers) - 1
    table = Table.grid(padding=(0, 2))
    chosen = (0, last // 2, last)
    table.add_row("", *(f"[dim]{_layer(n)}[/]" for n in chosen))
    for row, sense in enumerate(word.senses):
        cells = (_cells(word.layers[n].cosines[row], LEAST, own=row) for n in chosen)
        table.add_row(Text(f"{row + 1}", style=colours[sense]), *cells)
    return table


def _cells(cosines: Sequence[float], least: float, own: int) -> Text:
    """A row of heat cells; the one of a thing beside itself says nothing, and stays blank."""
    row = Text()
    for column, cosine in enumerate(cosines):
        part = _part(cosine, least)
        ground = Color.from_triplet(blend_rgb(COLD, WARM, part))
        number = "" if column == own else str(round(100 * cosine))
        row.append(f"{number:>3}", Style(color=INK if part > 0.45 else CHALK, bgcolor=ground))
    return row


def _bar(pair: Pair) -> Text:
    mark, colour = ("━", SAME) if pair.kind == "meaning" else ("╍", OTHER)
    return Text(mark * round(BAR * _part(pair.cosine, 0.0)), style=colour) + Text(f" {pair.cosine:.2f}")


def _part(cosine: float, least: float) -> float:
    """How far a cosine lies from the least one to 1."""
    return min(1.0, max(0.0, (cosine - least) / (1 - least)))


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _title(words: str, seconds: float | None = None) -> RenderableType:
    line = Table.grid(expand=True, padding=(0, 1))
    line.add_column(no_wrap=True)
    line.add_column(ratio=1)
    took = [] if seconds is None else [f"[dim]{seconds:.2f} s[/]"]
    line.add_row(f"[bold {SAME}]{words}[/]", Rule(style="dim"), *took)
    return Group("", line, "")


def _said(words: str) -> RenderableType:
    return Padding(words, (0, 0, 0, 2), expand=False)


def _home(folder: str) -> str:
    """A path as one types it in a shell, with nothing in it that would be taken for markup."""
    path = Path(folder)
    if path.is_relative_to(Path.home()) and shlex.quote(folder) == folder:
        return escape(f"~/{path.relative_to(Path.home())}")
    return escape(shlex.quote(folder))
