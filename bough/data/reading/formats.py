"""From lines to rows as each format of text has them, under the names that the file itself uses.

jsonl   an object a line; blank lines are none.
csv     RFC 4180: commas, quotes doubled inside quotes, line ends inside them kept as they are; blank lines are none.
tsv     fields between tabs, as they stand; a quotation mark is a letter like any other; blank lines are none.
txt     a text a line, blank ones too; or documents, with blank lines between them, their lines joined by a newline.

A record of csv that is not well formed costs its first line alone, and reading goes on with the line behind it.
"""

from __future__ import annotations

import io
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from bough.data.reading.lines import LONGEST, TOO_LONG, Line
from bough.data.reading.rows import Fault, Place, Row
from bough.record import brief

ENDS = "\r\n"
SURROGATE = re.compile("[\ud800-\udfff]")
KEPT = 256
"""Bytes that a line takes beside its text while it is held."""
UNCLOSED = "a quote that opens in this row is not closed"
BEHIND = "a closing quote is followed by neither a comma nor the end of the row"


@dataclass(frozen=True, slots=True)
class Fields:
    """A record of a table: its fields in order."""

    place: Place
    fields: list[str]


def text_lines(lines: Iterable[Line]) -> Iterator[Row | Fault]:
    """A row for each line."""
    for line in lines:
        yield Fault(line.place, line.fault) if line.fault else Row(line.place, {"text": line.text.rstrip(ENDS)})


def documents(lines: Iterable[Line]) -> Iterator[Row | Fault]:
    """A row for each stretch of lines between blank ones."""
    held, start, bad = io.StringIO(), None, False
    for line in lines:
        if not line.fault and not line.text.strip():
            if start and not bad:
                yield Row(start, {"text": held.getvalue()})
            held, start, bad = io.StringIO(), None, False
            continue
        start = start or line.place
        if not bad and (line.fault or held.tell() + len(line.text) > LONGEST):
            # At once: what it belongs to may have no end.
            yield Fault(line.place, line.fault) if line.fault else Fault(start, TOO_LONG)
            held, bad = io.StringIO(), True
        if not bad:
            held.write(("\n" if held.tell() else "") + line.text.rstrip(ENDS))
    if start and not bad:
        yield Row(start, {"text": held.getvalue()})


def objects(lines: Iterable[Line]) -> Iterator[Row | Fault]:
    """A row for each line that holds a JSON object."""
    for line in lines:
        if line.fault:
            yield Fault(line.place, line.fault)
        elif line.text.strip():
            yield _object(line)


def _object(line: Line) -> Row | Fault:
    try:
        found = json.loads(line.text)
    except json.JSONDecodeError as error:
        return Fault(line.place, f"not JSON ({error.msg.removesuffix(' at')} at column {error.colno})")
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; brackets in brackets without end
        return Fault(line.place, f"not JSON ({error})")
    if not isinstance(found, dict):
        return Fault(line.place, f"must be a JSON object, not {brief(found)}")
    values = cast("dict[str, Any]", found)
    # Only an escape can name what the line itself cannot hold.
    problem = unfit(values) if "\\u" in line.text else None
    return Fault(line.place, problem) if problem else Row(line.place, values)


def unfit(values: Any) -> str | None:
    """What is wrong with the texts inside a value: a NUL, or half of a letter (a lone surrogate)."""
    rest = [values]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            pairs = cast("dict[Any, Any]", value)
            rest += [*pairs, *pairs.values()]
        elif isinstance(value, list):
            rest += cast("list[Any]", value)
        elif isinstance(value, str) and "\0" in value:
            return f"holds a NUL, in {brief(value)}"
        elif isinstance(value, str) and SURROGATE.search(value):
            return f"holds a lone surrogate, in {brief(value)}"
    return None


def tabbed(lines: Iterable[Line]) -> Iterator[Fields | Fault]:
    """The records of tsv."""
    for line in lines:
        if line.fault:
            yield Fault(line.place, line.fault)
        elif line.text.strip():
            yield Fields(line.place, line.text.rstrip(ENDS).split("\t"))


def quoted(lines: Iterable[Line]) -> Iterator[Fields | Fault]:
    """The records of csv."""
    source = _Taken(lines)
    while (first := source.take()) is not None:
        start = source.held[0]
        if first.strip() or start.fault:
            found = _record(first, source.take) if '"' in first else first.rstrip(ENDS).split(",")
            if isinstance(found, str):
                source.give_back()
                yield Fault(start.place, start.fault or found)
            else:
                faults = [Fault(line.place, line.fault) for line in source.held if line.fault]
                yield faults[0] if faults else Fields(start.place, found)
        source.keep()


class _Taken:
    """Lines taken one after the other, which can be given back but for the first."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.rest = iter(lines)
        self.again: deque[Line] = deque()
        self.held: list[Line] = []
        self.size = 0

    def take(self) -> str | None:
        """The next line; none behind the last, or where a record would become too long."""
        if self.size > LONGEST:
            return None
        line = self.again.popleft() if self.again else next(self.rest, None)
        if line is None:
            return None
        self.held.append(line)
        self.size += len(line.text) + KEPT
        return None if line.fault == TOO_LONG and len(self.held) > 1 else line.text

    def keep(self) -> None:
        """Those held are done with."""
        self.held, self.size = [], 0

    def give_back(self) -> None:
        """Those behind the first will be taken again."""
        self.again.extendleft(reversed(self.held[1:]))


def _record(text: str, more: Callable[[], str | None]) -> list[str] | str:
    """The fields of a record that starts with this line, or what is wrong with it."""
    fields: list[str] = []
    at = 0
    while True:
        if text.startswith('"', at):
            field = _in_quotes(text, at + 1, more)
            if field is None:
                return UNCLOSED
            value, text, at = field
        else:
            comma = text.find(",", at)
            end = len(text.rstrip(ENDS)) if comma < 0 else comma
            value, at = text[at:end], end
        fields.append(value)
        if not text.startswith(",", at):
            return BEHIND if text[at:].strip(ENDS) else fields
        at += 1


def _in_quotes(text: str, at: int, more: Callable[[], str | None]) -> tuple[str, str, int] | None:
    """A field behind its opening quote; with it the line it ends in, and where."""
    parts: list[str] = []
    while True:
        quote = text.find('"', at)
        if quote < 0:
            parts.append(text[at:])
            following = more()
            if following is None:
                return None
            text, at = following, 0
        elif text.startswith('""', quote):
            parts.append(text[at : quote + 1])
            at = quote + 2
        else:
            parts.append(text[at:quote])
            return "".join(parts), text, quote + 1
