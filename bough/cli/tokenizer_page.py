"""How tokenizers look on a terminal: pieces as chips over their ids and places, figures side by side, and facts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from bough.text.encoding import Encoding
    from bough.text.learning.measure import Measure
    from bough.text.learning.train import Trained
    from bough.text.tokenizer import Tokenizer

WORDS = ("#e8f1ee on #2c6e63", "#efeaf7 on #5d4a8c")
"""Words in turns, so that the pieces of one are seen to belong together."""
UNKNOWN, SPECIAL, BELOW = "bold #ffffff on #b23a48", "dim", "dim"
GOOD, BAD = "#a6da6c", "#f0b35a"
MARKS = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "⏎", "\x7f": "␡"}
ALONE = "◌"
"""What a letter sits on that sits on others."""


class Chip(NamedTuple):
    """A piece, and what stands below it."""

    piece: str
    number: str
    place: str
    style: str

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return max(map(cell_len, (self.piece, self.number, self.place)))


def visible(text: str) -> str:
    """Letters so that each is seen: blanks and controls by a mark, others that show nothing by their number."""
    shown = "".join(map(_mark, text))
    return ALONE + shown if text and unicodedata.combining(text[0]) else shown


def _mark(letter: str) -> str:
    if letter in MARKS:
        return MARKS[letter]
    if letter < " ":
        return chr(0x2400 + ord(letter))
    unseen = unicodedata.category(letter)[0] in "CZ"
    return f"{{{ord(letter):X}}}" if unseen else letter


def pieces(text: str, encoding: Encoding, reader: Tokenizer, width: int) -> Iterator[Text]:
    """The pieces of a text in lines of a terminal's width, each over its id and its place."""
    row: list[Chip] = []
    for chip in _chips(text, encoding, reader, width):
        if row and sum(one.width + 1 for one in row) + chip.width > width:
            yield from (*_lines(row), Text())
            row = []
        row.append(chip)
    yield from _lines(row)


def _chips(text: str, encoding: Encoding, reader: Tokenizer, width: int) -> Iterator[Chip]:
    from bough.text.learning.alphabet import BYTE_OF, from_bytes

    spelled = from_bytes if reader.vocabulary.keys() >= BYTE_OF.keys() else str
    columns = (encoding.ids, encoding.tokens, encoding.offsets, encoding.words, encoding.special)
    for number, token, (start, end), word, special in zip(*columns, strict=True):
        piece, said, style = visible(spelled(token)), str(number), WORDS[(word or 0) % 2]
        if special:
            style = SPECIAL
        elif number == reader.specials.unk:
            piece, said, style = visible(text[start:end]) or token, f"{number} {reader.token(number)}", UNKNOWN
        if cell_len(piece) > width:
            piece = set_cell_size(piece, width - 1) + "…"
        yield Chip(piece, said, "" if special else f"{start}:{end}", style)


def _lines(row: Sequence[Chip]) -> Iterator[Text]:
    """Chips side by side, and what stands below them."""
    if not row:
        return
    above = Text()
    for chip in row:
        above.append(chip.piece, chip.style).append(" " * (chip.width + 1 - cell_len(chip.piece)))
    yield above
    for below in ([chip.number for chip in row], [chip.place for chip in row]):
        spaced = (set_cell_size(one, chip.width) for one, chip in zip(below, row, strict=True))
        yield Text(" ".join(spaced).rstrip(), BELOW)


def summary(name: str, encoding: Encoding, reader: Tokenizer) -> Text:
    """How many pieces there are, in a line."""
    around = sum(encoding.special)
    unknown = sum(
        number == reader.specials.unk and not special
        for number, special in zip(encoding.ids, encoding.special, strict=True)
    )
    said = [_counted(len(encoding) - around, "piece")]
    said += [f"{around} special around them"] if around else []
    line = Text.assemble((name, "bold"), ("  " + ", ".join(said), "dim"))
    return line.append(", ", "dim").append(f"{unknown} unknown", BAD) if unknown else line


