"""Where rows come from: files, shards, stdin, samples; and the fingerprint that says whether they would be the same."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bough.data.reading import lines
from bough.data.reading.columns import Columns
from bough.data.reading.source import Source
from bough.data.samples import named
from bough.errors import ArtefactError, BoughError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder to work in, and an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(name: str, content: str) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return name


def texts(*paths: str, **settings: Any) -> list[str]:
    return list(Source(paths, **settings).texts())


def said(*paths: str, **settings: Any) -> str:
    with pytest.raises(BoughError) as error:
        texts(*paths, **settings)
    assert error.value.exit_code == 2
    return str(error.value)


def test_a_folder_of_shards_is_read_in_the_order_of_names_packed_or_not() -> None:
    for name, content in {"b-2.txt": "three\n", "b-10.txt.gz": "two\n", "a.txt": "one\n"}.items():
        write(f"shards/{name}", content)
    for name in ("README.md", "readme.txt", ".hidden.txt", ".git/config"):
        write(f"shards/{name}", "no data\n")
    assert texts("shards") == ["one", "two", "three"]
    assert [str(row.place) for row in Source(("shards",)).rows()] == [
        "shards/a.txt:1",
        "shards/b-10.txt.gz:1",
        "shards/b-2.txt:1",
    ]


def test_several_paths_are_read_in_the_order_given_whatever_their_formats() -> None:
    paths = (write("b.txt", "one\n"), write("a.jsonl", '{"text": "two"}\n'), write("c.tsv", "three\tfour\n"))
    assert texts(*paths) == ["one", "two", "three", "four"]


def test_a_shard_without_rows_is_fine_and_no_rows_at_all_are_not() -> None:
    write("shards/a.txt", "")
    write("shards/b.txt", "one\n")
    assert texts("shards") == ["one"]
    assert said("shards/a.txt") == "shards/a.txt: holds no rows; name a file that has some"


def test_every_shard_has_a_header_of_its_own() -> None:
    write("shards/a.csv", "text,label\none,x\n")
    write("shards/b.csv", "label,text\ny,two\n")
    assert texts("shards") == ["one", "two"]


MISTAKES = [
    ("nowhere.txt", {}, "nowhere.txt: there is no such file or folder"),
    ("a.doc", {}, "a.doc: its format cannot be told from its name; say one of jsonl, csv, tsv, txt, parquet, po, mo"),
    ("a", {}, "a: its format cannot be told from its name; say one of jsonl, csv, tsv, txt, parquet, po, mo"),
    ("-", {}, "stdin: its format cannot be told from a name; say one of jsonl, csv, tsv, txt, parquet, po, mo"),
    ("empty", {}, "empty: holds no files; name a folder of shards, or a file"),
    ("mixed", {}, "mixed/b.csv: is csv beside txt; name files of one format, or say it"),
    ("deep", {}, "deep/inner: is a folder inside a folder of shards; name the folders that hold files"),
    ("pipe", {"format": "txt"}, "pipe: is neither a file nor a folder; pipe it into stdin, and name that as -"),
    ("review/train.csv", {}, "review/train.csv: there is no such file or folder"),
]


@pytest.mark.parametrize(("path", "settings", "message"), MISTAKES, ids=[path for path, _, _ in MISTAKES])
def test_a_path_that_cannot_be_read_is_told(path: str, settings: dict[str, Any], message: str) -> None:
    for name in ("a.doc", "a", "mixed/a.txt", "mixed/b.csv", "deep/a.txt", "deep/inner/b.txt", "empty/README"):
        write(name, "one\n")
    os.mkfifo("pipe")
    assert said(path, **settings) == message


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Put something on stdin."""

    def pipe(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))  # type: ignore[arg-type]

    return pipe


