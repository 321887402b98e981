"""Vocabularies that are corrupt, hostile or not whole: one line that names the file and the place, and no panic."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from carried import LAYOUTS, field, form, piece, sentence_pieces, two_sides, unshifted, word_pieces, write
from jaxtyping import config
from scripts import SENTENCES

from bough.errors import ArtefactError, BoughError
from bough.text.reading.read import open_tokenizer, tokenizer_of
from bough.text.reading.sentencepiece import read_pieces

CUT = "; the file is cut short or no SentencePiece model, fetch it again"
NAME = "; name its token in tokenizer_config.json"
DEEP = "here/vocab.json: refused, because a number in it is too long or it is nested too deep"
LOOPS = "maximum recursion depth exceeded while decoding a JSON array from a unicode string"
ROLES = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
NUMBERS = '{"<|endoftext|>": 0,\n "a": 1,\n "b": 2,\n "ab": 3}'


def said(files: dict[str, Any], family: str) -> str:
    """The complaint about these files, which has to end the command with exit code 3."""
    content = {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
    with pytest.raises(ArtefactError) as caught:
        tokenizer_of(content, "here", form(family))
    assert "\n" not in str(caught.value)
    return str(caught.value)


WORDS = [
    (ROLES + "cat\ndog\ncat\n", "here/vocab.txt:8: 'cat' stands on line 6 as well"),
    (ROLES.encode() + b"caf\xe9\n", "here/vocab.txt:6: not UTF-8 (unexpected end of data); fetch or write it again"),
    ("", "here/vocab.txt: is empty; it needs a token on each line"),
    ("[PAD]\n[CLS]\n[SEP]\n", "here/vocab.txt: has no '[UNK]' for what it does not know" + NAME),
    ("[UNK]\n[SEP]\n", "here/vocab.txt: has no '[CLS]' for what stands around texts" + NAME),
]  # fmt: skip
NUMBERED = [
    ("{", "here/vocab.json:1:2: not JSON (Expecting property name enclosed in double quotes); fetch it again"),
    ('["a", "b"]', "here/vocab.json: must be a JSON object that gives each token its number"),
    ("{}", "here/vocab.json: must be a JSON object that gives each token its number"),
    ('{"a": 0,\n"b": -1}', "here/vocab.json:2: 'b' must have a whole number from 0 up, not -1"),
    ('{"a": 0,\n"b": true}', "here/vocab.json:2: 'b' must have a whole number from 0 up, not True"),
    ('{"a": 0,\n"b": 1e3}', "here/vocab.json:2: 'b' must have a whole number from 0 up, not 1000.0"),
    ('{"a": 99999999999}', "here/vocab.json:1: 'a' must have a whole number from 0 up, not 99999999999"),
    ('{"a": 0,\n"b": 1,\n"a": 2}', "here/vocab.json:3: 'a' is there twice"),
    ('{"a": 0,\n"é": 1,\n"\\u00e8": 1}', "here/vocab.json:3: 'è' has the number 1, which 'é' has"),
    ('{"a": {"b": [1]}}', "here/vocab.json:1: 'a' must have a whole number from 0 up, not [('b', [1])]"),
    ("[" * 100_000, DEEP),
    ('{"a": ' + "9" * 5000 + "}", DEEP),
    (b'{"a": 0,\n"\xff": 1}', "here/vocab.json:2: not UTF-8 (invalid start byte); fetch or write it again"),
]  # fmt: skip
MERGED = [
    ("#version: 0.2\na b\na\n", "here/merges.txt:3: must be two parts with a space between them, not 'a'"),
    ("a b\n\nab b\n", "here/merges.txt:2: must be two parts with a space between them, not ''"),
    ("a b c\n", "here/merges.txt:1: must be two parts with a space between them, not 'a b c'"),
    ("a b\nab b\n", "here/merges.txt:2: 'abb' is not in the vocabulary beside it"),
    ("a z\n", "here/merges.txt:1: 'z' is not in the vocabulary beside it"),
    (b"a b\n\xc3 b\n", "here/merges.txt:2: not UTF-8 (invalid continuation byte); fetch or write it again"),
]


@pytest.mark.parametrize(("content", "complaint"), WORDS)
def test_a_list_of_tokens_that_is_wrong_names_the_line(content: str | bytes, complaint: str) -> None:
    assert said({"vocab.txt": content}, "bert") == complaint


@pytest.mark.parametrize(("content", "complaint"), NUMBERED)
def test_numbers_of_tokens_that_are_wrong_name_the_line(content: str | bytes, complaint: str) -> None:
    assert said({"vocab.json": content, "merges.txt": "#version: 0.2\n"}, "gpt2") == complaint


@pytest.mark.parametrize(("content", "complaint"), MERGED)
def test_merges_that_are_wrong_name_the_line(content: str | bytes, complaint: str) -> None:
    assert said({"vocab.json": NUMBERS, "merges.txt": content}, "gpt2") == complaint


def test_words_of_transformer_xl_may_have_counts_but_no_blank_line() -> None:
    words = "<eos>\n<unk> 12\n\nthe 9\n"
    assert said({"vocab.txt": words}, "transformer-xl") == "here/vocab.txt:3: is blank; each line needs a word"
    found = tokenizer_of({"vocab.txt": words.replace("\n\n", "\n").encode()}, "here", form("transformer-xl"))
    assert found
    assert found.vocabulary == {"<eos>": 0, "<unk>": 1, "the": 2}


def test_words_of_transformer_xl_may_spell_the_unknown_in_capitals() -> None:
    found = tokenizer_of({"vocab.txt": b"<eos>\n<unk>\n<UNK>\n"}, "here", form("transformer-xl"))
    assert found
    assert found.encode("word <unk>").ids == [2, 1]


def test_half_a_layout_names_what_is_missing() -> None:
    assert said({"vocab.json": NUMBERS}, "gpt2") == "here: has vocab.json but no merges.txt; fetch the whole folder"
    both = {"source.spm": b"", "vocab.json": NUMBERS}
    complaint = "here: has source.spm, vocab.json but no target.spm; fetch the whole folder"
    assert said(both, "transformer") == complaint
    separate = {**both, "target.spm": b"", "tokenizer_config.json": '{"separate_vocabs": true}'}
    complaint = "here: has no target_vocab.json, which its settings speak of; fetch the whole folder"
    assert said(separate, "transformer") == complaint


CONFIGS = [
    ('{"unk_token"', "here/tokenizer_config.json:1:13: not JSON (Expecting ':' delimiter)"),
    ("[1]", "here/tokenizer_config.json: must hold a JSON object"),
    ("[" * 100_000, f"here/tokenizer_config.json: cannot be read ({LOOPS}); fetch or write it again"),
    ('{"do_lower_case": "yes"}',
     "here/tokenizer_config.json: vocabulary.words.lowercase: must be true or false, not 'yes'"),
    ('{"mask_token": {"content": 7}}', "here: {'content': 7} is no token with its content and how it is found"),
    ('{"mask_token": {"content": "[MASK]", "lstrip": 1}}',
     "here: {'content': '[MASK]', 'lstrip': 1} is no token with its content and how it is found"),
    ('{"added_tokens_decoder": [1]}',
     "here/tokenizer_config.json: added_tokens_decoder must be a JSON object, not [1]"),
    ('{"added_tokens_decoder": {"-4": {"content": "x"}}}', "here: the added token 'x' needs an id from 0 up, not '-4'"),
    ('{"added_tokens_decoder": {"77": {"content": "x"}}}',
     "here: says that 'x' was added with the id 77, where it can only be 5; fetch the whole folder"),
]  # fmt: skip


def test_settings_of_one_family_are_checked_too() -> None:
    pieces = sentence_pieces(SENTENCES["Latin"] * 20, 120, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    holes = {"spiece.model": pieces, "tokenizer_config.json": '{"extra_ids": -1}'}
    complaint = "here/tokenizer_config.json: extra_ids: must be a whole number from 0 to 10,000, not -1"
    assert said(holes, "t5") == complaint
    shifted = sentence_pieces(SENTENCES["Latin"] * 20, 120)
    for key in ("src_lang", "tgt_lang"):
        files = {"sentencepiece.bpe.model": shifted, "tokenizer_config.json": f'{{"{key}": "xx_XX"}}'}
        complaint = "here/sentencepiece.bpe.model: has no 'xx_XX' for what stands around texts"
        assert said(files, "mbart") == complaint + NAME


@pytest.fixture
def rules_alone() -> Iterator[None]:
    """Without the check of annotations, which would complain of a wrong type before the form does."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.mark.usefixtures("rules_alone")