def comparison(found: Mapping[str, Measure]) -> Table:
    """What vocabularies do to one corpus, a column for each."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_header=len(found) > 1)
    table.add_column("", no_wrap=True)
    for name in found:
        table.add_column(name, justify="right", overflow="fold")
    for said, cells in FIGURES.items():
        table.add_row(Text(said, "dim"), *(cells(one) for one in found.values()))
    return table


def about(found: Measure) -> str:
    """How large the corpus is."""
    return f"{_counted(found.texts, 'text')}, {_counted(found.words, 'word')}, {_counted(found.bytes, 'byte')}"


def learnt(
    made: Trained, kind: str, family: str | None, seconds: float, does: Measure, notes: Sequence[str], out: Path | None
) -> Iterator[RenderableType]:
    """What was learnt, from what, and what it does to some of the texts."""
    written = f"{out}: {', '.join(made.files)}" if out else "nothing was written; --out DIR keeps it"
    special = f" with the special tokens of {family}" if family else ""
    rows = [
        ("learnt", f"{len(made.tokenizer):,} tokens of kind {kind}{special}, in {seconds:.1f} s"),
        ("from", f"{_counted(made.texts, 'text')} with {_counted(made.words, 'different word')}"),
        *(("note", Text(note, BAD)) for note in notes),
        ("written to" if out else "", written),
    ]
    table = Table.grid(padding=(0, 2))
    for said, value in rows:
        table.add_row(Text(said, "dim"), value)
    yield from (table, "", f"What it does to a sample, {about(does)}:", "")
    yield comparison({"": does})


def facts(name: str, reader: Tokenizer) -> Iterator[RenderableType]:
    """What a tokenizer is: how large, its special tokens, and what it puts around texts."""
    table = Table.grid(padding=(0, 2))
    rows = {
        "tokens": f"{len(reader):,}",
        "special": ", ".join(f"{role} {token} = {number:,}" for role, (token, number) in roles(reader).items())
        or "none",
        "one text": _around(reader, pair=False),
        "two texts": _around(reader, pair=True),
        "fingerprint": reader.fingerprint[:16],
    }
    for said, value in rows.items():
        table.add_row(Text(said, "dim"), Text(value))
    yield from (Text(name, "bold"), table, "")


def roles(reader: Tokenizer) -> dict[str, tuple[str, int]]:
    """The special token of each role that has one, and its id."""
    numbers = {role: number for role, number in vars(reader.specials).items() if number is not None}
    return {role: (reader.token(number), number) for role, number in numbers.items()}


def _around(reader: Tokenizer, pair: bool) -> str:
    """What stands around texts, in tokens."""
    around = [" ".join(map(reader.token, ids)) for ids in reader.template(pair).around]
    texts = ("A", "B") if pair else ("A",)
    parts = [part for both in zip(around, (*texts, ""), strict=True) for part in both]
    return " ".join(filter(None, parts))


def _share(part: float) -> Text:
    """A share that had better be none, in percent."""
    return (
        Text("none", GOOD) if not part else Text(f"{100 * part:.2g} %" if part < 0.0995 else f"{100 * part:.1f} %", BAD)
    )


FIGURES: dict[str, Callable[[Measure], str | Text]] = {
    "tokens in the vocabulary": lambda one: f"{one.vocabulary:,}",
    "of these used": lambda one: f"{100 * one.used:.1f} %",
    "pieces in a word": lambda one: f"{one.pieces_per_word:.2f}",
    "bytes in a piece": lambda one: f"{one.bytes_per_piece:.2f}",
    "pieces in all": lambda one: f"{one.pieces:,}",
    "pieces of the longest text": lambda one: f"{one.longest:,}",
    "unknown pieces": lambda one: _share(one.pieces_unknown),
    "words with such": lambda one: _share(one.words_unknown),
}


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
