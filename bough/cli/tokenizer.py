"""`bough tokenizer`: train one, turn texts to ids and back, and see what one does to a text or a corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bough.cli import terminal
from bough.cli.options import Json
from bough.cli.texts import Given, batches, given
from bough.cli.tokenizer_page import visible
from bough.cli.tokenizer_show import show
from bough.cli.tokenizer_train import train
from bough.errors import BoughError
from bough.record import brief

if TYPE_CHECKING:
    from bough.text.encoding import Encoding
    from bough.text.limits import Limit
    from bough.text.tokenizer import Tokenizer

Where = Annotated[
    str,
    typer.Argument(
        metavar="TOKENIZER", help="A model's folder, a tokenizer's, or a tokenizer.json.", show_default=False
    ),
]
File = Annotated[Path | None, typer.Option("--file", help="Read one from each line of this file; - is stdin.")]
Row = tuple[str, ...]
"""A text, or two."""

tokenizer = typer.Typer(help="Train tokenizers, use them, and see what they do to a text or a corpus.")
tokenizer.command()(train)
tokenizer.command()(show)


@tokenizer.command()
def encode(
    where: Where,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT...", help="The texts; - reads them from stdin.", show_default=False),
    ] = None,
    file: File = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Texts are pairs: two by two, or with a tab between them on a line.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(help="At most so many tokens, special ones included.", show_default=False)
    ] = None,
    policy: Annotated[
        Literal["error", "truncate", "head-tail", "window"],
        typer.Option(help="What becomes of a longer text: error, truncate, head-tail or window.", metavar="HOW"),
    ] = "truncate",
    stride: Annotated[int, typer.Option(help="How many tokens of its text a window shares with the one before.")] = 0,
    tokens: Annotated[bool, typer.Option("--tokens", help="Print tokens in place of ids.")] = False,
    json: Json = False,
) -> None:
    """Print the ids of each text, a line each, in the order given; with windows, a line for each of these."""
    from bough.text.limits import Limit
    from bough.text.reading.read import open_tokenizer

    if limit is None and (policy, stride) != ("truncate", 0):
        raise BoughError("--policy and --stride say how --limit is kept; give that too")
    bound = None if limit is None else Limit(limit, policy, stride)
    with given(texts or [], file) as source:
        reader, done = open_tokenizer(where), 0
        for some in _rows(source, pairs):
            for row, windows in zip(some, _encoded(reader, some, bound, source, done), strict=True):
                for number, one in enumerate(windows):
                    terminal.line(_json(row, one, number) if json else _plain(one, tokens))
            done += len(some)


@tokenizer.command()
def decode(
    where: Where,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", help="Those of a text; - reads a line of them for each.", show_default=False),
    ] = None,
    file: File = None,
    keep_special: Annotated[bool, typer.Option("--keep-special", help="Print special tokens too.")] = False,
    json: Json = False,
) -> None:
    """Print the text that ids stand for; of a file or stdin, that of each line."""
    from bough.text.reading.read import open_tokenizer

    with given([" ".join(ids)] if ids else [], file, "ids", "those of a text") as source:
        reader = open_tokenizer(where)
        for number, line in enumerate(source.lines, start=1):
            numbers = _numbers(line, reader, source.place(number))
            text = reader.decode(numbers, keep_special)
            terminal.line(dumps({"ids": numbers, "text": text}, ensure_ascii=False) if json else text)


def _rows(source: Given, pairs: bool) -> Iterator[list[Row]]:
    """Texts or pairs, as many at a time as may be held together."""
    if not pairs:
        yield from ([(text,) for text in some] for some in batches(source.lines))
    elif source.where:
        done = 0
        for some in batches(source.lines):
            yield [_pair(line, source.place(done + number)) for number, line in enumerate(some, start=1)]
            done += len(some)
    else:
        texts = list(source.lines)
        if len(texts) % 2:
            raise BoughError(f"--pairs: there are {len(texts)} texts, which makes no pairs; give two for each")
        yield list(zip(texts[::2], texts[1::2], strict=True))


def _pair(line: str, place: str) -> Row:
    texts = tuple(line.split("\t"))
    if len(texts) != 2:
        raise BoughError(f"{place}has {len(texts) - 1} tabs, and a pair has one between its texts")
    return texts


def _encoded(
    reader: Tokenizer, rows: Sequence[Row], bound: Limit | None, source: Given, done: int
) -> Iterator[Sequence[Encoding]]:
    """The windows of each row, of which there are several with that policy alone."""
    firsts = [row[0] for row in rows]
    seconds = [row[1] for row in rows] if len(rows[0]) > 1 else None
    if bound and bound.policy != "error":
        yield from reader.windows(firsts, bound, seconds)
        return
    for number, one in enumerate(reader.encode_all(firsts, None, seconds), start=done + 1):
        if bound and len(one) > bound.length:
            raise BoughError(
                f"{source.place(number) or f'text {number}: '}has {len(one):,} tokens, special ones included, and the "
                f"limit is {bound.length:,}; shorten it, or let --policy be truncate, head-tail or window"
            )
        yield [one]


def _plain(one: Encoding, tokens: bool) -> str:
    return " ".join(map(visible, one.tokens) if tokens else map(str, one.ids))


def _json(row: Row, one: Encoding, window: int) -> str:
    names = ("ids", "tokens", "offsets", "segments", "words", "special", "cut")
    texts = dict(zip(("text", "pair"), row, strict=False))
    return dumps({**texts, "window": window, **{name: getattr(one, name) for name in names}}, ensure_ascii=False)


def _numbers(line: str, reader: Tokenizer, place: str) -> list[int]:
    """The ids on a line, with spaces or commas between them."""
    numbers: list[int] = []
    for word in re.findall(r"[^\s,\[\]]+", line):
        if not re.fullmatch(r"\d{1,20}", word, re.ASCII):
            raise BoughError(f"{place}{brief(word)} is no id, which is a whole number from 0 to {reader.rows - 1:,}")
        if int(word) >= reader.rows:
            raise BoughError(
                f"{place}id {int(word):,} is not in the vocabulary, whose ids are 0 to {reader.rows - 1:,}"
            )
        numbers.append(int(word))
    return numbers