@pytest.mark.parametrize(("content", "complaint"), CONFIGS)
def test_settings_that_are_wrong_name_the_file(content: str, complaint: str) -> None:
    assert said({"vocab.txt": ROLES, "tokenizer_config.json": content}, "bert") == complaint


# SentencePiece's files


@pytest.fixture(scope="module")
def model() -> bytes:
    return sentence_pieces(SENTENCES["Latin"] * 20, 120, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)


CRAFTED = [
    (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "byte 1: a number has no end" + CUT),
    (b"\x0a\xff\xff\xff\xff\x0f", "byte 6: a field of 4,294,967,295 bytes has 0" + CUT),
    (b"\x0a\x05\x0a\x7fabc", "byte 4: a field of 127 bytes has 3" + CUT),
    (b"\x0b", "byte 1: there is no kind of field 3" + CUT),
    (b"\x08\x01", "byte 1: field 1 is no message" + CUT),
    (field(1, b"\x08\x01"), "byte 2: this is no piece" + CUT),
    (piece(b"\xff"), "byte 4: a piece is not UTF-8" + CUT),
    (b"", "needs one piece that stands for all unknown ones; fetch the file again"),
    (piece(b"a"), "needs one piece that stands for all unknown ones; fetch the file again"),
    (piece(b"<unk>", kind=2) + piece(b"a") + piece(b"a"), "piece 2 is 'a' again, which piece 1 is"),
    (piece(b"<unk>", kind=2) + piece(b"a", float("nan")), "piece 1, 'a', has no finite score"),
    (piece(b"<unk>", kind=2) + field(2, b"\x18\x03"),
     "its pieces are whole words or letters; only unigram and BPE models are read"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "complaint"), CRAFTED)