Pipe = Callable[[bytes], None]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_stdin_is_read_as_often_as_is_asked(
    piped: Pipe, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(lines, "CHUNK", 7)
    piped(pack(b"one\ntwo\r\nthree"))
    source = Source(("-",), format="txt")
    first, second = source.rows(), source.rows()
    pairs = [(str(a.place), str(b.place), b.values["text"]) for a, b in zip(first, second, strict=True)]
    assert pairs == [("stdin:1", "stdin:1", "one"), ("stdin:2", "stdin:2", "two"), ("stdin:3", "stdin:3", "three")]
    assert list(source.texts()) == ["one", "two", "three"]
    piped(b"other\n")
    assert list(source.texts()) == ["other"]


def test_stdin_is_read_as_it_comes_and_not_first_to_its_end() -> None:
    script = (
        "from bough.data.reading.source import Source\n"
        "for text in Source(('-',), format='txt').texts():\n    print(text, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin
        assert child.stdout
        child.stdin.write("x" * lines.CHUNK + "\nsecond\n")
        child.stdin.flush()
        assert child.stdout.readline() == "x" * lines.CHUNK + "\n"
        child.stdin.close()
        assert child.stdout.readline() == "second\n"


def test_a_file_called_like_stdin_is_a_file(piped: Pipe) -> None:
    piped(b"from stdin\n")
    assert texts(write("stdin", "from a file\n"), format="txt") == ["from a file"]


def test_one_corpus_has_the_same_rows_from_a_file_shards_gzip_and_stdin(piped: Pipe) -> None:
    rows = [f'{{"text": "row {i}"}}\n' for i in range(50)]
    whole = write("whole.jsonl", "".join(rows))
    packed = write("whole.jsonl.gz", "".join(rows))
    for start in range(0, 50, 9):
        write(f"shards/{start:02}.jsonl", "".join(rows[start : start + 9]))
    piped("".join(rows).encode())
    found = [texts(whole), texts(packed), texts("shards"), texts("-", format="jsonl")]
    assert found == [[f"row {i}" for i in range(50)]] * 4


def test_a_fingerprint_stays_where_the_rows_do(piped: Pipe) -> None:
    plain = Source((write("a.jsonl", '{"text": "one"}\n'),)).fingerprint()
    write("elsewhere/b.jsonl", '{"text": "one"}\n')
    piped(b'{"text": "one"}\n')
    same: Sequence[Source] = [
        Source(("a.jsonl",)),
        Source(("elsewhere/b.jsonl",)),
        Source(("elsewhere",)),
        Source((write("c.jsonl.gz", '{"text": "one"}\n'),)),
        Source((write("d.data", '{"text": "one"}\n'),), format="jsonl"),
        Source(("-",), format="jsonl"),
    ]
    assert {one.fingerprint() for one in same} == {plain}


def test_a_fingerprint_changes_where_rows_might() -> None:
    write("a.txt", "one\n\ntwo\n")
    write("b.txt", "three\n")
    write("c.txt", "one\n\ntwo\nthree\n")
    source = Source(("a.txt",))
    others = [
        Source(("b.txt",)),
        Source(("a.txt", "b.txt")),
        Source(("b.txt", "a.txt")),
        Source(("c.txt",)),
        source.but(format="csv"),
        source.but(per="document"),
        source.but(skip_bad=True),
        source.but(header=False),
        source.but(columns=Columns(text="review")),
    ]
    found = [source.fingerprint(), *(one.fingerprint() for one in others)]
    assert len(set(found)) == len(found)
    write("a.txt", "one\n\ntwo \n")
    assert source.fingerprint() not in found


def test_a_source_is_kept_as_json() -> None:
    source = Source(("a.csv", "b.csv"), columns=Columns(text="review"), per="document", skip_bad=True, header=False)
    assert Source.from_json(source.to_json()) == source


def test_a_file_is_closed_when_nobody_reads_on(recwarn: pytest.WarningsRecorder) -> None:
    rows = Source((write("a.txt.gz", "one\ntwo\n"),)).rows()
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert not recwarn.list


def made(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> list[str]:
    """Have `reviews` made of these, and a list of how often it was."""
    calls: list[str] = []

    def make(kind: str, variant: str) -> dict[str, bytes]:
        calls.append(kind)
        return files

    monkeypatch.setattr(named, "_made", make)
    return calls


def test_a_path_into_a_sample_is_that_file_fetched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = made(monkeypatch, {"train.csv": b"text\none\n", "README.md": b""})
    assert texts("reviews/train.csv") == ["one"]
    assert texts("reviews/train.csv") == ["one"]
    assert calls == ["reviews"]


def test_a_file_that_is_there_is_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = made(monkeypatch, {"train.csv": b"text\none\n"})
    assert texts(write("reviews/train.csv", "text\nmine\n")) == ["mine"]
    assert calls == []


def test_a_file_that_a_sample_lacks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made(monkeypatch, {"train.csv": b"text\none\n", "README.md": b""})
    assert said("reviews/trian.csv") == (
        "reviews/trian.csv: there is no such file in this sample; it has README.md, train.csv"
    )
    assert said("reviews") == "reviews: is a sample of several files; name one, such as reviews/train.csv"


def test_a_file_of_a_sample_that_has_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made(monkeypatch, {"train.csv": b"text\none\n"})
    folder = named.get("reviews")
    (folder / "train.csv").write_bytes(b"text\ntwo\n")
    with pytest.raises(ArtefactError) as error:
        texts("reviews/train.csv")
    assert str(error.value) == f"{folder}/train.csv: has changed since it was made; remove {folder} and try again"
