"""Every family's form, trained and saved: the ids and offsets that transformers reads from the folder, and our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import transformers
from scripts import corpus, texts

from bough.errors import BoughError
from bough.families import FAMILIES
from bough.text.learning.kinds import KINDS, Plan
from bough.text.learning.train import train, trained
from bough.text.learning.write import save
from bough.text.reading.read import open_tokenizer
from bough.text.tokenizer import Tokenizer

FORMS = {name: family.text for name, family in FAMILIES.items() if family.text}
NO_PEER = "transformer-xl"
"""Whose tokenizer transformers reads no more."""
SLOW = "xlm"
"""Whose peer has no offsets, and reads some odd letters in other ways than it read them for the model."""
SIZE = 1500
ROLES = ("unk", "pad", "cls", "sep", "mask", "bos")
Made = Callable[[str], tuple[Tokenizer, Path]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A tokenizer in a family's form, and its folder."""
    room = tmp_path_factory.mktemp("trained")
    known: dict[str, Tokenizer] = {}

    def make(family: str) -> tuple[Tokenizer, Path]:
        if family not in known:
            form = FORMS[family]
            found = trained(corpus(), Plan(KINDS[type(form.vocabulary)][0], SIZE), form)
            save(room / family, found.files)
            known[family] = found.tokenizer
        return known[family], room / family

    return make


@pytest.mark.parametrize("family", [one for one in FORMS if one != NO_PEER])
def test_transformers_reads_the_same_ids_and_offsets_from_the_folder(made: Made, family: str) -> None:
    ours, folder = made(family)
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    assert len(theirs) == len(ours)
    for text in texts():
        mine = ours.encode(text)
        assert theirs(text)["input_ids"] == mine.ids, repr(text)
        if family != SLOW:
            assert theirs(text, return_offsets_mapping=True)["offset_mapping"] == mine.offsets, repr(text)
    for text, other in zip(texts(), reversed(texts()), strict=True):
        if other:  # an empty one is none to the peer
            assert theirs(text, other)["input_ids"] == ours.encode(text, other).ids


@pytest.mark.parametrize("family", [one for one in FORMS if one != NO_PEER])
def test_special_tokens_play_the_same_roles_there(made: Made, family: str) -> None:
    ours, folder = made(family)
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    assert {role: getattr(theirs, f"{role}_token_id") for role in ROLES} == {
        role: getattr(ours.specials, role) for role in ROLES
    }


@pytest.mark.parametrize("family", FORMS)
def test_what_is_read_from_the_folder_is_what_was_trained(made: Made, family: str) -> None:
    ours, folder = made(family)
    read = open_tokenizer(folder)
    assert (read.fingerprint, read.specials) == (ours.fingerprint, ours.specials)
    assert [read.encode(text).ids for text in texts()] == [ours.encode(text).ids for text in texts()]


@pytest.mark.parametrize("family", FORMS)
def test_special_tokens_stand_where_the_family_has_them(made: Made, family: str) -> None:
    form, ranked = FORMS[family], sorted(made(family)[0].vocabulary.items(), key=lambda one: one[1])
    tokens = [token for token, _ in ranked]
    assert tokens[: len(form.front)] == list(form.front)
    assert tokens[len(tokens) - len(form.back) :] == list(form.back)


def test_a_vocabulary_of_another_kind_keeps_the_special_tokens_of_the_family() -> None:
    found = train(corpus(), "unigram", SIZE, FORMS["bert"])
    assert found.encode("good", "morning").tokens[0] == "[CLS]"
    assert [found.token(number) for number in range(5)] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_a_tokenizer_takes_the_place_of_another_in_a_folder_whose_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save(folder, trained(["a b"], Plan("bpe", 400), FORMS["xlm"]).files)
    (folder / "model.safetensors").write_bytes(b"weights")
    save(folder, trained(["a b"], Plan("word", 9)).files)
    assert {one.name for one in folder.iterdir()} == {"tokenizer.json", "tokenizer_config.json", "model.safetensors"}
    assert open_tokenizer(folder).encode("a").tokens == ["a"]


def test_capitals_go_or_stay_as_asked_whatever_the_family_does() -> None:
    assert train(["Berlin"], "wordpiece", 60, FORMS["bert"]).encode("Berlin").tokens[1] == "berlin"
    assert train(["Berlin"], "wordpiece", 60, FORMS["bert"], lowercase=False).encode("Berlin").tokens[1] == "Berlin"
    assert train(["Berlin"], "wordpiece", 60).encode("Berlin").tokens[0] == "Berlin"
    assert train(["Berlin Berlin"], "unigram", 60, lowercase=True).encode("Berlin").tokens == ["▁berlin"]


def test_an_unknown_word_of_a_family_is_still_found_by_its_place(made: Made) -> None:
    ours, _ = made("bert")
    found = ours.encode("good ☃ morning")
    [place] = [place for number, place in zip(found.ids, found.offsets, strict=True) if number == ours.specials.unk]
    assert "good ☃ morning"[slice(*place)] == "☃"


def test_training_without_the_library_that_finds_the_words_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from bough.text.reading import moses

    monkeypatch.setattr(moses, "_moses", moses.Moses)
    monkeypatch.setitem(__import__("sys").modules, "sacremoses", None)
    with pytest.raises(BoughError, match=r"sacremoses, which is not installed"):
        train(["a b"], "word", 60, FORMS["transformer-xl"])