def test_a_model_of_pieces_that_is_wrong_names_the_byte_or_the_piece(content: bytes, complaint: str) -> None:
    assert said({"spiece.model": content}, "t5") == f"here/spiece.model: {complaint}"


def test_a_model_of_pieces_cut_short_anywhere_is_refused_or_says_all_it_had(model: bytes) -> None:
    whole = read_pieces(model, "here").pieces
    refused = 0
    for length in range(0, len(model), 997):
        try:
            found = read_pieces(model[:length], "here")
        except ArtefactError:
            refused += 1
        else:
            assert found.pieces == whole[: len(found.pieces)]
    assert refused > 50


@pytest.mark.parametrize("family", ["t5", "transformer"])
def test_flipped_bits_are_read_or_refused_and_never_panic(model: bytes, tmp_path: Path, family: str) -> None:
    draw = random.Random(0)
    two_sides(tmp_path)
    others = {name: (tmp_path / name).read_bytes() for name in ("vocab.json", "target.spm", "source.spm")}
    for _ in range(40):
        content = bytearray(model)
        for _ in range(draw.choice((1, 3, 30))):
            content[draw.choice((draw.randrange(len(content)), draw.randrange(3000)))] ^= 1 << draw.randrange(8)
        files = (
            {**others, "source.spm": bytes(content)} if family == "transformer" else {"spiece.model": bytes(content)}
        )
        try:
            found = tokenizer_of(files, "here", form(family))
            assert found
            found.encode("Good morning ½ ﬁne, how are you? 早上好")
        except ArtefactError:
            pass


