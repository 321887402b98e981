"""The fingerprint: the same for tokenizers that do the same, another for any other; in the model, and checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from safetensors import safe_open
from tokenizers import models, normalizers, pre_tokenizers, processors
from toys import KINDS, LETTERS, ROLES, bare_merges, letters, merges, suffixed, unigram, wordpiece, words

import bough
from bough import ArtefactError, BoughError
from bough.cli import main
from bough.families import FAMILIES
from bough.model import Model
from bough.text import Tokenizer

REMEDY = (
    "put the tokenizer there that the model was trained with, "
    "or pass over it with ignore=['tokenizer'] (--ignore tokenizer)"
)


def of(inner: tokenizers.Tokenizer) -> str:
    return Tokenizer(inner).fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_what_the_tokenizer_does_whatever_file_it_is_from(kind: str) -> None:
    first = Tokenizer(KINDS[kind]())
    assert re.fullmatch("[0-9a-f]{64}", first.fingerprint)
    compact = json.dumps(json.loads(first.to_json()), sort_keys=True).encode()
    again = Tokenizer.from_json(compact, "again")
    assert again.fingerprint == first.fingerprint


def test_a_vocabulary_read_from_a_list_has_that_of_its_tokenizer_json() -> None:
    pieces = sorted(wordpiece().get_vocab().items(), key=lambda one: one[1])
    inner = tokenizers.Tokenizer(models.WordPiece(dict(pieces), unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)]
    )
    inner.add_special_tokens(list(ROLES))
    assert of(inner) == of(wordpiece())


def test_cutting_and_padding_are_no_part_of_it() -> None:
    inner = wordpiece()
    inner.enable_truncation(7)
    inner.enable_padding(length=64)
    assert of(inner) == of(wordpiece())


def test_it_is_the_same_tomorrow() -> None:
    # A model that was saved says it; where this changes, what files call it has to change too.
    assert of(words())[:16] == "3aa9654e420c3a00"


def _renumbered() -> tokenizers.Tokenizer:
    vocabulary = {one: i for i, one in enumerate(["<unk>", *LETTERS[::-1], " "])}
    return tokenizers.Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))


def _with(make: Callable[[], tokenizers.Tokenizer], **parts: Any) -> tokenizers.Tokenizer:
    inner = make()
    for name, part in parts.items():
        setattr(inner, name, part)
    return inner


def _fewer_merges() -> tokenizers.Tokenizer:
    data = json.loads(bare_merges().to_str())
    # The last one that is a word of its own; its token stays, and nothing makes it.
    data["model"]["merges"].pop()
    return tokenizers.Tokenizer.from_str(json.dumps(data))


CHANGED = {
    "numbers": (letters, _renumbered),
    "normaliser": (wordpiece, lambda: _with(wordpiece, normalizer=normalizers.BertNormalizer(lowercase=False))),
    "accents": (wordpiece, lambda: _with(wordpiece, normalizer=normalizers.BertNormalizer(strip_accents=False))),
    "words": (wordpiece, lambda: _with(wordpiece, pre_tokenizer=pre_tokenizers.WhitespaceSplit())),
    "space in front": (
        bare_merges,
        lambda: _with(bare_merges, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True)),
    ),
    "one merge less": (bare_merges, _fewer_merges),
    "what stands around": (merges, bare_merges),
    "its segments": (
        suffixed,
        lambda: _with(
            suffixed,
            post_processor=processors.TemplateProcessing(
                "<s> $A </s>", "<s> $A </s> $B </s>", [("<s>", 0), ("</s>", 1)]
            ),
        ),
    ),
    "what stands around a pair": (unigram, lambda: unigram(("$A </s>", "$A $B </s>"))),
}


@pytest.mark.parametrize("change", CHANGED)
def test_it_changes_with_what_the_tokenizer_does(change: str) -> None:
    one, other = CHANGED[change]
    assert of(one()) != of(other())


def test_it_is_that_of_both_where_what_is_written_has_another_vocabulary() -> None:
    both = Tokenizer(words(), target=Tokenizer(letters())).fingerprint
    assert both not in (of(words()), of(letters()))
    assert both == Tokenizer(words(), target=Tokenizer(letters())).fingerprint


def test_a_vocabulary_that_has_nothing_for_most_letters_has_one_too() -> None:
    assert of(tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="?")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small BERT that was saved with its tokenizer."""
    family = FAMILIES["bert"]
    spec = family.base.but(
        vocabulary=80, width=8, depth=1, heads=2, outputs=family.outputs.only("pooler", "words")
    )  # fmt: skip
    Model(spec, bough.build(spec), Tokenizer(wordpiece())).save(tmp_path / "model")
    return tmp_path / "model"


