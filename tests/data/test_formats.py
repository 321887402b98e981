"""Every format read as it is written down: the same rows, each at the line it starts on."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as any_of
from pyarrow import parquet

from bough.data.reading import formats, lines
from bough.data.reading.columns import Columns
from bough.data.reading.rows import Row
from bough.data.reading.source import Source
from bough.errors import BoughError

Found = list[tuple[int, dict[str, Any]]]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Found]:
    """Write a file and read it: the line and the values of each row."""

    def rows(name: str, content: str | bytes, **settings: Any) -> Found:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return [(row.place.row, dict(row.values)) for row in Source((str(path),), **settings).rows()]

    return rows


Read = Callable[..., Found]


def test_a_place_is_told_as_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    assert [str(row.place) for row in Source((str(path),)).rows()] == [f"{path}:1", f"{path}:2"]


def test_jsonl_is_an_object_a_line_of_which_all_is_kept(read: Read) -> None:
    content = '{"text": "a\\nb", "label": 1, "id": null}\n\n  {"text": "\\u00e9", "more": {"x": [1]}}'
    assert read("a.jsonl", content) == [
        (1, {"text": "a\nb", "label": 1, "id": None}),
        (3, {"text": "é", "more": {"x": [1]}}),
    ]


def test_csv_has_quotes_commas_and_line_ends_in_its_fields(read: Read) -> None:
    content = 'text,label\r\n"a, ""b""\nc",x\r\n\r\nplain 5" pipe,y\n"",z'
    assert read("a.csv", content) == [
        (2, {"text": 'a, "b"\nc', "label": "x"}),
        (5, {"text": 'plain 5" pipe', "label": "y"}),
        (6, {"text": "", "label": "z"}),
    ]


FIELDS = any_of.lists(any_of.text(any_of.sampled_from('a",\n\r é'), max_size=6), min_size=2, max_size=3)


@given(any_of.lists(FIELDS, min_size=1, max_size=6))
def test_csv_that_pythons_own_module_writes_is_read_as_it_was(records: list[list[str]]) -> None:
    written = io.StringIO()
    csv.writer(written).writerows(records)
    stream = io.BufferedReader(io.BytesIO(written.getvalue().encode()))  # type: ignore[arg-type]
    assert [one.fields for one in formats.quoted(lines.lines(stream, "a.csv"))] == records  # type: ignore[union-attr]


@given(any_of.text(any_of.sampled_from('a",\n'), max_size=20))
def test_csv_of_any_kind_has_the_fields_that_pythons_own_module_finds(content: str) -> None:
    stream = io.BufferedReader(io.BytesIO(content.encode()))  # type: ignore[arg-type]
    found = list(formats.quoted(lines.lines(stream, "a.csv")))
    try:
        wanted = [one for one in csv.reader(io.StringIO(content, newline=""), strict=True) if one]
    except csv.Error:
        assert any(not isinstance(one, formats.Fields) for one in found)
    else:
        assert [one.fields for one in found] == wanted  # type: ignore[union-attr]


def test_tsv_is_cut_at_tabs_and_nowhere_else(read: Read) -> None:
    content = 'text\tlabel\n"a\tx\nb""\t"\n'
    assert read("a.tsv", content) == [(2, {"text": '"a', "label": "x"}), (3, {"text": 'b""', "label": '"'})]


def test_a_table_without_a_header_has_source_and_target(read: Read) -> None:
    pairs = [(1, {"source": "cat", "target": "gato"}), (2, {"source": "dog", "target": "perro"})]
    assert read("a.tsv", "cat\tgato\ndog\tperro\n") == pairs
    assert read("a.csv", "cat,gato\ndog,perro\n", header=False) == pairs


def test_a_header_is_told_from_a_first_row_by_the_names_of_the_columns(read: Read) -> None:
    named = [(2, {"source": "dog", "target": "perro"})]
    assert read("a.tsv", "source\ttarget\ndog\tperro\n") == named
    assert read("a.tsv", "en\tes\ndog\tperro\n", columns=Columns(source="en", target="es")) == named
    assert read("a.tsv", "en\ttarget\ndog\tperro\n") == [(2, {"en": "dog", "target": "perro"})]


def test_columns_without_a_header_are_named_by_number(read: Read) -> None:
    by_number = Columns(text="2", label="3")
    wanted = [(1, {"1": "7", "text": "good", "label": "x"})]
    assert read("a.tsv", "7\tgood\tx\n", columns=by_number) == wanted
    assert read("a.csv", "7,good,x\n", columns=by_number, header=False) == wanted
    assert read("a.csv", "good\n", header=False) == [(1, {"text": "good"})]


def test_txt_is_a_text_a_line_blank_ones_too(read: Read) -> None:
    assert read("a.txt", "one \n\n\ttwo") == [(1, {"text": "one "}), (2, {"text": ""}), (3, {"text": "\ttwo"})]


def test_documents_have_blank_lines_between_them_and_start_at_their_first_line(read: Read) -> None:
    content = "\n\none\n two\n \t\n\nthree\n"
    assert read("a.txt", content, per="document") == [(3, {"text": "one\n two"}), (7, {"text": "three"})]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "end"])
def test_lines_end_with_lf_crlf_and_cr(read: Read, end: str, last: str) -> None:
    tail = end if last else ""
    assert read("a.txt", f"one{end}{end}two{tail}") == [(1, {"text": "one"}), (2, {"text": ""}), (3, {"text": "two"})]
    assert read("a.jsonl", f'{{"text": "a"}}{end}{{"text": "b"}}{tail}') == [(1, {"text": "a"}), (2, {"text": "b"})]
    assert read("a.csv", f'text,label{end}"a{end}b",c{end}d,e{tail}') == [
        (2, {"text": f"a{end}b", "label": "c"}),
        (4, {"text": "d", "label": "e"}),
    ]


@pytest.mark.parametrize("letter", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_nothing_else_ends_a_line(read: Read, letter: str) -> None:
    assert read("a.txt", f"one{letter}two") == [(1, {"text": f"one{letter}two"})]
    assert read("a.jsonl", json.dumps({"text": f"one{letter}two"}, ensure_ascii=letter < " ")) == [
        (1, {"text": f"one{letter}two"})
    ]


def test_lines_are_whole_wherever_the_file_is_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"one\r\ntwo\rthree\n\r\n\r\rfour\nfive\r"
    wanted = content.splitlines(keepends=True)
    for size in range(1, 12):
        monkeypatch.setattr(lines, "CHUNK", size)
        stream = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]
        assert [line.text.encode() for line in lines.lines(stream, "a.txt")] == wanted


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.tsv"])
def test_a_byte_order_mark_is_no_part_of_the_first_row(read: Read, name: str) -> None:
    content = {
        "a.txt": "one",
        "a.jsonl": '{"text": "one"}',
        "a.csv": "text\none",
        "a.tsv": "text\none",
    }[name]
    found = read(name, b"\xef\xbb\xbf" + content.encode())
    assert [values for _, values in found] == [{"text": "one"}]
    assert read("b.txt", "a\ufeffb\n\ufeffc") == [(1, {"text": "a\ufeffb"}), (2, {"text": "\ufeffc"})]


def test_parquet_is_read_by_row_with_numbers_and_lists_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = {
        "review": [f"text {i}" for i in range(1000)],
        "label": list(range(1000)),
        "more": [[i] for i in range(1000)],
    }
    parquet.write_table(pa.table(columns), path, row_group_size=300)
    found = list(Source((str(path),), columns=Columns(text="review")).rows())
    assert [row.place.row for row in found] == list(range(1, 1001))
    assert found[999].values == {"text": "text 999", "label": 999, "more": [999]}


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt", "a.parquet"])
def test_what_gzip_packed_has_the_same_rows(tmp_path: Path, name: str) -> None:
    plain = tmp_path / name
    if name == "a.parquet":
        parquet.write_table(pa.table({"text": ["a", "b"]}), plain)
    else:
        start = {"a.jsonl": '{"text": "', "a.txt": ""}.get(name, "text\n")
        end = '"}\n' if name == "a.jsonl" else "\n"
        plain.write_text(f"{start}a{end}{start if name == 'a.jsonl' else ''}b{end}")
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    rows = [[(row.place.row, row.values) for row in Source((str(one),)).rows()] for one in (plain, packed)]
    assert rows[0] == rows[1]
    assert [values["text"] for _, values in rows[1]] == ["a", "b"]


def test_without_pyarrow_the_way_to_have_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    path.touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BoughError) as error:
        list(Source((str(path),)).rows())
    assert str(error.value) == f'{path}: parquet needs another package; run `pip install "bough[parquet]"`'


def test_columns_are_mapped_and_others_keep_their_names(read: Read) -> None:
    content = "id,review,stars\n7,good,5\n"
    assert read("a.csv", content, columns=Columns(text="review", label="stars")) == [
        (2, {"id": "7", "text": "good", "label": "5"})
    ]


def test_a_column_called_like_a_part_that_another_is_has_no_say(read: Read) -> None:
    columns = Columns(text="clean")
    assert read("a.jsonl", '{"text": "<b>x</b>", "clean": "x"}', columns=columns) == [(1, {"text": "x"})]
    assert read("a.jsonl", '{"clean": "x", "text": "<b>x</b>"}', columns=columns) == [(1, {"text": "x"})]


def test_one_column_is_one_part() -> None:
    with pytest.raises(BoughError) as error:
        Columns(source="text")
    assert str(error.value) == "source: is called 'text', and so is text; one column is one part"


def test_a_list_of_words_is_a_text(read: Read) -> None:
    assert read("a.jsonl", '{"text": ["New", "York"], "label": ["B", "I"]}') == [
        (1, {"text": "New York", "label": ["B", "I"]})
    ]


def test_the_format_is_what_is_said_before_what_the_name_says(read: Read) -> None:
    assert read("a.txt", '{"text": "a"}', format="jsonl") == [(1, {"text": "a"})]
    assert read("a.CSV", "text\na\n") == [(2, {"text": "a"})]
    assert read("a.data", "one", format="txt") == [(1, {"text": "one"})]


def test_every_text_of_every_row_is_there_for_training_tokenizers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "text_pair": "b", "label": "no"}\n{"source": "c", "target": "d"}\n')
    assert list(Source((str(path),)).texts()) == ["a", "b", "c", "d"]
    assert all(isinstance(row, Row) for row in Source((str(path),)).rows())
