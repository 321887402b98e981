"""Rows on their way into a store: texts as tokens, labels as numbers, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bough.data.reading.labels import Labels
from bough.data.reading.rows import Row, Tally
from bough.data.reading.source import Source
from bough.data.storing.store import Writer
from bough.errors import BoughError, FieldError
from bough.record import Record
from bough.text import Limit, Tokenizer

ROWS, LETTERS = 2**10, 2**20
"""At most so many rows are tokenised at once, and few more letters than so many."""
COLUMNS = {
    "text": ("ids", "starts"),
    "source": ("ids", "starts"),
    "text_pair": ("ids_pair", "starts_pair"),
    "target": ("target", "starts_target"),
}
"""Where the tokens of each part of a row are stored, and where their words start."""


@dataclass(frozen=True)
class Preparation(Record):
    """What is stored of the rows of a source."""

    labels: Labels | None = None
    """How rows are labelled; without, no label is stored."""
    limit: Limit | None = None
    """By what texts are cut before they are stored. Windows need it: each is stored as a row of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels and self.limit and self.labels.kind == "words":
            raise FieldError("limit", "would part words from their labels; leave it out, and cut what is in a batch")


class Body(NamedTuple):
    """A text as tokens, none of them special."""

    ids: Sequence[int]
    starts: Sequence[int]
    """1 where a word starts."""

    def kept(self, spans: Iterable[range]) -> Body:
        """Some of its tokens."""
        numbers = [number for span in spans for number in span]
        return Body([self.ids[number] for number in numbers], [self.starts[number] for number in numbers])


Bodies = Mapping[str, Body]
"""The texts of a row, by part."""


def tokenise(source: Source, tokenizer: Tokenizer, what: Preparation, writer: Writer) -> None:
    """Write every row of a source, and how many were read and skipped."""
    tally = Tally()
    rows = source.rows(tally, need=("label",) if what.labels else ())
    # Lines of plain text are of documents, with blank lines between them; any other row stands alone.
    lines = source.per == "line" and {file.format for file in source.files()} == {"txt"}
    for number, (row, document, bodies) in enumerate(_tokenised(_divided(rows) if lines else _alone(rows), tokenizer)):
        labels, plain = _labelled(row, what.labels)
        plain |= {} if document is None else {"document": document}
        plain |= {"row": number} if what.limit and what.limit.policy == "window" else {}
        for window in _cut(row, bodies, tokenizer, what.limit):
            texts = {
                name: tokens for part, body in window.items() for name, tokens in zip(COLUMNS[part], body, strict=True)
            }
            writer.add(texts | labels, plain)
    writer.about |= {"rows": tally.rows, "skipped": tally.skipped, "complaints": tally.complaints}
    if not writer.count:
        raise BoughError(f"{', '.join(source.paths)}: holds no text; name a file that has some")


def _alone(rows: Iterable[Row]) -> Iterator[tuple[Row, None]]:
    return ((row, None) for row in rows)


def _divided(rows: Iterable[Row]) -> Iterator[tuple[Row, int]]:
    """The rows that are not blank, each with the number of its document."""
    document, last, ended = 0, "", False
    for row in rows:
        if not row.values["text"].strip():
            ended = True
            continue
        if last and (ended or row.place.file != last):
            document += 1
        last, ended = row.place.file, False
        yield row, document


def _tokenised(
    rows: Iterable[tuple[Row, int | None]], tokenizer: Tokenizer
) -> Iterator[tuple[Row, int | None, Bodies]]:
    """Each row with its texts as tokens; all have the same texts as the first."""
    parts: list[str] = []
    for batch in _batches(rows):
        for row, _ in batch:
            found = [part for part in COLUMNS if part in row.values]
            parts = parts or found
            if found != parts:
                raise BoughError(
                    f"{row.place}: has {' and '.join(found)} where rows before it have {' and '.join(parts)}; "
                    "give all rows the same texts"
                )
        columns = {part: _bodies(tokenizer, part, [row.values[part] for row, _ in batch]) for part in parts}
        for number, (row, document) in enumerate(batch):
            yield row, document, {part: column[number] for part, column in columns.items()}


def _batches(rows: Iterable[tuple[Row, int | None]]) -> Iterator[list[tuple[Row, int | None]]]:
    """Rows in order, as many together as are tokenised at once."""
    batch: list[tuple[Row, int | None]] = []
    letters = 0
    for row, document in rows:
        batch.append((row, document))
        letters += sum(len(row.values[part]) for part in COLUMNS if part in row.values)
        if len(batch) >= ROWS or letters >= LETTERS:
            yield batch
            batch, letters = [], 0
    if batch:
        yield batch


def _bodies(tokenizer: Tokenizer, part: str, texts: Sequence[str]) -> list[Body]:
    """Texts as tokens, in the vocabulary that they are read or written in."""
    found = (tokenizer.target if part == "target" else tokenizer).encode_all(texts)
    return [_body(one.ids, one.words, one.special) for one in found]


def _body(ids: Sequence[int], words: Sequence[int | None], special: Sequence[bool]) -> Body:
    kept = [number for number, around in enumerate(special) if not around]
    starts = [int(not place or words[number] != words[kept[place - 1]]) for place, number in enumerate(kept)]
    return Body([ids[number] for number in kept], starts)


def _labelled(row: Row, labels: Labels | None) -> tuple[dict[str, Sequence[int]], dict[str, int | float]]:
    """A row's labels where there may be several, and where it has one."""
    if labels is None:
        return {}, {}
    match labels.kind:
        case "several" | "words":
            return {"labels": labels.numbers(row)}, {}
        case "one":
            return {}, {"label": labels.number(row)}
        case "value":
            return {}, {"label": labels.value(row)}


def _cut(row: Row, bodies: Bodies, tokenizer: Tokenizer, limit: Limit | None) -> list[Bodies]:
    """What a limit makes of the texts that are read of a row."""
    if limit is None:
        return [bodies]
    if limit.policy == "window" and "target" in bodies:
        raise BoughError(
            "limit: what is written of a text is written of all of it, so that it cannot be read in windows; "
            "let the policy be error, truncate or head-tail"
        )
    read = [part for part in bodies if part != "target"]
    lengths = tuple(len(bodies[part].ids) for part in read)
    special = tokenizer.template(len(read) > 1).length
    room = limit.room(special, len(read))
    if sum(lengths) <= room:
        return [bodies]
    if limit.policy == "error":
        raise BoughError(
            f"{row.place}: takes {sum(lengths) + special:,} tokens, special ones included, and the limit is "
            f"{limit.length:,}; shorten it, or let the policy be truncate, head-tail or window"
        )
    return [
        {**bodies, **{part: bodies[part].kept(spans) for part, spans in zip(read, window, strict=True)}}
        for window in limit.kept(lengths, room, str(row.place))
    ]
