"""gettext's catalogues as pairs: what its manual says of them is what is read, and no more than is translated."""

from __future__ import annotations

import gettext
import io
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from catalogue import compiled

from bough.data.reading.rows import Tally
from bough.data.reading.source import Source
from bough.errors import ArtefactError, BoughError

HEADER = r"""msgid ""
msgstr ""
"Language: es\n"
"Content-Type: text/plain; charset={charset}\n"
"Plural-Forms: {plural}\n"

"""
PLURAL = "nplurals=2; plural=(n != 1);"

CATALOGUE = r"""# A comment, with a name in another charset: Jos\xe9
#. of the programmer's
#: main.c:12
#, c-format
msgid "open %s"
msgstr "abrir %s"

#, c-format, fuzzy
#| msgid "shut %s"
msgid "close %s"
msgstr "cerrar %s"

msgid "save"
msgstr ""

msgid ""
"two "
"lines\n"
msgstr "dos "
"líneas\n"

msgctxt "menu"
msgid "file"
msgstr "archivo"
msgctxt "tool"
msgid "file"
msgstr "lima"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d archivo"
msgstr[1] "%d archivos"

msgid "tab\t\"quote\" \\ \101\x42"
msgstr "tab\t«quote» \\ AB"

#~ msgid "old"
#~ msgstr "viejo"

#, fuzzy
#~ msgid "older"
#~ msgstr "más viejo"

	msgid	"last"
  msgstr "último"
"""
PAIRS = [
    (11, "open %s", "abrir %s", None),
    (22, "two lines\n", "dos líneas\n", None),
    (28, "file", "archivo", "menu"),
    (31, "file", "lima", "tool"),
    (35, "%d file", "%d archivo", None),
    (35, "%d files", "%d archivos", None),
    (40, 'tab\t"quote" \\ AB', "tab\t«quote» \\ AB", None),
    (50, "last", "último", None),
]


def catalogue(content: str = CATALOGUE, charset: str = "UTF-8", plural: str = PLURAL) -> bytes:
    return (HEADER.format(charset=charset, plural=plural) + content).encode(
        "utf-8" if charset == "CHARSET" else charset
    )


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[tuple[Any, ...]]]:
    """Write a catalogue and read it: line, source, target and context of each pair."""

    def pairs(content: bytes, name: str = "es.po", **settings: Any) -> list[tuple[Any, ...]]:
        path = tmp_path / name
        path.write_bytes(content)
        rows = list(Source((str(path),), **settings).rows())
        assert all(row.values.keys() <= {"source", "target", "context"} for row in rows)
        return [(row.place.row, *(row.values.get(name) for name in ("source", "target", "context"))) for row in rows]

    return pairs


Read = Callable[..., list[tuple[Any, ...]]]


def test_what_is_translated_is_read_and_nothing_else(read: Read) -> None:
    assert read(catalogue()) == PAIRS


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_other_systems_change_nothing(read: Read, end: str) -> None:
    assert read(catalogue().replace(b"\n", end.encode())) == PAIRS


@pytest.mark.parametrize("charset", ["ISO-8859-1", "iso-8859-15", "CP1252", "utf8", "CHARSET", "Windows-1252"])
def test_the_charset_is_the_headers(read: Read, charset: str) -> None:
    assert read(catalogue(charset=charset)) == PAIRS


def test_letters_whose_second_byte_is_a_backslash_are_letters(read: Read) -> None:
    for charset in ("SHIFT_JIS", "GBK", "BIG5"):
        word = {"SHIFT_JIS": "表示", "GBK": "昞", "BIG5": "功能"}[charset]
        assert b"\\" in word.encode(charset)
        content = f'msgid "show"\nmsgstr "{word}"\n'
        assert [pair[2] for pair in read(catalogue(content, charset))] == [word]


def test_without_a_header_a_catalogue_is_utf_8(read: Read) -> None:
    assert read('msgid "one"\nmsgstr "één"\n'.encode()) == [(1, "one", "één", None)]


@pytest.mark.parametrize("charset", ["utf-16", "idna", "unicode_escape", "rot13", "klingon"])
def test_a_charset_that_gettext_does_not_know_is_told(read: Read, charset: str, tmp_path: Path) -> None:
    with pytest.raises(BoughError) as error:
        read(HEADER.format(charset=charset, plural=PLURAL).encode())
    assert str(error.value) == (
        f"{tmp_path}/es.po: its header says charset={charset}, which gettext does not know; convert it with msgconv"
    )


PLURALS = 'msgid "%d file"\nmsgid_plural "%d files"\n'


@pytest.mark.parametrize(
    ("forms", "pairs"),
    [
        (["%d 個"], [("%d files", "%d 個")]),
        (["a", "b"], [("%d file", "a"), ("%d files", "b")]),
        (["a", "b", "c"], [("%d file", "a"), ("%d files", "b"), ("%d files", "c")]),
        (["a", "", "c"], [("%d file", "a"), ("%d files", "c")]),
        (["", ""], []),
    ],
)
def test_the_singular_goes_with_the_first_form_and_the_plural_with_the_others(
    read: Read, forms: list[str], pairs: list[tuple[str, str]]
) -> None:
    entry = PLURALS + "".join(f'msgstr[{i}] "{form}"\n' for i, form in enumerate(forms))
    last = 'msgid "x"\nmsgstr "y"\n'
    assert [pair[1:3] for pair in read(catalogue(entry + last))][:-1] == pairs


