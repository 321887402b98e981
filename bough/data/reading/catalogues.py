"""From gettext's catalogues, `.po` and `.mo`, to pairs: what a programmer wrote, and what a translator made of it.

Left out are the header, and what is not translated, obsolete or fuzzy. Of an entry with a plural, the singular goes
with the first form and the plural with each other one; where a language has one form alone, the plural goes with that.
The header says the charset, which is UTF-8 where it says none. A context is kept as the column `context`.
"""

from __future__ import annotations

import codecs
import io
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bough.data.reading.formats import unfit
from bough.data.reading.lines import LONGEST, TOO_LONG, Line, lines
from bough.data.reading.rows import Fault, Place, Row
from bough.errors import ArtefactError, BoughError

CHARSET = re.compile(rb"Content-Type:[^\"\n]*?charset=([\w.:-]+)", re.IGNORECASE)
CHARSETS = re.compile(r"utf-8|ascii|iso8859-\d+|koi8-\w|cp\d+|gb\w+|big5|euc_\w+|shift_jis|johab|tis-620")
"""Those that gettext knows, as Python calls them; others could make much of little."""
STATEMENT = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?|)[ \t]*"((?:[^"\\]+|\\.)*+)"')
ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", '"': '"'}
ORDERS = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}
"""How a `.mo` file starts, by the order of bytes in its numbers."""
LARGEST = 2**24
"""Bytes of a `.mo` file; it is read as a whole."""


def written(stream: io.BufferedReader, file: str) -> Iterator[Row | Fault]:
    """The pairs of a `.po` file."""
    said = CHARSET.search(stream.peek())
    for entry in _entries(lines(stream, file, _charset(said, file))):
        if entry.fault:
            yield entry.fault
        elif not entry.fuzzy:
            strings = {name: "".join(parts) for name, parts in entry.strings.items()}
            ids = [strings[name] for name in ("msgid", "msgid_plural") if name in strings]
            forms = [strings[name] for name in sorted(strings) if name.startswith("msgstr")]
            yield from _pairs(entry.place, strings.get("msgctxt"), ids, forms)


def compiled(stream: io.BufferedReader, file: str) -> Iterator[Row | Fault]:
    """The pairs of a `.mo` file; a row of it is the number of an entry."""
    content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BoughError(f"{file}: refused, because no catalogue has more than {LARGEST >> 20} MiB")
    entries = list(_tables(content, file))
    charset = _charset(next((CHARSET.search(forms) for key, forms in entries if not key), None), file)
    for number, (key, forms) in enumerate(entries, 1):
        place = Place(file, number)
        try:
            context, between, ids = key.decode(charset).rpartition("\x04")
            yield from _pairs(place, context if between else None, ids.split("\0"), forms.decode(charset).split("\0"))
        except UnicodeDecodeError as error:
            yield Fault(place, f"not {charset} ({error.reason})")


def _pairs(place: Place, context: str | None, ids: Sequence[str], forms: Sequence[str]) -> Iterator[Row | Fault]:
    """The pairs of an entry."""
    first, last = ids[0], ids[-1]
    sources = [last] if len(forms) == 1 else [first, *[last] * (len(forms) - 1)]
    beside = {} if context is None else {"context": context}
    for source, target in zip(sources, forms, strict=True):
        if source and target:
            values = {"source": source, "target": target, **beside}
            problem = unfit(values)
            yield Fault(place, problem) if problem else Row(place, values)


def _charset(said: re.Match[bytes] | None, file: str) -> str:
    """The charset that a header says, as Python calls it."""
    name = said[1].decode("ascii", "replace") if said else "CHARSET"
    if name == "CHARSET":  # as a template has it
        return "utf-8"
    try:
        found = codecs.lookup(name).name
    except LookupError:
        found = ""
    if not CHARSETS.fullmatch(found):
        raise BoughError(
            f"{file}: its header says charset={name}, which gettext does not know; convert it with msgconv"
        )
    return found


