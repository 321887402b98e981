"""A corpus is tokenised once: found again while nothing changed, made anew when anything did, and never half there."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from examples import text, tokenizer

from bough.data.reading.labels import Labels
from bough.data.reading.source import Source
from bough.data.storing import prepare
from bough.data.storing.prepare import prepared
from bough.data.storing.store import Store
from bough.data.storing.tokenised import Preparation
from bough.errors import BoughError
from bough.text import Limit, Tokenizer

TOKENIZER = tokenizer()


@pytest.fixture
def room(tmp_path: Path) -> Path:
    return tmp_path / "room"


@pytest.fixture
def lines(tmp_path: Path) -> Source:
    """Three documents of lines."""
    (tmp_path / "lines.txt").write_text("w5 w6 w7\nw8\n\n \nw9 w10\n\nw11\nw12 w13\n")
    return Source((str(tmp_path / "lines.txt"),))


@pytest.fixture
def labelled(tmp_path: Path) -> Source:
    (tmp_path / "rows.csv").write_text("text,label\nw5 w6,good\n,bad\nw7,good\n")
    return Source((str(tmp_path / "rows.csv"),))


def rows(store: Store, name: str = "ids") -> list[list[int]]:
    return [store.ragged[name][row].tolist() for row in range(len(store))]


def entries(room: Path) -> list[str]:
    return sorted(one.name for one in room.iterdir() if one.name != "hashes")


# What is stored


def test_lines_are_stored_without_blank_ones_which_divide_documents(lines: Source, room: Path) -> None:
    store = prepared(lines, TOKENIZER, cache=room)
    assert rows(store) == [[5, 6, 7], [8], [9, 10], [11], [12, 13]]
    assert store.plain["document"].tolist() == [0, 0, 1, 2, 2]
    assert (store.about["rows"], store.about["skipped"]) == (8, 0)


def test_a_file_ends_a_document(tmp_path: Path, room: Path) -> None:
    (tmp_path / "shards").mkdir()
    for name in "ab":
        (tmp_path / "shards" / f"{name}.txt").write_text("w5\nw6\n")
    store = prepared(Source((str(tmp_path / "shards"),)), TOKENIZER, cache=room)
    assert store.plain["document"].tolist() == [0, 0, 1, 1]


def test_documents_are_rows_where_they_are_asked_for(lines: Source, room: Path) -> None:
    store = prepared(lines.but(per="document"), TOKENIZER, cache=room)
    assert rows(store) == [[5, 6, 7, 8], [9, 10], [11, 12, 13]]
    assert "document" not in store.plain


def test_labels_are_stored_as_numbers_and_no_labelled_row_is_left_out(labelled: Source, room: Path) -> None:
    store = prepared(labelled, TOKENIZER, Preparation(Labels.of(labelled)), room)
    assert rows(store) == [[5, 6], [], [7]]
    assert store.plain["label"].tolist() == [1, 0, 1]


def test_several_labels_and_values_are_stored_as_they_are(tmp_path: Path, room: Path) -> None:
    (tmp_path / "many.jsonl").write_text('{"text": "w5", "label": ["b", "a"]}\n{"text": "w6", "label": []}\n')
    (tmp_path / "scores.csv").write_text("text,label\nw5,0.5\nw6,-2\n")
    many, scores = (Source((str(tmp_path / name),)) for name in ("many.jsonl", "scores.csv"))
    assert rows(prepared(many, TOKENIZER, Preparation(Labels.of(many)), room), "labels") == [[0, 1], []]
    assert prepared(scores, TOKENIZER, Preparation(Labels.of(scores)), room).plain["label"].tolist() == [0.5, -2.0]


def test_pairs_and_translations_have_columns_of_their_own(tmp_path: Path, room: Path) -> None:
    (tmp_path / "pairs.csv").write_text("text,text_pair\nw5,w6 w7\n")
    (tmp_path / "parallel.tsv").write_text("w5 w6\tw7\n")
    pair = prepared(Source((str(tmp_path / "pairs.csv"),)), TOKENIZER, cache=room)
    assert {name: rows(pair, name) for name in pair.ragged} == {
        "ids": [[5]], "starts": [[1]], "ids_pair": [[6, 7]], "starts_pair": [[1, 1]],
    }  # fmt: skip
    both = prepared(Source((str(tmp_path / "parallel.tsv"),)), TOKENIZER, cache=room)
    assert {name: rows(both, name) for name in both.ragged} == {
        "ids": [[5, 6]], "starts": [[1, 1]], "target": [[7]], "starts_target": [[1]],
    }  # fmt: skip


def test_what_is_written_has_the_vocabulary_it_is_written_in(tmp_path: Path, room: Path) -> None:
    (tmp_path / "parallel.tsv").write_text("w5 w6\tw7\n")
    handle = tokenizer()
    handle.target = tokenizer(mask=False)
    (tmp_path / "words.tsv").write_text("w5\tw4\n")
    store = prepared(Source((str(tmp_path / "words.tsv"),)), handle, cache=room)
    assert (rows(store), rows(store, "target")) == ([[5]], [[4]])


def test_word_starts_tell_the_words_of_a_text(pieces: Tokenizer, tmp_path: Path, room: Path) -> None:
    (tmp_path / "a.txt").write_text("going, gone\n")
    store = prepared(Source((str(tmp_path / "a.txt"),)), pieces, cache=room)
    tokens = [pieces.token(one) for one in rows(store)[0]]
    assert list(zip(tokens, rows(store, "starts")[0], strict=True)) == [
        ("go", 1), ("##ing", 0), (",", 1), ("go", 1), ("##ne", 0),
    ]  # fmt: skip


@pytest.fixture
def pieces() -> Tokenizer:
    from tokenizers import Tokenizer as Inner
    from tokenizers import models, pre_tokenizers

    inner = Inner(models.WordPiece({"[UNK]": 0, "go": 1, "##ing": 2, "##ne": 3, ",": 4}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return Tokenizer(inner)


def test_windows_are_rows_that_know_whose_they_are(lines: Source, room: Path) -> None:
    what = Preparation(limit=Limit(4, "window", 1))
    store = prepared(lines.but(per="document"), TOKENIZER, what, room)
    assert rows(store) == [[5, 6], [6, 7], [7, 8], [9, 10], [11, 12], [12, 13]]
    assert rows(store, "starts") == [[1, 1]] * 6
    assert store.plain["row"].tolist() == [0, 0, 0, 1, 2, 2]


def test_texts_are_cut_beforehand_where_that_is_asked_for(lines: Source, room: Path) -> None:
    store = prepared(lines, TOKENIZER, Preparation(limit=Limit(4, "truncate")), room)
    assert rows(store) == [[5, 6], [8], [9, 10], [11], [12, 13]]


# What cannot be stored


def test_a_text_beyond_a_limit_that_is_not_to_be_passed_is_named(lines: Source, room: Path) -> None:
    with pytest.raises(BoughError) as caught:
        prepared(lines, TOKENIZER, Preparation(limit=Limit(4, "error")), room)
    assert str(caught.value) == (
        f"{lines.paths[0]}:1: takes 5 tokens, special ones included, and the limit is 4; "
        "shorten it, or let the policy be truncate, head-tail or window"
    )
    assert entries(room) == []


def test_what_windows_would_tear_apart_is_refused(tmp_path: Path, room: Path) -> None:
    (tmp_path / "parallel.tsv").write_text("w5 w6\tw7\n")
    with pytest.raises(BoughError) as caught:
        prepared(Source((str(tmp_path / "parallel.tsv"),)), TOKENIZER, Preparation(limit=Limit(9, "window")), room)
    assert str(caught.value) == (
        "limit: what is written of a text is written of all of it, so that it cannot be read in windows; "
        "let the policy be error, truncate or head-tail"
    )
    with pytest.raises(BoughError) as caught:
        Preparation(Labels(("a",), "words"), Limit(9))
    assert str(caught.value) == ("limit: would part words from their labels; leave it out, and cut what is in a batch")


@pytest.mark.parametrize("content", ["", "\n \n\n"])
def test_an_empty_corpus_is_refused_and_leaves_nothing(tmp_path: Path, room: Path, content: str) -> None:
    path = tmp_path / "empty.txt"
    path.write_text(content)
    with pytest.raises(BoughError, match=r"empty.txt: holds no (rows|text); name a file that has some$") as caught:
        prepared(Source((str(path),)), TOKENIZER, cache=room)
    assert caught.value.exit_code == 2
    assert entries(room) == []


def test_rows_with_other_texts_than_the_first_are_named(tmp_path: Path, room: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"text": "w5"}\n{"text": "w6", "text_pair": "w7"}\n')
    with pytest.raises(BoughError) as caught:
        prepared(Source((str(path),)), TOKENIZER, cache=room)
    assert str(caught.value) == (
        f"{path}:2: has text and text_pair where rows before it have text; give all rows the same texts"
    )


def test_a_bad_row_leaves_nothing_and_is_counted_where_it_may_be_skipped(tmp_path: Path, room: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "w5"}\n{"text": "w6"\n{"text": "w7"}\n')
    with pytest.raises(BoughError, match=r"bad.jsonl:2"):
        prepared(Source((str(path),)), TOKENIZER, cache=room)
    assert entries(room) == []
    store = prepared(Source((str(path),), skip_bad=True), TOKENIZER, cache=room)
    assert rows(store) == [[5], [7]]
    assert (store.about["rows"], store.about["skipped"]) == (2, 1)
    assert store.about["complaints"][0].startswith(f"{path}:2")


def test_a_corpus_that_changes_under_the_reader_is_refused(
    lines: Source, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changing(source: Source, *rest: Any) -> None:
        written(source, *rest)
        Path(source.paths[0]).write_text("w5 w6\n")

    written = prepare.tokenise
    monkeypatch.setattr(prepare, "tokenise", changing)
    with pytest.raises(BoughError, match=r"lines.txt: was changed while it was read; try again when it is whole$"):
        prepared(lines, TOKENIZER, cache=room)
    assert entries(room) == []


# Found again


def test_a_store_that_is_there_is_opened_and_nothing_is_read(
    lines: Source, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unasked(*given: object) -> None:
        raise AssertionError

    monkeypatch.setattr(prepare, "RECENT", 0)
    first = prepared(lines, TOKENIZER, cache=room)
    monkeypatch.setattr(Source, "rows", unasked)
    monkeypatch.setattr(Source, "fingerprint", unasked)
    monkeypatch.setattr(Tokenizer, "encode_all", unasked)
    assert rows(prepared(lines, TOKENIZER, cache=room)) == rows(first)


def test_a_corpus_just_written_is_not_taken_for_known(lines: Source, room: Path) -> None:
    prepared(lines, TOKENIZER, cache=room)
    assert not (room / "hashes").exists(), "a change within a tick of the clock would bear the same time"


def test_a_corpus_that_was_touched_is_hashed_again(lines: Source, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "RECENT", 0)
    path = Path(lines.paths[0])
    prepared(lines, TOKENIZER, cache=room)
    then = path.stat()
    path.write_text(path.read_text().replace("w5", "w6"))
    os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
    assert path.stat().st_size == then.st_size
    assert rows(prepared(lines, TOKENIZER, cache=room))[0] == [6, 6, 7]


def test_another_corpus_tokenizer_or_setting_is_another_store_and_tells_what_differs(
    lines: Source, tmp_path: Path, room: Path
) -> None:
    (tmp_path / "other.txt").write_text("w5\n")
    stores = [
        prepared(lines, TOKENIZER, cache=room),
        prepared(Source((str(tmp_path / "other.txt"),)), TOKENIZER, cache=room),
        prepared(lines, tokenizer("<more>"), cache=room),
        prepared(lines, TOKENIZER, Preparation(limit=Limit(9)), room),
    ]
    first, *others = (store.about["fingerprints"] for store in stores)
    differing = [[name for name in first if other[name] != first[name]] for other in others]
    assert differing == [["data"], ["tokenizer"], ["settings"]]
    assert len(entries(room)) == 4


def test_counts_of_labels_and_names_of_files_make_no_other_store(labelled: Source, tmp_path: Path, room: Path) -> None:
    labels = Labels.of(labelled)
    first = prepared(labelled, TOKENIZER, Preparation(labels), room)
    (tmp_path / "moved.csv").write_bytes(Path(labelled.paths[0]).read_bytes())
    moved = prepared(Source((str(tmp_path / "moved.csv"),)), TOKENIZER, Preparation(labels.but(counts=())), room)
    assert moved.folder == first.folder


def test_stdin_is_prepared_like_a_file(lines: Source, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(lines.paths[0]).open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        store = prepared(Source(("-",), format="txt"), TOKENIZER, cache=room)
    assert store.folder == prepared(lines, TOKENIZER, cache=room).folder


def test_the_users_cache_is_where_stores_are_kept(
    lines: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert prepared(lines, TOKENIZER).folder.parent == tmp_path / "cache" / "bough" / "prepared"


# Killed, and in company


def killed(source: Source, room: Path) -> None:
    """Prepare, and be killed when all rows are written but nothing is in place."""
    written = prepare.tokenise

    def dying(*given: Any) -> None:
        written(*given)
        os.kill(os.getpid(), signal.SIGKILL)

    prepare.tokenise = dying
    prepared(source, TOKENIZER, cache=room)


def run(work: Callable[..., None], *given: Any, count: int = 1) -> list[int | None]:
    """Exit codes of so many processes that do this at once."""
    crew = [multiprocessing.get_context("fork").Process(target=work, args=given) for _ in range(count)]
    for one in crew:
        one.start()
    for one in crew:
        one.join(60)
    return [one.exitcode for one in crew]


def test_a_preparation_that_was_killed_leaves_no_store_and_is_cleared_away(lines: Source, room: Path) -> None:
    assert run(killed, lines, room) == [-signal.SIGKILL]
    (left,) = entries(room)
    assert left.startswith(".")
    old = time.time() - 2 * prepare.STALE
    os.utime(room / left, (old, old))
    store = prepared(lines, TOKENIZER, cache=room)
    assert entries(room) == [store.folder.name]
    assert len(store) == 5


@pytest.fixture
def elsewhere(room: Path) -> Iterator[Path]:
    """What a preparation that goes on elsewhere has written so far."""
    aside = room / ".abc-123"
    aside.mkdir(parents=True)
    with prepare.locked(aside):
        os.utime(aside, (0, 0))
        yield aside


def test_a_preparation_that_goes_on_is_not_cleared_away(lines: Source, room: Path, elsewhere: Path) -> None:
    prepared(lines, TOKENIZER, cache=room)
    assert elsewhere.exists()


def test_a_preparation_keeps_its_lock_until_the_store_is_in_place(
    lines: Source, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watched(path: Path) -> None:
        if path.is_dir() and path.name.startswith("."):
            try:
                with prepare.locked(path):
                    seen.append("free")
            except BlockingIOError:
                seen.append("locked")

    seen: list[str] = []
    monkeypatch.setattr("bough.files.atomic.sync", watched)
    prepared(lines, TOKENIZER, cache=room)
    assert set(seen) == {"locked"}


def together(source: Source, room: Path, start: Any) -> None:
    start.wait()
    assert len(prepared(source, TOKENIZER, cache=room)) == 2000


def test_preparations_of_the_same_at_once_all_end_well(tmp_path: Path, room: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps({"text": text(range(5, 25))}) + "\n" for _ in range(2000)))
    source = Source((str(path),))
    start = multiprocessing.get_context("fork").Barrier(3)
    assert run(together, source, room, start, count=3) == [0, 0, 0]
    (name,) = entries(room)
    Store(room / name).check()


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.data.storing.tokenised.ROWS", 32)
    monkeypatch.setattr("bough.data.storing.store.HELD", 2048)

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.txt"
        path.write_text((text(range(5, 105)) + "\n") * count)
        tracemalloc.start()
        prepared(Source((str(path),)), TOKENIZER, cache=room)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)
    assert peak(800) < 1.2 * peak(200)
