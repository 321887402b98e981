"""SentencePiece's files read without its library: how they normalise, and which pieces they choose."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from carried import field, form, piece, sentence_pieces, two_sides, write, xlm
from scripts import corpus, fuzzed, texts

from bough.text import Tokenizer
from bough.text.reading.charsmap import Charsmap, normalised
from bough.text.reading.pieces import by_order, by_score
from bough.text.reading.read import open_tokenizer, tokenizer_of
from bough.text.reading.sentencepiece import read_pieces

LINES = [*texts(), *fuzzed(1000, seed=9), "foo seafood<sep>foofoo 一三三"]
KINDS: dict[str, dict[str, Any]] = {
    "unigram": {},
    "bpe": {"model_type": "bpe"},
    "unigram-bytes": {"byte_fallback": True, "size": 1100},
    "bpe-bytes": {"byte_fallback": True, "model_type": "bpe", "size": 1100},
    "unigram-nfkc-cf": {"normalization_rule_name": "nmt_nfkc_cf"},
    "unigram-identity": {"normalization_rule_name": "identity"},
    "unigram-spaces": {"remove_extra_whitespaces": False, "add_dummy_prefix": False},
    "unigram-symbols": {"user_defined_symbols": ["foo", "<sep>", "三"]},
}


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def content(request: pytest.FixtureRequest) -> bytes:
    return sentence_pieces(corpus(), **request.param)


def test_text_is_normalised_as_the_library_does_it(content: bytes) -> None:
    theirs, model = sentencepiece.SentencePieceProcessor(model_proto=content), read_pieces(content, "here")
    table = Charsmap(model.charsmap, "here")
    for text in LINES:
        assert normalised(text, 0, model, table).text == theirs.normalize(text), text


def test_pieces_are_those_that_the_library_chooses(content: bytes) -> None:
    theirs, model = sentencepiece.SentencePieceProcessor(model_proto=content), read_pieces(content, "here")
    cut = by_order(model) if model.merges else by_score(model)
    for text in LINES:
        spelt = theirs.normalize(text)
        found: list[str] = []
        for start, end, known in cut(spelt):
            piece = spelt[start:end]
            unknown = [f"<0x{byte:02X}>" for byte in piece.encode()] if model.byte_fallback else [piece]
            found += [piece] if known else unknown
        assert found == theirs.encode(text, out_type=str), text


def crafted(draw: random.Random, merges: bool) -> bytes:
    """A model of few letters and few scores, so that there is always more than one best way to cut a text."""
    known, scores = ["a", "b"], (0.1, 0.3, 1.7, 2.3, 3.3, 5.1)
    while len(known) < 12:
        longer = draw.choice(known) + draw.choice(known)
        known += [longer] if longer not in known and len(longer) < 9 else []
        if draw.random() < 0.05:
            break
    ranked = {text: -float(number) for number, text in enumerate([*known[2:], *known[:2]])}
    liked = {text: -draw.choice(scores) * len(text) for text in known[draw.randrange(2) :]}
    rows = [piece(text.encode(), score) for text, score in (ranked if merges else liked).items()]
    return piece(b"<unk>", kind=2) + b"".join(rows) + field(2, bytes([0x18, 2 if merges else 1]))


@pytest.mark.parametrize("merges", [False, True], ids=["unigram", "bpe"])
def test_what_ties_is_cut_as_the_library_cuts_it(merges: bool) -> None:
    draw = random.Random(0)
    for _ in range(150):
        content = crafted(draw, merges)
        theirs, model = sentencepiece.SentencePieceProcessor(model_proto=content), read_pieces(content, "here")
        cut = by_order(model) if merges else by_score(model)
        for _ in range(10):
            spelt = theirs.normalize("".join(draw.choices(("a", "b", "aa", "abab", "c"), k=draw.randint(1, 25))))
            assert [spelt[start:end] for start, end, _ in cut(spelt)] == theirs.encode(spelt[1:], out_type=str)


def test_an_unknown_letter_costs_what_it_costs_in_the_library() -> None:
    for low in (-9.5, -10.5, -11.5, -12.5, -16.0, -40.0):
        rows = {"ab": -15.0, "cd": low, "bcd": -1.0}
        content = piece(b"<unk>", kind=2) + b"".join(piece(text.encode(), score) for text, score in rows.items())
        theirs, model = sentencepiece.SentencePieceProcessor(model_proto=content), read_pieces(content, "here")
        assert ["▁abcd"[start:end] for start, end, _ in by_score(model)("▁abcd")] == theirs.encode("abcd", out_type=str)


def test_letters_that_are_normalised_together_keep_their_place() -> None:
    model = read_pieces(sentence_pieces(corpus()), "here")
    found = normalised("  ab ½\u3000e\u0301!", 5, model, Charsmap(model.charsmap, "here"))
    assert found.text == "▁ab▁1⁄2▁é!"
    assert found.spans[1:] == [
        *[(7, 8), (8, 9), (9, 10)], *[(10, 11)] * 3, (11, 12), (12, 14), (14, 15)
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_letter_that_no_piece_has_becomes_its_bytes_where_there_are_pieces_for_them(kind: str) -> None:
    places = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    content = sentence_pieces(corpus(), 1100, model_type=kind, byte_fallback=True, **places)
    tokenizer = tokenizer_of({"spiece.model": content}, "here", form("t5"))
    assert tokenizer
    assert tokenizer.encode("Ꙭ!").tokens[:5] == ["▁", "<0xEA>", "<0x99>", "<0xAC>", "!"]
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    sentences = [*corpus()[:200], "Ꙭ ok"]
    rows = tokenizer.ids(sentences)
    assert rows == theirs.encode(sentences)
    assert [tokenizer.decode(row) for row in rows] == theirs.decode(rows)


@pytest.fixture(scope="module", params=["marian", "xlm", "transformer-xl"])
def found_in_python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "transformer-xl":
        write(folder, vocab__txt="<eos>\n<unk>\na\n", config__json={"model_type": "transfo-xl"})
    else:
        {"marian": two_sides, "xlm": xlm}[request.param](folder)
    return open_tokenizer(folder)


@pytest.mark.parametrize("text", [
    lambda length: "a" * length,
    lambda length: "." * length,
    lambda length: " \n" * (length // 2),
    lambda length: random.Random(0).randbytes(length).decode(errors="replace"),
], ids=["one letter", "dots", "spaces", "bytes"])  # fmt: skip
def test_words_found_in_python_take_time_in_line_with_a_text(
    found_in_python: Tokenizer, text: Callable[[int], str]
) -> None:
    def took(length: int) -> float:
        given, start = text(length), time.process_time()
        found_in_python.ids([given])
        return time.process_time() - start

    took(1000)
    short, long = took(2500), took(20_000)
    assert long < 24 * short + 0.2


def test_a_marian_folder_without_a_family_named_is_known_by_its_files(tmp_path: Path) -> None:
    two_sides(tmp_path)
    (tmp_path / "config.json").unlink()
    assert open_tokenizer(tmp_path).encode(">>fr<< Good").tokens[0] == ">>fr<<"
