"""How each family writes text: every branch that reads says it, and what it says is whole."""

from __future__ import annotations

import pytest
from tokenizers import models

from bough.errors import BoughError
from bough.families import FAMILIES
from bough.families.forms import Bytes, Form, WordPiece
from bough.families.words import Cleaned
from bough.text.assemble import assembled


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_every_family_that_reads_text_says_how_and_none_that_sees_pictures(family: object) -> None:
    assert isinstance(family, type(FAMILIES["bert"]))
    assert (family.text is None) == (family.base.embedding.patches is not None)


@pytest.mark.parametrize("name", [name for name, one in FAMILIES.items() if one.text])
def test_each_special_token_stands_in_one_place_of_a_vocabulary(name: str) -> None:
    form = FAMILIES[name].text
    assert form
    placed = [*form.front, *form.back]
    assert len(placed) == len(set(placed))
    assert set(placed) <= set(form.specials)
    assert set(form.specials) - set(placed) <= {"<formula>"}  # a word of Transformer-XL's, as frequent as it was
    assert {name for pair in (False, True) for name, _ in form.template(pair)} <= {"A", "B", *form.roles}


def test_the_forms_of_published_vocabularies_begin_and_end_as_those_do() -> None:
    ends = {name: (one.text.front, one.text.back) for name, one in FAMILIES.items() if one.text}
    assert ends["bert"][0] == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    assert ends["roberta"] == (("<s>", "<pad>", "</s>", "<unk>"), ("<mask>",))
    assert ends["gpt2"] == ((), ("<|endoftext|>",))
    assert ends["t5"][0] == ("<pad>", "</s>", "<unk>")
    assert ends["t5"][1][0] == "<extra_id_99>"
    assert ends["t5"][1][-1] == "<extra_id_0>"
    assert (ends["mbart"][1][0], ends["mbart"][1][-2:]) == ("ar_AR", ("zh_CN", "<mask>"))
    assert ends["xlm"][0][:5] == ("<s>", "</s>", "<pad>", "<unk>", "<special0>")


def test_a_template_names_only_roles_that_have_a_token() -> None:
    with pytest.raises(BoughError) as caught:
        Form(Bytes(), one="bos A")
    assert str(caught.value) == "one: names 'bos', which is no role that has a token"


def test_a_vocabulary_without_the_tokens_around_texts_is_an_error() -> None:
    form = FAMILIES["bert"].text
    assert form
    model = models.WordPiece({"[UNK]": 0, "[SEP]": 1, "a": 2}, unk_token="[UNK]")
    with pytest.raises(BoughError) as caught:
        assembled(form, model)
    assert str(caught.value) == "the vocabulary has no [CLS], to stand around texts; add a line for each"


def test_a_form_goes_through_json_unchanged() -> None:
    form = FAMILIES["bert"].text
    assert form
    assert Form.from_json(form.to_json()) == form
    assert form.but(**{"vocabulary.words.lowercase": False}).vocabulary == WordPiece(Cleaned(lowercase=False))
