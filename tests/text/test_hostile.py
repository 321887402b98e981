"""A tokenizer.json that is damaged, or made to cost time or to crash: refused by name, in one line, in little time."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import ArtefactError
from bough.cli import main
from bough.families import FAMILIES
from bough.model import Model
from bough.text import Tokenizer
from bough.text.guard import hushed

WHERE = "some/tokenizer.json"
WORDS = {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "b": 2}, "unk_token": "<unk>"}
MERGES = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
PIECES = {"type": "WordPiece", "vocab": {"<unk>": 0, "a": 1}, "unk_token": "<unk>", "continuing_subword_prefix": "##"}
SCORED = {"type": "Unigram", "vocab": [["<unk>", 0], ["a", -1]], "unk_id": 0}
FIRST, SECOND = ({"Sequence": {"id": one, "type_id": 0}} for one in "AB")
LIBRARY = "the tokenizers library refuses it ({})"
REMEDY = "; fetch the file again, or write it again with the tool that made it"
ENDLESS = "one of its regular expressions tries more than ten million ways at one place"


def file(model: dict[str, Any] = WORDS, **parts: Any) -> bytes:
    """A tokenizer.json, its model and these parts as given."""
    whole = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, **parts, "model": model}
    return json.dumps(whole).encode()


def with_(model: dict[str, Any], **changes: Any) -> bytes:
    """One whose model is changed so."""
    return file({**copy.deepcopy(model), **changes})


def added(number: int, token: str) -> dict[str, Any]:
    """An entry of the added tokens."""
    switches = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": token, "special": True, **switches}


def template(single: list[Any], pair: list[Any], **special: Any) -> dict[str, Any]:
    """What stands around texts."""
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special}


def split(expression: str) -> dict[str, Any]:
    """Words cut out by a regular expression."""
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}


def replace(expression: str) -> dict[str, Any]:
    """Text changed by one."""
    return {"type": "Replace", "pattern": {"Regex": expression}, "content": "x"}


BY_LIBRARY = {
    "nothing": (b"", "EOF while parsing a value at line 1 column 0"),
    "not JSON": (b"vocabulary", "expected value at line 1 column 1"),
    "bytes": (bytes(range(128, 256)), "expected value at line 1 column 1"),
    "a list": (b"[]", "invalid type: sequence, expected struct Tokenizer at line 1 column 2"),
    "cut short": (file()[:60], "EOF while parsing a string at line 1 column 60"),
    "deep": (
        b'{"version":"1.0","normalizer":' + b'{"type":"Sequence","normalizers":[' * 10**5,
        "recursion limit exceeded at line 1 column 2173",
    ),
    "deep and no object": (b"[" * 10**7, "invalid type: sequence, expected struct Tokenizer at line 1 column 1"),
    "another version": (file(version="2.0"), "Unknown tokenizer version '2.0' at line 1 column 17"),
    "no model": (file({}), "data did not match any variant of untagged enum ModelUntagged at line 1 column 92"),
    "negative id": (with_(WORDS, vocab={"a": -1}), "invalid value: integer `-1`, expected u32 at line 1 column 153"),
    "id beyond counting": (
        with_(WORDS, vocab={"a": 2**32}),
        "invalid value: integer `4294967296`, expected u32 at line 1 column 161",
    ),
    "id that is no number": (
        with_(WORDS, vocab={"a": "b"}),
        'invalid type: string "b", expected u32 at line 1 column 154',
    ),
    "merges in a circle": (
        with_(MERGES, merges=[["a", "b"], ["b", "a"]]),
        "Token `ba` out of vocabulary at line 1 column 177",
    ),
    "merge of what is not there": (
        with_(MERGES, merges=[["a", "z"]]),
        "Token `z` out of vocabulary at line 1 column 165",
    ),
    "prefix longer than a token": (
        with_(MERGES, continuing_subword_prefix="##########"),
        "range end index 18446744073709551608 out of range for slice of length 2",
    ),
    "dropout beyond one": (
        with_(MERGES, dropout=2.0),
        "Dropout should be between 0 and 1, inclusive at line 1 column 181",
    ),
    "unknown piece beyond": (
        with_(SCORED, unk_id=99),
        "Unable to load vocab UnkIdNotInVocabulary at line 1 column 159",
    ),
    "no pieces": (with_(SCORED, vocab=[]), "Unable to load vocab EmptyVocabulary at line 1 column 135"),
    "score that is no number": (
        with_(SCORED, vocab=[["a", "b"]]),
        'invalid type: string "b", expected f64 at line 1 column 145',
    ),
    "bound that is negative": (
        with_(PIECES, max_input_chars_per_word=-1),
        "invalid value: integer `-1`, expected usize at line 1 column 231",
    ),
    "table of normalisation": (
        file(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        'Precompiled: Error("Cannot parse precompiled_charsmap", line: 0, column: 0)',
    ),
    "template of unknown tokens": (
        file(post_processor=template([{"SpecialToken": {"id": "x", "type_id": 0}}, FIRST], [FIRST, SECOND])),
        "no entry found for key",
    ),
    "template with a second text of one": (
        file(post_processor=template([SECOND], [FIRST, SECOND])),
        "index out of bounds: the len is 1 but the index is 1",
    ),
    "template of unknown tokens, for pairs alone": (
        file(post_processor=template([FIRST], [FIRST, SECOND, {"SpecialToken": {"id": "x", "type_id": 0}}])),
        "no entry found for key",
    ),
    "words of no letters": (
        file(pre_tokenizer={"type": "FixedLength", "length": 0}),
        "chunk size must be non-zero",
    ),
    "expression that is none": (
        file(pre_tokenizer=split("(")),
        "Oniguruma error: end pattern with unmatched parenthesis at line 1 column 141",
    ),
    "expression without end": (
        file(pre_tokenizer=split(r"(?<n>\g<n>)")),
        "Oniguruma error: never ending recursion at line 1 column 152",
    ),
    "(a+)+ between words": (file(pre_tokenizer=split("(a+)+b")), ENDLESS),
    "(a+)+ in words": (file(pre_tokenizer=split("(x+x+)+y")), ENDLESS),
    "(a+)+ in texts": (file(normalizer=replace(r"(\s+)+!")), ENDLESS),
}
BY_US = {
    "one id twice": (with_(WORDS, vocab={"<unk>": 0, "b": 1, "a": 1}), "'a' and 'b' have the same id, 1"),
    "one id twice, added": (
        file(added_tokens=[added(0, "<unk>"), added(0, "[X]")]),
        "gives '[X]' the id 0, where it can only be 3",
    ),
    "added id of another": (file(added_tokens=[added(5, "a")]), "gives 'a' the id 5, where it can only be 1"),
    "added id far beyond": (
        file(added_tokens=[added(10**9, "[X]")]),
        "gives '[X]' the id 1000000000, where it can only be 3",
    ),
    "one id many times": (
        with_(WORDS, vocab=dict.fromkeys("cab", 3)),
        "'a' and 'b' and 'c' have the same id, 3",
    ),
}
REFUSED = {**{case: (content, LIBRARY.format(said)) for case, (content, said) in BY_LIBRARY.items()}, **BY_US}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_unfit_for_every_text_is_refused_by_name(case: str, capfd: pytest.CaptureFixture[str]) -> None:
    content, said = REFUSED[case]
    start = time.process_time()
    with pytest.raises(ArtefactError) as error:
        Tokenizer.from_json(content, WHERE)
    assert time.process_time() - start < 5
    assert str(error.value) == f"{WHERE}: {said}{REMEDY}"
    assert error.value.exit_code == 3
    assert capfd.readouterr().err == "", "of a panic's own trace nothing is left"


def test_what_costs_too_much_but_comes_to_an_end_is_refused_too() -> None:
    said = r": refused, because a text of 64 times 'a' costs it \d+\.\d s; mend its regular expressions$"
    with pytest.raises(ArtefactError, match=f"^{re.escape(WHERE)}{said}"):
        Tokenizer.from_json(file(pre_tokenizer=split("(a|a){21}[b-c]")), WHERE)


def test_a_list_of_added_tokens_without_end_is_refused() -> None:
    content = file(added_tokens=[added(3 + number, f"[{number}]" + "x" * 10**6) for number in range(5)])
    with pytest.raises(ArtefactError, match=f"^{WHERE}: refused, because it has more than 4 MiB of added tokens$"):
        Tokenizer.from_json(content, WHERE)


@pytest.mark.parametrize(
    "expression",
    [
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))",
        r"(?:\.[a-z]+)+",
    ],
)
def test_expressions_that_honest_files_have_are_not_refused(expression: str) -> None:
    assert Tokenizer.from_json(file(pre_tokenizer=split(expression)), WHERE)


def test_an_expression_that_is_endless_for_some_texts_alone_ends_with_an_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    tokenizer = Tokenizer.from_json(file(pre_tokenizer=split("x(a+)+b")), WHERE)
    start = time.process_time()
    with pytest.raises(ArtefactError, match=f"^{re.escape(f'{WHERE}: {LIBRARY.format(ENDLESS)}')}$"):
        tokenizer.encode("x" + "a" * 10**5)
    assert time.process_time() - start < 5
    assert tokenizer.encode("a").ids


def test_the_command_says_it_in_one_line_and_ends_with_three(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bert = FAMILIES["bert"]
    spec = bert.base.but(vocabulary=80, width=8, depth=1, heads=2, outputs=bert.outputs.only())
    Model(spec, bough.build(spec)).save(tmp_path)
    content, said = REFUSED["(a+)+ between words"]
    (tmp_path / "tokenizer.json").write_bytes(content)
    assert main(["embed", str(tmp_path), "a"]) == 3
    assert capfd.readouterr() == ("", f"bough: {tmp_path}/tokenizer.json: {said}{REMEDY}\n")


def test_a_file_larger_than_any_tokenizer_is_not_read(tmp_path: Path) -> None:
    bert = FAMILIES["bert"]
    spec = bert.base.but(vocabulary=80, width=8, depth=1, heads=2, outputs=bert.outputs.only())
    Model(spec, bough.build(spec)).save(tmp_path)
    with (tmp_path / "tokenizer.json").open("wb") as sparse:
        sparse.truncate(2**31)
    with pytest.raises(ArtefactError, match=r"tokenizer\.json: refused, because no such file has more than 64 MiB$"):
        bough.load(tmp_path)


def test_what_others_say_on_stderr_while_a_file_is_opened_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    with hushed():
        os.write(2, b"a warning\n")
    os.write(2, b"another\n")
    assert capfd.readouterr().err == "a warning\nanother\n"


def test_files_that_are_opened_at_once_leave_stderr_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(lambda _: Tokenizer.from_json(file(), WHERE), range(20)))) == 20
    os.write(2, b"still here\n")
    assert capfd.readouterr().err == "still here\n"


def test_a_process_without_stderr_opens_files_too() -> None:
    program = (
        "import os, sys; os.close(2); from bough.text import Tokenizer; "
        "Tokenizer.from_json(sys.stdin.buffer.read(), 'it')"
    )
    assert subprocess.run([sys.executable, "-c", program], input=file(), check=False).returncode == 0
