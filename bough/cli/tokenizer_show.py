"""`bough tokenizer show`: the pieces of texts drawn, what several vocabularies do to a corpus, or what one is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from bough.cli import terminal
from bough.cli.options import ColumnNames, Format, Json, Per, SkipBad
from bough.cli.texts import given
from bough.cli.tokenizer_page import about, comparison, facts, pieces, roles, summary
from bough.cli.tokenizer_train import source_of

if TYPE_CHECKING:
    from bough.data.reading.source import Source
    from bough.text.learning.measure import Measure
    from bough.text.tokenizer import Tokenizer

WORDS = "Words are what stands between white space. Special tokens around texts are not counted."
READ = ("ids", "tokens", "offsets", "words", "special")


def show(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="TOKENIZER... TEXT...",
            help="Tokenizers, then texts; - reads these from stdin.",
            show_default=False,
        ),
    ],
    file: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="DATA", help="Measure on this corpus; may be said again.", show_default=False),
    ] = None,
    format: Format = None,  # noqa: A002  # the option is called so
    columns: ColumnNames = None,
    per: Per = None,
    skip_bad: SkipBad = False,
    json: Json = False,
) -> None:
    """Draw the pieces of texts, or measure side by side what tokenizers do to a corpus.

    Under each piece are its id and its place: a piece at 3:7 is text[3:7]. Without texts, what a tokenizer is is told.
    """
    from bough.text.reading.read import open_tokenizer

    count = len(names) if file else 1 + _leading(names[1:])
    readers = {name: open_tokenizer(name) for name in names[:count]}
    if file:
        with terminal.working(f"reading {', '.join(file)}"):
            found, skipped = _measured(source_of(file, format, columns, per, skip_bad), readers)
        _compare(found, skipped, json)
    elif names[count:]:
        with given(names[count:], None) as texts:
            for text in texts.lines:
                _draw(text, readers, json)
    elif json:
        terminal.document([_facts(name, reader) for name, reader in readers.items()])
    else:
        terminal.show(*(part for name, reader in readers.items() for part in facts(name, reader)))


def _measured(source: Source, readers: Mapping[str, Tokenizer]) -> tuple[dict[str, Measure], int]:
    """What each does to the texts, and how many rows of them were left out."""
    from bough.data.reading.rows import Tally
    from bough.text.learning.measure import measure

    tally = Tally()
    found = measure(source.texts(tally), list(readers.values()))
    return dict(zip(readers, found, strict=True)), tally.skipped


def _compare(found: Mapping[str, Measure], skipped: int, json: bool) -> None:
    if json:
        terminal.document([{"tokenizer": name, "skipped": skipped, **one.plain()} for name, one in found.items()])
        return
    table = comparison(dict(zip(_short(list(found)), found.values(), strict=True)))
    said = about(next(iter(found.values()))) + (f"; {skipped:,} bad rows were left out" if skipped else "")
    terminal.show(said, "", table, "", Text(WORDS, "dim"))


def _draw(text: str, readers: Mapping[str, Tokenizer], json: bool) -> None:
    width = terminal.results().width
    for short, (name, reader) in zip(_short(list(readers)), readers.items(), strict=True):
        encoding = reader.encode(text)
        if json:
            read = {column: getattr(encoding, column) for column in READ}
            terminal.line(dumps({"tokenizer": name, "text": text, **read}, ensure_ascii=False))
        else:
            terminal.show(summary(short, encoding, reader), *pieces(text, encoding, reader, width), "")


def _facts(name: str, reader: Tokenizer) -> dict[str, Any]:
    special = {role: {"token": token, "id": number} for role, (token, number) in roles(reader).items()}
    return {"tokenizer": name, "size": len(reader), "special": special, "fingerprint": reader.fingerprint}


def _short(names: Sequence[str]) -> list[str]:
    """The last parts of paths, where those differ."""
    last = [Path(name).resolve().name for name in names]
    return last if len(set(last)) == len(last) else list(names)


def _leading(names: Sequence[str]) -> int:
    """How many of these are tokenizers, before there comes a text."""
    return next((number for number, name in enumerate(names) if not _holds(name)), len(names))


def _holds(name: str) -> bool:
    """Whether that is the path of a tokenizer."""
    from bough.files.folder import BESIDE, Folder

    folder = Folder(Path(name))
    return name.endswith(".json") or any(folder.has(one) for one in BESIDE)
