"""Bad rows and bad files: told by file and line with a remedy, or skipped and counted; and never a full memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from bough.data.reading import streams
from bough.data.reading.columns import Columns
from bough.data.reading.rows import FIRST, Tally
from bough.data.reading.source import Source
from bough.errors import ArtefactError, BoughError

MEND = "mend the row, or skip bad ones"
TOO_LONG = f"more than 16 MiB in one row; split it; {MEND}"

# What is in the file, the message, and how many rows are good.
BAD: dict[str, tuple[str, bytes, str, int]] = {
    "invalid UTF-8": ("a.txt", b"one\n\xc3(\nthree\n", "a.txt:2: not UTF-8 (invalid continuation byte at byte 1)", 2),
    "UTF-16": ("a.txt", b"\xff\xfeone", "a.txt:1: not UTF-8 (invalid start byte at byte 1)", 0),
    "half a letter": ("a.txt", b"one\n\xc3", "a.txt:2: not UTF-8 (unexpected end of data at byte 1)", 1),
    "surrogate's bytes": ("a.txt", b"\xed\xa0\x80\n1", "a.txt:1: not UTF-8 (invalid continuation byte at byte 1)", 1),
    "NUL": ("a.txt", b"one\ntw\0o\n", "a.txt:2: holds a NUL, at byte 3", 1),
    "NUL in a table": ("a.tsv", b"text\tlabel\na\tb\nc\0\td\n", "a.tsv:3: holds a NUL, at byte 2", 1),
    "NUL by its escape": ("a.jsonl", b'{"text": "a\\u0000"}\n', r"a.jsonl:1: holds a NUL, in 'a\x00'", 0),
    "lone surrogate": (
        "a.jsonl",
        b'{"text": "\\ud83d\\ude00"}\n{"text": "\\ud83d"}\n',
        r"a.jsonl:2: holds a lone surrogate, in '\ud83d'",
        1,
    ),
    "lone surrogate inside": (
        "a.jsonl",
        b'{"text": "a", "more": [{"\\udc00": 1}]}\n',
        r"a.jsonl:1: holds a lone surrogate, in '\udc00'",
        0,
    ),
    "truncated object": (
        "a.jsonl",
        b'{"text": "a"}\n{"text": "b',
        "a.jsonl:2: not JSON (Unterminated string starting at column 10)",
        1,
    ),
    "list": ("a.jsonl", b'["text"]\n', "a.jsonl:1: must be a JSON object, not ['text']", 0),
    "number": ("a.jsonl", b"5\n", "a.jsonl:1: must be a JSON object, not 5", 0),
    "no JSON": ("a.jsonl", b'{"text": "a"}\ntext\n', "a.jsonl:2: not JSON (Expecting value at column 1)", 1),
    "two objects": ("a.jsonl", b'{"text": "a"} {"text": "b"}', "a.jsonl:1: not JSON (Extra data at column 15)", 0),
    "text that is none": ("a.jsonl", b'{"text": null}\n', "a.jsonl:1: 'text' must be text, not None", 0),
    "text of numbers": ("a.jsonl", b'{"text": "a", "source": 5}', "a.jsonl:1: 'source' must be text, not 5", 0),
    "words that are none": ("a.jsonl", b'{"text": ["a b"]}', "a.jsonl:1: 'text' must be text, not ['a b']", 0),
    "too few columns": ("a.csv", b"text,label\na,b\nc\nd,e\n", "a.csv:3: the row has 1 column, and the table 2", 2),
    "too many columns": ("a.csv", b"text,label\na,b,c\n", "a.csv:2: the row has 3 columns, and the table 2", 0),
    "too few in tsv": ("a.tsv", b"cat\tgato\ndog\n", "a.tsv:2: the row has 1 column, and the table 2", 1),
    "unclosed quote": (
        "a.csv",
        b'text,label\na,b\n"c,d\ne,f\n"g",h\n',
        "a.csv:3: a closing quote is followed by neither a comma nor the end of the row",
        3,
    ),
    "quote unclosed to the end": (
        "a.csv",
        b'text,label\na,b\n"c,d\ne,f\n',
        "a.csv:3: a quote that opens in this row is not closed",
        2,
    ),
    "row of several lines": (
        "a.csv",
        b'text,label\n"a\nb\nc"\nd,e\n',
        "a.csv:2: the row has 1 column, and the table 2",
        1,
    ),
    "broken inside quotes": (
        "a.csv",
        b'text,label\n"a\n\xff\nb",c\nd,e\n',
        "a.csv:3: not UTF-8 (invalid start byte at byte 1)",
        1,
    ),
}


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], str]:
    """Write a file where the program works, so that messages name it alone."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: bytes) -> str:
        Path(name).write_bytes(content)
        return name

    return write