@dataclass(slots=True)
class _Entry:
    """An entry of a `.po` file, as far as it was read."""

    place: Place
    fuzzy: bool
    strings: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    last: str = ""
    size: int = 0
    fault: Fault | None = None
    told: bool = False

    @property
    def translated(self) -> bool:
        return any(name.startswith("msgstr") for name in self.strings)

    def ends(self, text: str, keyword: str) -> bool:
        """Whether a line is of another entry."""
        if text.startswith("#"):
            return self.translated
        started = not self.strings or "msgid" in self.strings or keyword in self.strings
        return started and keyword in ("msgctxt", "msgid")

    def end(self) -> Iterator[_Entry]:
        """The entry as it is when nothing more of it comes."""
        if not self.translated:
            self.fault = self.fault or Fault(self.place, "an entry without a msgstr")
        if not self.told:
            yield self

    def add(self, line: Line, found: re.Match[str] | None) -> Iterator[_Entry]:
        """Take in a keyword and a string, or a string that continues the last one; the entry, when it turns out bad."""
        self._take(line, found)
        if self.fault and not self.told:
            # At once: what it belongs to may have no end.
            self.told = True
            yield self

    def _take(self, line: Line, found: re.Match[str] | None) -> None:
        self.size += len(line.text)
        problem = line.fault or (TOO_LONG if self.size > LONGEST else self._misplaced(found))
        if found and found[1]:
            self.last = found[1]
            self.strings[self.last] = []
        if found and not problem:
            try:
                self.strings[self.last].append(ESCAPE.sub(_letter, found[2]))
            except KeyError as error:
                problem = f"there is no escape \\{error.args[0]}"
        if problem:
            self.fault = self.fault or Fault(line.place, problem)

    def _misplaced(self, found: re.Match[str] | None) -> str | None:
        if not found:
            return "neither a comment, nor a keyword with a string in quotes, nor such a string"
        if not found[1]:
            return None if self.last else "a string without a keyword"
        if found[1] in self.strings:
            return f"{found[1]} stands twice in one entry"
        return None if found[1] in ("msgctxt", "msgid") or "msgid" in self.strings else f"{found[1]} without a msgid"


def _letter(escape: re.Match[str]) -> str:
    """The letter that an escape stands for."""
    said = escape[1]
    if said[0] in "01234567":
        return chr(int(said, 8))
    return chr(int(said[1:], 16)) if said[0] == "x" and len(said) > 1 else LETTERS[said]


def _entries(found: Iterable[Line]) -> Iterator[_Entry]:
    """The entries of a `.po` file, but for obsolete ones."""
    entry, fuzzy = None, False
    for line in found:
        text = line.text.strip()
        statement = STATEMENT.fullmatch(text)
        if entry and entry.ends(text, statement[1] if statement else ""):
            yield from entry.end()
            entry, fuzzy = None, False
        if text.startswith("#"):
            # A comment may hold anything, such as a name in another charset.
            flags = [flag.strip() for flag in text[2:].split(",")] if text.startswith("#,") else []
            fuzzy = not text.startswith("#~") and (fuzzy or "fuzzy" in flags)
        elif text or line.fault:
            entry = entry or _Entry(line.place, fuzzy)
            yield from entry.add(line, statement)
    if entry:
        yield from entry.end()


def _tables(content: bytes, file: str) -> Iterator[tuple[bytes, bytes]]:
    """Keys and forms of a `.mo` file, as its two tables have them."""
    order = ORDERS.get(content[:4])
    if order is None:
        raise ArtefactError(f"{file}: is no .mo file; make it again with msgfmt")
    try:
        _, count, *starts = struct.unpack_from(f"{order}4I", content, 4)
        keys, forms = (struct.unpack_from(f"{order}{2 * count}I", content, start) for start in starts)
    except (struct.error, OverflowError):
        raise ArtefactError(f"{file}: is cut short; make it again with msgfmt") from None
    if any(at + length > len(content) for table in (keys, forms) for length, at in _twos(table)):
        raise ArtefactError(f"{file}: is cut short; make it again with msgfmt")
    # Strings that lie on each other could come to far more than the file.
    if sum(keys[::2]) + sum(forms[::2]) > len(content):
        raise ArtefactError(f"{file}: its strings are longer than the file; make it again with msgfmt")
    for (key_length, key), (form_length, form) in zip(_twos(keys), _twos(forms), strict=True):
        yield content[key : key + key_length], content[form : form + form_length]


def _twos(table: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(table[::2], table[1::2], strict=True)