BAD = {
    'msgid "a"\nmsgstr "b\n': (9, "neither a comment, nor a keyword with a string in quotes, nor such a string"),
    'msgid "a"\nmsgstr "b" c\n': (9, "neither a comment, nor a keyword with a string in quotes, nor such a string"),
    "text\n": (8, "neither a comment, nor a keyword with a string in quotes, nor such a string"),
    'msgid "a"\nmsgstr "b"\nmsgstr "c"\n': (10, "msgstr stands twice in one entry"),
    'msgstr "b"\n': (8, "msgstr without a msgid"),
    '"b"\n': (8, "a string without a keyword"),
    'msgid "a"\n': (8, "an entry without a msgstr"),
    'msgctxt "a"\n\nmsgid "b"\n': (8, "an entry without a msgstr"),
    'msgid "a"\nmsgstr "\\q"\n': (9, "there is no escape \\\\q"),
    'msgid "a"\nmsgstr "\\0"\n': (8, "holds a NUL, in '\\\\x00'"),
    'msgid "a"\nmsgstr "\0"\n': (9, "holds a NUL, at byte 9"),
}


@pytest.mark.parametrize("entry", BAD)
def test_a_bad_entry_is_told_by_line_or_skipped_and_counted(read: Read, tmp_path: Path, entry: str) -> None:
    line, said = BAD[entry]
    content = catalogue("# first\n" + entry + '# next\nmsgid "good"\nmsgstr "bueno"\n')
    with pytest.raises(BoughError) as error:
        read(content)
    place = f"{tmp_path}/es.po:{line}: "
    assert str(error.value) == f"{place}{said}; mend the row, or skip bad ones".replace("\\\\", "\\")
    tally = Tally()
    rows = list(Source((f"{tmp_path}/es.po",), skip_bad=True).rows(tally))
    assert [row.values["source"] for row in rows] == ["good"]
    assert (tally.skipped, tally.complaints) == (1, [f"{place}{said}".replace("\\\\", "\\")])


def test_bytes_that_are_not_of_the_charset_are_told(read: Read, tmp_path: Path) -> None:
    content = catalogue('msgid "a"\nmsgstr "X"\n').replace(b"X", b"\xff")
    with pytest.raises(BoughError, match=r"es\.po:8: not UTF-8"):
        read(content)
    assert read(catalogue('# X\nmsgid "a"\nmsgstr "b"\n').replace(b"X", b"\xff")) == [(8, "a", "b", None)]


MO = {
    "": "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n",
    "%d file\0%d files": "%d archivo\0%d archivos",
    "menu\x04file": "archivo",
    "open": "abrir",
    "two\nlines": "dos\nlíneas",
}
MO_PAIRS = [
    (2, "%d file", "%d archivo", None),
    (2, "%d files", "%d archivos", None),
    (3, "file", "archivo", "menu"),
    (4, "open", "abrir", None),
    (5, "two\nlines", "dos\nlíneas", None),
]


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_compiled_catalogue_has_its_pairs_in_either_order_of_bytes(read: Read, order: str) -> None:
    assert read(compiled(MO, order), "es.mo") == MO_PAIRS


def test_pythons_own_reader_finds_the_same_in_a_compiled_catalogue() -> None:
    theirs = gettext.GNUTranslations(io.BytesIO(compiled(MO)))
    for _, source, target, context in MO_PAIRS:
        found = (
            theirs.pgettext(context, source)
            if context
            else theirs.ngettext("%d file", source, 2 - ("files" not in source))
        )
        assert found == target if context or "%d" in source else theirs.gettext(source) == target


@pytest.mark.skipif(not shutil.which("msgfmt"), reason="gettext's own tools are not installed")
def test_a_catalogue_that_gettexts_own_tool_compiles_has_the_same_pairs(read: Read, tmp_path: Path) -> None:
    written = read(catalogue())
    subprocess.run(["msgfmt", "es.po", "-o", "es.mo"], cwd=tmp_path, check=True)
    rows = Source((f"{tmp_path}/es.mo",)).rows()
    assert sorted(row.values["target"] for row in rows) == sorted(target for _, _, target, _ in written)


def test_a_charset_is_read_from_a_compiled_header(read: Read) -> None:
    content = compiled({"": "Content-Type: text/plain; charset=ISO-8859-1\n", "a": "X"}).replace(b"X", b"\xe9")
    assert read(content, "es.mo") == [(2, "a", "é", None)]
    with pytest.raises(BoughError, match=r"es\.mo:2: not utf-8 \(unexpected end of data\); mend the row"):
        read(compiled({"": "charset", "a": "X"}).replace(b"X", b"\xe9"), "es.mo")


WHOLE = compiled(MO)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no .mo file"),
        (b"msgid", "is no .mo file"),
        (WHOLE[:15], "is cut short"),
        (WHOLE[:60], "is cut short"),
        (WHOLE[:-20], "is cut short"),
        (WHOLE[:8] + b"\xff\xff\xff\xff" + WHOLE[12:], "is cut short"),
        (
            struct.pack("<7I", 0x950412DE, 0, 100, 28, 28, 0, 0) + struct.pack("<2I", 500, 28) * 100 + b"x" * 500,
            "its strings are longer than the file",
        ),
    ],
)
def test_a_damaged_compiled_catalogue_is_named(read: Read, tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(ArtefactError) as error:
        read(content, "es.mo", skip_bad=True)
    assert str(error.value) == f"{tmp_path}/es.mo: {said}; make it again with msgfmt"


def test_no_compiled_catalogue_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "es.mo"
    with path.open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(BoughError) as error:
        list(Source((str(path),)).rows())
    assert str(error.value) == f"{path}: refused, because no catalogue has more than 16 MiB"