Write = Callable[[str, bytes], str]


def told(source: Source, **how: Any) -> str:
    with pytest.raises(BoughError) as error:
        list(source.rows(**how))
    assert error.value.exit_code == 2
    return str(error.value)


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_is_told_by_file_and_line_with_the_remedy(written: Write, case: str) -> None:
    name, content, message, _ = BAD[case]
    assert told(Source((written(name, content),))) == f"{message}; {MEND}"


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_can_be_skipped_and_is_counted(written: Write, case: str) -> None:
    name, content, message, good = BAD[case]
    tally = Tally()
    rows = list(Source((written(name, content), written("z.jsonl", b'{"text": "z"}')), skip_bad=True).rows(tally))
    assert (len(rows), tally.rows, tally.skipped, tally.complaints) == (good + 1, good + 1, 1, [message])


def test_of_many_bad_rows_all_are_counted_and_a_few_told(written: Write) -> None:
    tally = Tally()
    list(Source((written("a.jsonl", b'5\n{"text": "a"}\n' * 100),), skip_bad=True).rows(tally))
    assert (tally.rows, tally.skipped, len(tally.complaints)) == (100, 100, FIRST)


def test_a_bad_line_costs_its_document_and_no_other(written: Write) -> None:
    source = Source((written("a.txt", b"one\n\xff\ntwo\n\n\n\xff\n\nthree\n"),), per="document", skip_bad=True)
    tally = Tally()
    assert [row.values["text"] for row in source.rows(tally)] == ["three"]
    assert tally.complaints == [f"a.txt:{line}: not UTF-8 (invalid start byte at byte 1)" for line in (2, 6)]


def test_brackets_in_brackets_without_end_are_no_json(written: Write) -> None:
    message = told(Source((written("a.jsonl", b"[" * 10**6),)))
    assert message.startswith("a.jsonl:1: not JSON (maximum recursion depth exceeded")


def test_a_missing_column_is_told_with_those_there_are_and_the_nearest(written: Write) -> None:
    table = written("a.csv", b"review,stars\ngood,5\n")
    assert told(Source((table,))) == (
        "a.csv:2: there is no column 'text' among 'review', 'stars'; say which of them it is"
    )
    assert told(Source((table,), columns=Columns(text="reviews"))) == (
        "a.csv:2: there is no column 'reviews' among 'review', 'stars'; did you mean 'review'?"
    )
    assert told(Source((table,), columns=Columns(text="review", label="star"))) == (
        "a.csv:2: there is no column 'star' among 'review', 'stars'; did you mean 'stars'?"
    )
    assert told(Source((written("b.jsonl", b'{"text": "a"}\n{}\n'),))) == (
        "b.jsonl:2: there is no column 'text', nor any other; mend the row, or skip bad ones"
    )


def test_a_part_that_is_needed_is_asked_of_every_row(written: Write) -> None:
    rows = written("a.jsonl", b'{"text": "a", "label": 1}\n{"text": "b"}\n')
    assert len(list(Source((rows,)).rows())) == 2
    assert told(Source((rows,)), need=("label",)) == (
        "a.jsonl:2: there is no column 'label' among 'text'; say which of them it is"
    )


def test_two_columns_of_one_name_are_told(written: Write) -> None:
    assert told(Source((written("a.csv", b"text,text\na,b\n"),))) == (
        "a.csv:1: two columns are called 'text'; give each a name of its own"
    )


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_corpus_is_told(written: Write, content: bytes) -> None:
    for name in ("a.jsonl", "a.csv", "a.tsv", "a.po"):
        assert told(Source((written(name, content),))) == f"{name}: holds no rows; name a file that has some"
    documents = Source((written("a.txt", content),), per="document")
    assert told(documents) == "a.txt: holds no rows; name a file that has some"


