"""What a folder says beside its vocabulary: settings, tokens renamed and added, languages; as transformers has it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers
from carried import LAYOUTS, form, two_sides, write
from scripts import corpus, fuzzed, texts

from bough.text.reading.read import open_tokenizer

Folder = Callable[..., Path]
TOKEN = {"__type": "AddedToken", "single_word": False, "rstrip": False, "normalized": False, "special": True}
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("bert", {"do_lower_case": False}),
    ("bert", {"strip_accents": False, "tokenize_chinese_chars": False}),
    ("bert", {"do_lower_case": False, "strip_accents": True}),
    ("bert", {"cls_token": "[SEP]", "unk_token": {"content": "[MASK]", **TOKEN}}),
    ("bert", {"mask_token": {"content": "[MASK]", "lstrip": True, **TOKEN}}),
    ("bert", {"additional_special_tokens": ["one", "[unused7]"], "tokenizer_class": "BertTokenizerFast"}),
    ("gpt2", {"add_prefix_space": True}),
    ("gpt2", {"add_bos_token": True}),
    ("roberta", {"add_prefix_space": True, "trim_offsets": False}),
    ("roberta", {"mask_token": {"content": "<mask>", "lstrip": True, **TOKEN}}),
    ("albert", {"do_lower_case": False, "keep_accents": True}),
    ("xlm-roberta", {"add_prefix_space": False}),
    ("t5", {"extra_ids": 12}),
    ("mbart", {"src_lang": "ro_RO"}),
    ("xlm", {"do_lowercase_and_remove_accent": False}),
]
LINES = [*texts(), *fuzzed(100, seed=8)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A family's folder of its own, with these settings; its vocabulary is made once."""
    room = tmp_path_factory.mktemp("settings")

    def make(family: str, **config: Any) -> Path:
        kept = room / family
        if not kept.exists():
            LAYOUTS[family](kept, family, **({"rule": "identity"} if family == "mbart" else {}))
        folder = room / f"{family}-{len(list(room.iterdir()))}"
        shutil.copytree(kept, folder)
        if config:
            write(folder, tokenizer_config__json=config)
        return folder

    return make


def agree(folder: Path, lines: list[str] = LINES) -> None:
    """Ours and theirs make the same of each text."""
    ours, theirs = open_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    for text, found in zip(lines, ours.encode_all(lines), strict=True):
        one = theirs(text)
        assert (text, found.ids) == (text, one.input_ids)
        if theirs.is_fast:
            assert (text, found.offsets) == (text, one.encodings[0].offsets)


@pytest.mark.parametrize(("family", "config"), SETTINGS, ids=[f"{one}-{'-'.join(said)}" for one, said in SETTINGS])
def test_a_setting_does_what_it_does_in_transformers(made: Folder, family: str, config: dict[str, Any]) -> None:
    agree(made(family, **config))


def test_every_setting_here_changes_some_id_or_offset(made: Folder) -> None:
    def reads(folder: Path) -> list[Any]:
        found = open_tokenizer(folder).encode_all(LINES)
        return [(one.ids, one.offsets) for one in found]

    plain = {family: reads(made(family)) for family, _ in SETTINGS}
    assert [said for family, said in SETTINGS if reads(made(family, **said)) == plain[family]] == []


def test_added_tokens_have_the_ids_that_either_file_gives_them(made: Folder) -> None:
    older, newer = made("bert"), made("gpt2")
    write(older, added_tokens__json={"<ent>": 1501, "Hotel": 1500}, special_tokens_map__json={"cls_token": "[SEP]"})
    write(newer, tokenizer_config__json={
        "added_tokens_decoder": {
            "1200": {"content": "<pad>", "lstrip": True, **TOKEN},
            "1201": {"content": "one", "lstrip": False, **TOKEN, "special": False},
        },
        "pad_token": "<pad>",
    })  # fmt: skip
    lines = [*LINES, "the hotel Hotel <ent>!", "one <pad> alone one"]
    agree(older, lines)
    agree(newer, lines)
    assert open_tokenizer(newer).specials.pad == 1200
    assert open_tokenizer(older).token(1501) == "<ent>"
    assert len(open_tokenizer(older)) == 1502


@pytest.mark.parametrize("family", ["xlm", "transformer"])
def test_tokens_that_take_the_spaces_around_them_do_so_where_words_are_found_in_python(
    made: Folder, family: str
) -> None:
    folder = made(family)
    numbers = json.loads((folder / "vocab.json").read_text())
    flags = {"<unk>": {"lstrip": True}, "<pad>": {"rstrip": True}, "</s>": {"lstrip": True, "rstrip": True}}
    listed = {
        str(numbers[token]): {"content": token, "lstrip": False, **TOKEN, **flag} for token, flag in flags.items()
    }
    write(folder, tokenizer_config__json={"added_tokens_decoder": listed})
    agree(folder, [*LINES, "one <unk> two <pad> three </s> four", "  <pad>   <unk>  ", "<unk><pad> </s>"])


def test_special_tokens_are_found_by_role_whichever_layout_says_them(made: Folder, tmp_path: Path) -> None:
    for family in LAYOUTS:
        tokenizer = open_tokenizer(made(family))
        for role, token in form(family).roles.items():
            if role != "language":
                assert getattr(tokenizer.specials, role) == tokenizer.id(token) is not None, (family, role)


def test_mbart_writes_in_the_language_that_its_folder_says(made: Folder) -> None:
    tokenizer = open_tokenizer(made("mbart", src_lang="en_XX", tgt_lang="ro_RO"))
    assert tokenizer.token(tokenizer.encode("One").ids[-1]) == "en_XX"
    assert tokenizer.token(tokenizer.target.encode("Unu").ids[-1]) == "ro_RO"
    assert tokenizer.target.ids(["Unu"]) == tokenizer.ids(["Unu"])


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_translators_other_side_reads_with_its_own_pieces(tmp_path: Path, kind: str) -> None:
    two_sides(tmp_path, kind=kind)
    ours, theirs = open_tokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
    lines = [line[::-1] for line in LINES]
    assert [one.ids for one in ours.encode_all(LINES)] == [theirs(line).input_ids for line in LINES]
    assert [one.ids for one in ours.target.encode_all(lines)] == [theirs(text_target=line).input_ids for line in lines]


def test_a_translators_two_sides_may_have_a_list_of_numbers_each(tmp_path: Path) -> None:
    two_sides(tmp_path, separate_vocabs=True)
    numbers = json.loads((tmp_path / "vocab.json").read_text())
    write(tmp_path, target_vocab__json={token: len(numbers) - 1 - number for token, number in numbers.items()})
    ours, theirs = open_tokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
    line = corpus()[0][::-1]
    assert ours.ids([line])[0] == theirs(line, add_special_tokens=False).input_ids
    assert ours.target.ids([line])[0] == theirs(text_target=line, add_special_tokens=False).input_ids