def _said(folder: Path) -> dict[str, str]:
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        return file.metadata()


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_model_is_saved_with_its_tokenizer_and_the_fingerprint_of_it(folder: Path) -> None:
    assert _said(folder) == {"format": "pt", "tokenizer": of(wordpiece())}
    assert bough.load(folder).tokenizer.encode("the river").ids == Tokenizer(wordpiece()).encode("the river").ids


def test_saved_again_it_is_the_same_to_the_byte_every_time(folder: Path) -> None:
    before = _contents(folder)
    for number in range(6):
        bough.load(folder).save(folder.parent / str(number))
        assert _contents(folder.parent / str(number)) == before


def test_loading_it_with_another_tokenizer_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inner = wordpiece()
    inner.normalizer = normalizers.BertNormalizer(lowercase=False)
    (folder / "tokenizer.json").write_text(inner.to_str())
    said = (
        f"{folder}/tokenizer.json: is not the tokenizer that the model was saved with "
        f"(fingerprint {of(inner)[:8]}, not {of(wordpiece())[:8]}); {REMEDY}"
    )
    with pytest.raises(ArtefactError, match=f"^{re.escape(said)}$"):
        bough.load(folder)
    assert main(["embed", str(folder), "a text"]) == 3
    assert capsys.readouterr().err == f"bough: {said}\n"


def test_another_tokenizer_can_be_passed_over_and_is_then_its_own(folder: Path) -> None:
    inner = wordpiece()
    inner.normalizer = normalizers.BertNormalizer(lowercase=False)
    (folder / "tokenizer.json").write_text(inner.to_str())
    bough.load(folder, ignore=["tokenizer"]).save(folder)
    assert _said(folder)["tokenizer"] == of(inner)
    bough.load(folder)


def test_it_may_be_written_otherwise_so_long_as_it_does_the_same(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    bough.load(folder)


def test_converting_keeps_it(folder: Path) -> None:
    assert main(["convert", str(folder), str(folder.parent / "new")]) == 0
    assert (folder.parent / "new" / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()


def test_converting_with_another_tokenizer_passed_over_is_the_end_of_it(folder: Path) -> None:
    (folder / "tokenizer.json").write_text(merges().to_str().replace("<mask>", "<musk>"))
    new = folder.parent / "new"
    assert main(["convert", str(folder), str(new), "--ignore", "tokenizer"]) == 0
    assert _said(new) == {"format": "pt"}


def test_the_list_of_words_that_a_tokenizer_json_was_made_of_is_the_same_tokenizer(folder: Path) -> None:
    vocabulary = wordpiece().get_vocab()
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("".join(f"{one}\n" for one in sorted(vocabulary, key=vocabulary.__getitem__)))
    assert bough.load(folder).tokenizer.fingerprint == of(wordpiece())


def test_of_files_from_elsewhere_nothing_is_checked(folder: Path) -> None:
    bough.load(folder, ignore=["tokenizer"])
    model = Model(bough.load(folder).spec, bough.load(folder).net)
    model.save(folder)
    assert _said(folder) == {"format": "pt"}
    (folder / "tokenizer.json").write_text(words().to_str())
    bough.load(folder)


def test_without_its_tokenizer_a_model_is_loaded_and_says_so_when_asked(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    model = bough.load(folder)
    assert len(model.hidden([[1, 2]])) == 1
    said = "tokenizer: the model's folder has none that is known here; put its tokenizer.json there, or give ids"
    with pytest.raises(BoughError, match=f"^{re.escape(said)}$"):
        model.embed(["a"])


def test_a_vocabulary_that_is_larger_than_the_models_is_an_error_that_names_both(folder: Path) -> None:
    inner = wordpiece()
    inner.add_tokens([f"word{number}" for number in range(30)])
    (folder / "tokenizer.json").write_text(inner.to_str())
    said = f"{folder}/tokenizer.json: has ids up to {len(inner.get_vocab()) - 1}, and the model 80 embeddings; {REMEDY}"
    with pytest.raises(ArtefactError, match=f"^{re.escape(said)}$"):
        bough.load(folder)
    assert bough.load(folder, ignore=["tokenizer"]).spec.vocabulary == 80


def test_special_tokens_beyond_the_models_vocabulary_are_an_error_too(folder: Path) -> None:
    inner = wordpiece()
    inner.post_processor = processors.BertProcessing(("[SEP]", 1000), ("[CLS]", 2))
    (folder / "tokenizer.json").write_text(inner.to_str())
    with pytest.raises(ArtefactError, match="has ids up to 1,000, and the model 80 embeddings"):
        bough.load(folder)