def test_a_header_alone_is_an_empty_corpus_and_so_are_bad_rows_alone(written: Write) -> None:
    assert told(Source((written("a.csv", b"text,label\n"),))) == "a.csv: holds no rows; name a file that has some"
    assert told(Source((written("a.jsonl", b"1\n2\n"),), skip_bad=True)) == (
        "a.jsonl: holds no good row and 2 bad; the first is a.jsonl:1: must be a JSON object, not 1"
    )


def test_one_tally_may_count_several_sources(written: Write) -> None:
    tally = Tally()
    good, bad = (
        written(name, content) for name, content in {"a.jsonl": b'{"text": "a"}\n1\n', "b.jsonl": b"2\n"}.items()
    )
    assert len(list(Source((good,), skip_bad=True).rows(tally))) == 1
    assert told(Source((bad,), skip_bad=True), tally=tally) == (
        "b.jsonl: holds no good row and 1 bad; the first is b.jsonl:1: must be a JSON object, not 2"
    )
    assert (tally.rows, tally.skipped) == (1, 2)


def corrupt(name: str, source: Source) -> str:
    """What is said of a file that cannot be read, which is never skipped."""
    with pytest.raises(ArtefactError) as error:
        list(source.rows())
    assert error.value.exit_code == 3
    assert str(error.value).startswith(f"{name}: ")
    return str(error.value)


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_damaged_gzip_file_is_named(written: Write, skip_bad: bool) -> None:
    packed = gzip.compress(b'{"text": "a"}\n' * 1000)
    said = {
        packed[:-20]: "Compressed file ended before the end-of-stream marker was reached",
        b"text": "Not a gzipped file (b'te')",
        packed[:-8] + b"\0" * 8: f"CRC check failed 0x0 != {hex(zlib.crc32(gzip.decompress(packed)))}",
        packed[:10] + b"\xff" * 20: "Error -3 while decompressing data: invalid block type",
    }
    for content, why in said.items():
        source = Source((written("a.jsonl.gz", content),), skip_bad=skip_bad)
        assert corrupt("a.jsonl.gz", source) == (
            f"a.jsonl.gz: cannot be unpacked ({why}); fetch or pack the file again"
        )


def test_a_damaged_parquet_file_is_named(written: Write) -> None:
    parquet.write_table(pa.table({"text": ["a"] * 1000}), written("a.parquet", b""))
    whole = Path("a.parquet").read_bytes()
    for content in (b"", b"no parquet at all", whole[:-10], whole[:100] + whole[-100:]):
        message = corrupt("a.parquet", Source((written("a.parquet", content),), skip_bad=True))
        assert message.endswith("; write the file again")


def test_a_text_of_parquet_that_is_too_long_is_told(written: Write) -> None:
    parquet.write_table(pa.table({"text": ["a", "b" * (2**24 + 1)]}), written("a.parquet", b""))
    assert told(Source(("a.parquet",))) == f"a.parquet:2: {TOO_LONG}"


def test_a_bad_row_of_parquet_is_told_or_skipped(written: Write) -> None:
    bad = pa.array([b"a", b"\xff", b"c\0", b"d"]).cast(pa.binary()).view(pa.string())
    parquet.write_table(pa.table({"text": bad}), written("a.parquet", b""))
    assert told(Source(("a.parquet",))).startswith("a.parquet:2: cannot be read ('utf-8' codec can't decode byte 0xff")
    tally = Tally()
    rows = list(Source(("a.parquet",), skip_bad=True).rows(tally))
    assert ([row.place.row for row in rows], tally.skipped) == ([1, 4], 2)
    assert tally.complaints[1] == r"a.parquet:3: holds a NUL, in 'c\x00'"


LIMITED = """
import resource, sys
from bough.data.reading.source import Source
from bough.errors import BoughError
if "parquet" in "".join(sys.argv):
    import pyarrow.parquet
most = int(sys.argv[2]) << 20
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + most, now + most))
try:
    rows = list(Source((sys.argv[1],), per=sys.argv[3], format=sys.argv[4] or None).rows())
    print(len(rows))
except BoughError as error:
    print(error.exit_code, error)
"""
"""Read a source with no more than so many MiB beyond what the program itself takes."""


