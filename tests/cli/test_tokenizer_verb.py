"""`bough tokenizer`: train, encode, decode and show, from texts wherever they lie; every fault is told in one line."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import transformers
from running import Run, in_a_process

from bough.cli.tokenizer_page import visible
from bough.text.learning.measure import measure
from bough.text.reading.read import open_tokenizer
from bough.text.tokenizer import Tokenizer

LINES = ["the river bank flooded", "the bank lent money", "money flooded the river", "a bank, a river: 東京 😀"] * 5
KINDS = "word, character, bpe, bytes, wordpiece, unigram"
SMALLER = "or for a smaller alphabet"
SUCH = "such as text=review,label=stars"
TEXTS = ["the river lent", "", "a bank floods"]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of texts, a line each."""
    path = tmp_path_factory.mktemp("corpus") / "all.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Path:
    """A tokenizer in BERT's form."""
    return learnt(corpus, tmp_path_factory.mktemp("trained") / "pieces", "--family", "bert", "--size", 60)


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Path:
    """A tokenizer of whole words, a few of them unknown."""
    return learnt(corpus, tmp_path_factory.mktemp("words") / "words", "--kind", "word", "--size", 12)


def learnt(corpus: Path, out: Path, *how: object) -> Path:
    done = in_a_process("tokenizer", "train", corpus, *how, "--out", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def reader(folder: Path) -> Tokenizer:
    return open_tokenizer(folder)


def files(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


# train


def test_a_trained_folder_is_read_by_transformers_with_the_same_ids(folder: Path, reader: Tokenizer) -> None:
    assert set(files(folder)) == {"tokenizer.json", "tokenizer_config.json"}
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    for text in [*LINES, *TEXTS, "Zürich ☃"]:
        assert theirs(text)["input_ids"] == reader.encode(text).ids
    assert theirs.mask_token_id == reader.specials.mask


def test_files_shards_gzip_and_stdin_make_the_same_folder_to_the_byte(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed, shards = tmp_path / "all.txt.gz", tmp_path / "shards"
    packed.write_bytes(gzip.compress(corpus.read_bytes()))
    shards.mkdir()
    for number, line in enumerate(LINES):
        (shards / f"{number:02}.txt").write_text(line, encoding="utf-8")
    (tmp_path / "all.jsonl").write_text("".join(json.dumps({"body": line}) + "\n" for line in LINES))
    ways = {
        "file": [corpus], "gzip": [packed], "shards": [shards], "stdin": ["-", "--format", "txt"],
        "columns": [tmp_path / "all.jsonl", "--columns", "text=body"],
    }  # fmt: skip
    out = tmp_path / "out"
    with corpus.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        for name, arguments in ways.items():
            done = run("tokenizer", "train", *arguments, "--kind", "unigram", "--size", 80, "--out", out / name)
            assert done.code == 0, done.err
    found = [files(out / name) for name in ways]
    assert found == [found[0]] * len(ways)


def test_training_tells_what_was_learnt_and_what_it_does_to_the_texts(run: Run, corpus: Path, tmp_path: Path) -> None:
    done = run("tokenizer", "train", corpus, "--kind", "bpe", "--size", 400, "--out", tmp_path / "out")
    said = " ".join(done.out.split())
    assert said.startswith("learnt 69 tokens of kind bpe, in 0.")
    assert "from 20 texts with 12 different words note the vocabulary has 69 tokens, not 400: there is no more" in said
    assert "What it does to a sample, 20 texts, 90 words, 460 bytes: tokens in the vocabulary 69 of these used" in said
    assert "pieces in a word 1.17 bytes in a piece 4.38 pieces in all 105 pieces of the longest text 9" in said
    assert max(map(len, done.out.splitlines())) <= 80


def test_training_gives_a_program_all_of_it_as_json(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = run("tokenizer", "train", corpus, "--kind", "word", "--size", 12, "--out", out, "--json").document
    read = open_tokenizer(out)
    assert found.pop("seconds") >= 0
    assert found == {
        "kind": "word", "family": None, "size": 12, "asked": 12, "texts": 20, "words": 12, "skipped": 0, "notes": [],
        "fingerprint": read.fingerprint, "out": str(out), "sample": measure(LINES, [read])[0].plain(),
    }  # fmt: skip


def test_without_a_folder_nothing_is_written(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "nothing was written; --out DIR keeps it" in run("tokenizer", "train", corpus, "--kind", "bytes").out
    assert list(tmp_path.iterdir()) == []


def test_bad_rows_are_left_out_and_counted_where_that_is_asked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "some.jsonl").write_text('{"text": "the bank"}\n{"text": 3}\n{"text": "a river"}\n')
    line = ["tokenizer", "train", tmp_path / "some.jsonl", "--kind", "word", "--json"]
    assert run(*line).err.startswith(f"bough: {tmp_path}/some.jsonl:2: ")
    found = run(*line, "--skip-bad").document
    assert (found["texts"], found["skipped"], found["notes"][-1]) == (2, 1, "1 bad rows were left out")
    run(*line, "--skip-bad", "--out", tmp_path / "out")
    shown = run("tokenizer", "show", tmp_path / "out", "--file", tmp_path / "some.jsonl", "--skip-bad").out
    assert shown.startswith("2 texts, 4 words, 15 bytes; 1 bad rows were left out\n")


def test_memory_may_be_said_in_any_unit(run: Run, corpus: Path) -> None:
    for said in ("1GB", "1.5 gib", "400mb", "2000000000"):
        assert run("tokenizer", "train", corpus, "--kind", "bpe", "--memory", said).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            [],
            "--kind: say which kind to learn; there are " + KINDS,
        ),
        (
            ["--kind", "wordpeice"],
            "--kind: there is no kind 'wordpeice'; did you mean 'wordpiece'?; there are " + KINDS,
        ),
        (["--family", "vit"], "--family vit: reads no text, so there is no vocabulary to learn"),
        (["--kind", "bpe", "--memory", "much"], "--memory much: is no amount of memory; say it such as 2GB or 500MB"),
        (
            ["--kind", "bpe", "--memory", "1MB"],
            "memory: 1,000,000 bytes are too few to learn a vocabulary; allow at least 151,717,728",
        ),
        (
            ["--kind", "bpe", "--size", "20"],
            "size: 20 tokens are too few for 5 special ones and 42 letters; ask for at least 47, " + SMALLER,
        ),
        (["--kind", "bpe", "--size", "-3"], "size: must be a whole number from 1 to 2,147,483,647, not -3"),
        (["--kind", "bytes", "--columns", "text"], "--columns text: must say which part is which column, " + SUCH),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_told_in_one_line(run: Run, corpus: Path, arguments: list[str], said: str) -> None:
    done = run("tokenizer", "train", corpus, *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"bough: {said}\n")


def test_an_empty_corpus_and_an_unreadable_file_end_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    for name, said in (
        ("empty.txt", f"bough: {tmp_path}/empty.txt: holds no rows; name a file that has some\n"),
        ("missing.txt", f"bough: {tmp_path}/missing.txt: there is no such file or folder"),
    ):
        done = run("tokenizer", "train", tmp_path / name, "--kind", "bpe", "--out", tmp_path / "out")
        assert done.code == 2
        assert done.err.startswith(said)
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_place_of_the_folder_is_told_before_anything_is_learnt(run: Run, corpus: Path) -> None:
    done = run("tokenizer", "train", corpus, "--kind", "bpe", "--out", corpus)
    assert (done.code, done.err) == (2, f"bough: --out {corpus}: is a file; name a folder\n")


# encode


def test_ids_of_texts_come_a_line_each_in_order(run: Run, folder: Path, reader: Tokenizer) -> None:
    done = run("tokenizer", "encode", folder, *TEXTS)
    assert done.out.splitlines() == [" ".join(map(str, reader.encode(text).ids)) for text in TEXTS]


def test_a_file_and_stdin_are_read_a_line_at_a_time_however_many_there_are(
    run: Run, folder: Path, reader: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS * 400))
    wanted = [" ".join(map(str, reader.encode(text).ids)) for text in TEXTS] * 400
    assert run("tokenizer", "encode", folder, "--file", path).out.splitlines() == wanted
    for dash in (["-"], ["--file", "-"]):
        with path.open() as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert run("tokenizer", "encode", folder, *dash).out.splitlines() == wanted


def test_json_lines_carry_tokens_places_and_words(run: Run, folder: Path, reader: Tokenizer) -> None:
    [row] = [json.loads(line) for line in run("tokenizer", "encode", folder, "the bank", "--json").out.splitlines()]
    found = reader.encode("the bank")
    assert row == {
        "text": "the bank", "window": 0, "ids": found.ids, "tokens": found.tokens, "segments": [0] * len(found),
        "offsets": [list(one) for one in found.offsets], "words": found.words, "special": found.special, "cut": 0,
    }  # fmt: skip


def test_tokens_are_printed_with_their_blanks_to_be_seen(run: Run, corpus: Path, tmp_path: Path) -> None:
    run("tokenizer", "train", corpus, "--kind", "character", "--out", tmp_path / "letters")
    assert run("tokenizer", "encode", tmp_path / "letters", "a r\tv", "--tokens").out == "a ␣ r <unk> v\n"


def test_pairs_stand_side_by_side_or_with_a_tab_between_them(
    run: Run, folder: Path, reader: Tokenizer, tmp_path: Path
) -> None:
    wanted = f"{' '.join(map(str, reader.encode('the bank', 'a river').ids))}\n"
    assert run("tokenizer", "encode", folder, "--pairs", "the bank", "a river").out == wanted
    (tmp_path / "pairs.tsv").write_text("the bank\ta river\nthe bank\n")
    done = run("tokenizer", "encode", folder, "--pairs", "--file", tmp_path / "pairs.tsv")
    said = f"bough: {tmp_path}/pairs.tsv:2: has 0 tabs, and a pair has one between its texts\n"
    assert (done.code, done.err) == (2, said)
    odd = run("tokenizer", "encode", folder, "--pairs", "alone")
    assert (odd.code, odd.err) == (2, "bough: --pairs: there are 1 texts, which makes no pairs; give two for each\n")


def test_a_limit_is_kept_by_the_policy_that_was_asked(
    run: Run, folder: Path, reader: Tokenizer, tmp_path: Path
) -> None:
    text = "the river bank flooded the money"
    line = ["tokenizer", "encode", folder, text, "--limit", 5]
    assert run(*line).out.split() == [str(one) for one in reader.encode(text, limit=5).ids]
    windows = run(*line, "--policy", "window", "--stride", 1, "--json").out.splitlines()
    assert [json.loads(row)["window"] for row in windows] == list(range(len(windows)))
    assert len(windows) > 2
    (tmp_path / "texts.txt").write_text(f"the\n{text}\n")
    done = run("tokenizer", "encode", folder, "--file", tmp_path / "texts.txt", "--limit", 5, "--policy", "error")
    count = len(reader.encode(text))
    said = f"has {count} tokens, special ones included, and the limit is 5; shorten it, or let --policy be"
    assert done.code == 2
    assert done.err == f"bough: {tmp_path}/texts.txt:2: {said} truncate, head-tail or window\n"
    alone = run("tokenizer", "encode", folder, text, "--policy", "error")
    assert alone.err == "bough: --policy and --stride say how --limit is kept; give that too\n"


# decode


def test_what_was_encoded_is_decoded(run: Run, folder: Path, reader: Tokenizer, tmp_path: Path) -> None:
    ids = reader.encode("the river bank").ids
    assert run("tokenizer", "decode", folder, *ids).out == "the river bank\n"
    assert run("tokenizer", "decode", folder, str(ids)).out == "the river bank\n"
    assert run("tokenizer", "decode", folder, *ids, "--keep-special").out == "[CLS] the river bank [SEP]\n"
    (tmp_path / "ids.txt").write_text(f"{' '.join(map(str, ids))}\n\n{','.join(map(str, ids[1:2]))}\n")
    done = run("tokenizer", "decode", folder, "--file", tmp_path / "ids.txt", "--json")
    assert [json.loads(row) for row in done.out.splitlines()] == [
        {"ids": ids, "text": "the river bank"}, {"ids": [], "text": ""}, {"ids": ids[1:2], "text": "the"}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("99", "id 99 is not in the vocabulary, whose ids are 0 to {last}"),
        ("4294967296", "id 4,294,967,296 is not in the vocabulary, whose ids are 0 to {last}"),
        ("1.5", "'1.5' is no id, which is a whole number from 0 to {last}"),
        ("the", "'the' is no id, which is a whole number from 0 to {last}"),
        ("٣", "'٣' is no id, which is a whole number from 0 to {last}"),
    ],
)
def test_what_is_no_id_is_named_with_its_place(
    run: Run, folder: Path, reader: Tokenizer, tmp_path: Path, word: str, said: str
) -> None:
    told = said.format(last=reader.rows - 1)
    done = run("tokenizer", "decode", folder, "1", word)
    assert (done.code, done.err) == (2, f"bough: {told}\n")
    (tmp_path / "ids.txt").write_text(f"1 2\n1 {word}\n")
    done = run("tokenizer", "decode", folder, "--file", tmp_path / "ids.txt")
    assert (done.code, done.err) == (2, f"bough: {tmp_path}/ids.txt:2: {told}\n")


# show


def test_pieces_stand_over_their_ids_and_places(run: Run, words: Path) -> None:
    rows = run("tokenizer", "show", words, "the Bank river").out.splitlines()
    assert rows == [
        "words  3 pieces, 1 unknown",
        "the Bank    river",
        "7   1 <unk> 6",
        "0:3 4:8     9:14",
        "",
    ]


def test_several_tokenizers_show_the_same_texts_one_under_the_other(run: Run, words: Path, folder: Path) -> None:
    done = run("tokenizer", "show", words, folder, "the bank", "money")
    assert [row.split()[0] for row in done.out.splitlines() if "piece" in row] == ["words", "pieces"] * 2
    rows = [json.loads(row) for row in run("tokenizer", "show", words, folder, "the bank", "--json").out.splitlines()]
    assert [(row["tokenizer"], row["text"]) for row in rows] == [(str(words), "the bank"), (str(folder), "the bank")]
    assert rows[0]["tokens"] == ["the", "bank"]


def test_no_line_is_wider_than_the_terminal_and_none_says_nothing(run: Run, folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = run("tokenizer", "show", folder, "the river bank flooded " * 9 + "x" * 300).out
    assert max(map(len, out.splitlines())) <= 60


def test_bytes_are_shown_as_the_text_they_are(run: Run, corpus: Path, tmp_path: Path) -> None:
    run("tokenizer", "train", corpus, "--kind", "bytes", "--size", 300, "--out", tmp_path / "bytes")
    rows = run("tokenizer", "show", tmp_path / "bytes", "a river 京 é").out.splitlines()
    assert rows[1].split()[:2] == ["a", "␣river"]
    assert rows[1].split()[-2:] == ["\\xc3", "\\xa9"]


def test_what_cannot_be_seen_is_shown_by_a_mark_or_its_number() -> None:
    assert visible(" \t\n\0\x1b\x7f") == "␣⇥↵␀␛␡"
    assert visible("a\u200db\u00a0\ue000") == "a{200D}b{A0}{E000}"
    assert visible("\u0301a") == "◌\u0301a"


def test_colour_tells_words_apart_and_marks_the_unknown(words: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run("tokenizer", "show", words, "the Bank river").out
    assert "\x1b[" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    row = run("tokenizer", "show", words, "the Bank river").out.splitlines()[1]
    grounds = [part.split("m", 1)[0].split("48;2;")[1] for part in row.split("\x1b[") if "48;2;" in part]
    assert len(grounds) == 3
    assert "178;58;72" in grounds[1]
    assert "178;58;72" not in grounds[0] + grounds[2]


def test_a_corpus_is_measured_with_a_column_for_each(run: Run, words: Path, folder: Path, corpus: Path) -> None:
    done = run("tokenizer", "show", words, folder, "--file", corpus)
    rows = {row[:26].strip(): row[26:].split() for row in done.out.splitlines()[1:]}
    assert done.out.splitlines()[0] == "20 texts, 90 words, 460 bytes"
    assert done.out.splitlines()[2].split() == ["words", "pieces"]
    assert rows["tokens in the vocabulary"] == ["12", "60"]
    assert rows["unknown pieces"][-1] == "none"
    found = run("tokenizer", "show", words, folder, "--file", corpus, "--json").document
    wanted = measure(LINES, [open_tokenizer(words), open_tokenizer(folder)])
    assert found == [
        {"tokenizer": str(path), "skipped": 0, **one.plain()} for path, one in zip((words, folder), wanted, strict=True)
    ]


def test_without_texts_a_tokenizer_says_what_it_is(run: Run, folder: Path, reader: Tokenizer) -> None:
    out = run("tokenizer", "show", folder).out
    assert "one text     [CLS] A [SEP]" in out
    assert "two texts    [CLS] A [SEP] B [SEP]" in out
    [found] = run("tokenizer", "show", folder, "--json").document
    assert found["special"]["mask"] == {"token": "[MASK]", "id": 4}
    assert (found["size"], found["fingerprint"]) == (60, reader.fingerprint)


@pytest.mark.parametrize("verb", ["encode", "decode", "show"])
def test_a_folder_without_a_tokenizer_is_told(run: Run, tmp_path: Path, verb: str) -> None:
    done = run("tokenizer", verb, tmp_path, "1")
    assert (done.code, done.err) == (
        2, f"bough: {tmp_path}: has no tokenizer that is known here; put its tokenizer.json there\n"
    )  # fmt: skip


def test_help_comes_without_torch() -> None:
    program = "import sys; from bough.cli import main; main(sys.argv[1:]); print('torch' in sys.modules)"
    line = [sys.executable, "-c", program, "tokenizer", "train", "--help"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_training_encoding_and_showing_load_no_torch(corpus: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from bough.cli import main\n"
        f"for line in (['train', {str(corpus)!r}, '--kind', 'bpe', '--out', 'it'], ['encode', 'it', 'a'],\n"
        f"             ['show', 'it', 'a'], ['show', 'it', '--file', {str(corpus)!r}]):\n"
        "    assert main(['tokenizer', *line]) == 0\n"
        "print('torch' in sys.modules)"
    )
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.endswith("False\n")