@pytest.mark.parametrize("family", ["t5", "transformer"])
def test_a_damaged_table_of_what_to_normalise_is_refused_before_it_is_used(
    family: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    two_sides(tmp_path)
    others = {name: (tmp_path / name).read_bytes() for name in ("vocab.json", "target.spm")}
    name = "source.spm" if family == "transformer" else "spiece.model"
    rows = piece(b"<pad>", kind=3) + piece(b"</s>", kind=3) + piece(b"<unk>", kind=2) + piece(b"a", -1.0)
    for table in (b"\x01", b"\xff\xff\xff\x7f", b"\x08\0\0\0" + b"\xff" * 8):
        files = {name: rows + field(3, field(2, table))}
        if family == "t5":
            assert said(files, family).startswith("here/spiece.model: the tokenizers library refuses it (")
        elif len(table) < 8:
            complaint = "here/source.spm: its table of what to normalise is cut short; fetch the file again"
            assert said({**others, **files}, family) == complaint
        else:
            found = tokenizer_of({**others, **files}, "here", form(family))
            assert found
            assert found.encode("any ½ text").ids  # such a table says nothing here
    assert capfd.readouterr().err == ""


def test_pieces_of_another_family_are_refused() -> None:
    usual = sentence_pieces(SENTENCES["Latin"] * 20, 120, bos_id=-1, eos_id=-1)
    complaint = "here/sentencepiece.bpe.model: must begin with three special pieces; it is not of this family"
    assert said({"sentencepiece.bpe.model": usual}, "xlm-roberta") == complaint


# Folders


def test_a_folder_without_a_tokenizer_says_what_to_put_there(tmp_path: Path) -> None:
    with pytest.raises(BoughError) as caught:
        open_tokenizer(tmp_path)
    assert str(caught.value) == f"{tmp_path}: has no tokenizer that is known here; put its tokenizer.json there"
    with pytest.raises(BoughError) as caught:
        open_tokenizer(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: there is no such folder, and no such tokenizer.json"
    assert tokenizer_of({}, "here", form("bert")) is None


def test_a_pickled_vocabulary_is_refused_with_the_remedy(tmp_path: Path) -> None:
    write(tmp_path, vocab__pkl=b"\x80\x04", config__json={"model_type": "transfo-xl"})
    with pytest.raises(ArtefactError) as caught:
        open_tokenizer(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'vocab.pkl'}: refused, because reading a pickle can run programs; put its words beside it as "
        "vocab.txt, one to a line, in the order of their ids"
    )
    write(tmp_path, vocab__txt="<eos>\n<unk>\nword\n")
    assert open_tokenizer(tmp_path).encode("a word").ids == [1, 2]


def test_a_kind_of_tokenizer_that_is_not_known_is_not_taken_for_another(tmp_path: Path) -> None:
    word_pieces(tmp_path, "bert", tokenizer_class="BertJapaneseTokenizer")
    with pytest.raises(BoughError, match="has no tokenizer that is known here"):
        open_tokenizer(tmp_path)


def test_pieces_that_may_be_of_two_families_are_not_taken_for_either(tmp_path: Path) -> None:
    unshifted(tmp_path, "t5")
    (tmp_path / "config.json").unlink()
    with pytest.raises(BoughError, match="has no tokenizer that is known here"):
        open_tokenizer(tmp_path)


@pytest.mark.parametrize("family", ["bert", "gpt2", "gpt", "transformer", "xlm-roberta"])
def test_a_bare_vocabulary_is_read_by_the_look_of_its_files(tmp_path: Path, family: str) -> None:
    LAYOUTS[family](tmp_path, family)
    expected = open_tokenizer(tmp_path).fingerprint
    (tmp_path / "config.json").unlink()
    assert open_tokenizer(tmp_path).fingerprint == expected


def test_words_that_sacremoses_has_to_find_say_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"vocab.txt": b"<eos>\n<unk>\n", "tokenizer_config.json": b'{"language": "lv"}'}
    tokenizer = tokenizer_of(files, "here", form("transformer-xl"))
    assert tokenizer
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "sacremoses", None)
        with pytest.raises(BoughError) as caught:
            tokenizer.encode("any text")
        with pytest.raises(BoughError, match="found by sacremoses"):
            tokenizer.check(rows=2, saved="0" * 64)  # it is not another tokenizer, as far as can be known
    assert str(caught.value) == (
        'tokenizer: these words are found by sacremoses, which is not installed; run `pip install "bough[moses]"`'
    )
    assert tokenizer.encode("any text").ids == [1, 1]