def limited(path: Path | str, mebibytes: int, per: str = "line", said: str = "", stdin: Any = None) -> str:
    line = [sys.executable, "-c", LIMITED, str(path), str(mebibytes), per, said]
    done = subprocess.run(line, capture_output=True, text=True, stdin=stdin, timeout=120, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.tsv", "a.po"])
def test_a_line_of_a_gigabyte_is_told_in_little_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(2**30)
    assert limited(path, 100) == f"2 {path}:1: {TOO_LONG}"


def test_a_gigabyte_of_quotes_or_of_lines_in_a_document_is_told_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b'"unclosed\n' * 2**21)
    assert "a.csv:2: a closing quote is followed" in limited(path, 100)
    path.write_bytes(b'text,label\n"unclosed' + b"line\n" * 2**23)
    assert "a.csv:2: a quote that opens in this row is not closed" in limited(path, 250)
    path = tmp_path / "a.txt"
    path.write_bytes((b"line" * 30 + b"\n") * 2**18)
    assert limited(path, 250, per="document") == f"2 {path}:1: {TOO_LONG}"


def zeros(path: Path, mebibytes: int, content: bytes = b"\0") -> Path:
    """A gzip file that comes to so many MiB of the same."""
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    with path.open("wb") as file:
        for _ in range(mebibytes):
            file.write(packing.compress(content * 2**20))
        file.write(packing.flush())
    return path


def test_a_gzip_bomb_is_told_in_little_memory(tmp_path: Path) -> None:
    bomb = zeros(tmp_path / "a.txt.gz", 256)
    assert limited(bomb, 100) == f"2 {bomb}:1: {TOO_LONG}"


REFUSED = "refused, because it unpacks to more than 250 times its size; unpack it first if that is meant"


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv.gz", "a.po.gz", "a.txt.gz"])
def test_a_gzip_bomb_of_small_lines_is_refused_before_it_takes_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(streams, "MOST_GROWN", 2**15)
    bomb = zeros(tmp_path / name, 1, b"\n")
    assert told(Source((str(bomb),))) == f"{bomb}: {REFUSED}"


def test_a_gzip_bomb_is_refused_whatever_reads_it(tmp_path: Path) -> None:
    bomb = zeros(tmp_path / "a.parquet.gz", 200, b"\n")
    assert limited(bomb, 150) == f"2 {bomb}: {REFUSED}"
    with bomb.open("rb") as packed:
        assert limited("-", 150, said="parquet", stdin=packed) == f"2 stdin: {REFUSED}"
    with pytest.raises(BoughError, match=REFUSED):
        Source((str(bomb),)).fingerprint()


@pytest.mark.parametrize(("said", "per"), [("txt", "line"), ("txt", "document"), ("po", "line"), ("csv", "line")])
def test_a_line_without_end_on_stdin_is_told_before_it_ends(said: str, per: str) -> None:
    with subprocess.Popen(["/bin/cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
        try:
            assert limited("-", 100, per=per, said=said, stdin=endless.stdout) == f"2 stdin:1: {TOO_LONG}"
        finally:
            endless.kill()


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.tsv", "a.parquet"])
def test_a_long_file_is_read_in_little_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = "word " * 50
    rows = 40 * 2500
    if name == "a.parquet":
        with parquet.ParquetWriter(path, pa.schema([("text", pa.string())])) as file:
            for i in range(40):
                file.write_table(pa.table({"text": [f"{text * 8}{i}"] * 2500}))
    else:
        line = {"a.txt": text, "a.jsonl": f'{{"text": "{text}"}}', "a.csv": f'"{text}"', "a.tsv": text}[name]
        path.write_text("text\n" * name.endswith(("csv", "tsv")) + f"{line}\n" * rows)
    counting = LIMITED.replace("list(Source", "sum(1 for _ in Source").replace("len(rows)", "rows")
    assert counting.count("sum(1") == 1
    line = [sys.executable, "-c", counting, str(path), "20" if name != "a.parquet" else "100", "line", ""]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr) == (str(rows), "")
