"""What a tokenizer's handle says of texts: tokens, places, words, special tokens, and back again."""

from __future__ import annotations

import json
import re

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import config
from tokenizers import models, processors
from toys import KINDS, bare_merges, merges, suffixed, unigram, wordpiece, words

from bough import ArtefactError, BoughError
from bough.text import Limit, Specials, Tokenizer, Word

TEXT = "The bank  lent, zażółć 東京 👩‍👩‍👧 e\u0301 and\x00then\n"


@pytest.fixture(params=KINDS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return Tokenizer(KINDS[request.param]())


def test_a_text_has_as_many_of_everything_as_it_has_tokens(tokenizer: Tokenizer) -> None:
    for found in (tokenizer.encode(TEXT), tokenizer.encode(TEXT, "the end"), tokenizer.encode("")):
        columns = (found.ids, found.tokens, found.offsets, found.segments, found.words, found.special)
        assert {len(column) for column in columns} == {len(found)}
        # Of an unknown piece Unigram tells the spelling.
        named = zip(found.ids, found.tokens, strict=True)
        assert all(tokenizer.token(one) == token for one, token in named if one != tokenizer.specials.unk)
        assert not found.cut


def test_what_a_text_says_of_itself() -> None:
    found = Tokenizer(wordpiece()).encode("The bank, E\u0301?", "the")
    assert found.tokens == ["[CLS]", "the", "b", "##a", "##n", "##k", "[UNK]", "e", "[UNK]", "[SEP]", "the", "[SEP]"]
    assert found.offsets == [
        (0, 0),
        (0, 3),
        *((n, n + 1) for n in range(4, 9)),
        (10, 11),
        (12, 13),
        (0, 0),
        (0, 3),
        (0, 0),
    ]
    assert found.words == [None, 0, 1, 1, 1, 1, 2, 3, 4, None, 0, None]
    assert found.special == [True] + [False] * 8 + [True, False, True]
    assert found.segments == [0] * 10 + [1] * 2
    assert repr(found) == "Encoding(12 tokens, 0 cut)"


def test_bytes_of_one_letter_all_stand_where_it_stands() -> None:
    found = Tokenizer(bare_merges()).encode("a東b")
    assert found.offsets == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]


def test_ids_alone_are_those_of_the_bodies(tokenizer: Tokenizer) -> None:
    texts = [TEXT, "", "the river"]
    found = tokenizer.encode_all(texts)
    bodies = [[i for i, special in zip(one.ids, one.special, strict=True) if not special] for one in found]
    assert tokenizer.ids(texts) == bodies


def test_many_are_read_as_each_alone_is(tokenizer: Tokenizer) -> None:
    texts, pairs = [TEXT, "", "the river"], ["", "the", TEXT]
    together = tokenizer.encode_all(texts, pairs=pairs)
    assert [one.ids for one in together] == [
        tokenizer.encode(*both).ids for both in zip(texts, pairs, strict=True)
    ]  # fmt: skip


def test_bodies_are_wrapped_without_text_as_texts_are(tokenizer: Tokenizer) -> None:
    first, second = "the river flooded", "a bank"
    one, two = tokenizer.ids([first, second])
    for found, wrapped in (
        (tokenizer.encode(first), tokenizer.wrap(one)),
        (tokenizer.encode(first, second), tokenizer.wrap(one, two)),
        (tokenizer.encode("", ""), tokenizer.wrap([], [])),
    ):
        assert wrapped == (found.ids, found.segments, found.special)


@pytest.mark.parametrize(
    ("kind", "around"),
    [
        ("wordpiece", (((2,), (3,)), ((2,), (3,), (3,)))),
        ("merges", (((0,), (2,)), ((0,), (2, 2), (2,)))),
        ("unigram", (((), (1,)), ((), (1,), (1,)))),
        ("languages", (((), (1, 4)), ((), (), (1, 4)))),
        ("words", (((), ()), ((), (), ()))),
    ],
)
def test_what_stands_around_texts_is_known(kind: str, around: tuple[tuple[tuple[int, ...], ...], ...]) -> None:
    tokenizer = Tokenizer(KINDS[kind]())
    assert (tokenizer.template().around, tokenizer.template(pair=True).around) == around
    assert tokenizer.template(pair=True).length == sum(map(len, around[1]))


def test_a_template_that_wraps_no_body_is_an_error_that_names_the_file() -> None:
    inner = words()
    inner.post_processor = processors.TemplateProcessing("$A $A", "$B $A", [])
    tokenizer = Tokenizer(inner, where="here/tokenizer.json")
    said = r"here/tokenizer\.json: its template does not hold the text once and in order; mend it there"
    with pytest.raises(ArtefactError, match=f"^{said}$"):
        tokenizer.wrap([2])
    assert tokenizer.encode("the").ids == [2, 2]


def test_special_tokens_are_known_by_what_others_call_them() -> None:
    assert Tokenizer(wordpiece()).specials == Specials(unk=1, pad=0, cls=2, sep=3, mask=4)
    assert Tokenizer(merges()).specials == Specials(unk=3, pad=1, cls=0, sep=2, mask=4, bos=0, eos=2)
    assert Tokenizer(unigram()).specials == Specials(unk=2, pad=0, eos=1)
    assert Tokenizer(words()).specials == Specials(unk=1, eos=0)


def test_special_tokens_are_those_that_a_file_names() -> None:
    inner = suffixed()
    named = Specials.named({"cls": "</s>", "mask": "<gone>", "bos": "<s>", "colour": "a"}, inner.token_to_id)
    assert named == Specials(cls=1, bos=0)
    assert Tokenizer(inner, named).specials is named


def test_ids_and_tokens_go_both_ways(tokenizer: Tokenizer) -> None:
    assert all(tokenizer.id(token) == number for token, number in tokenizer.vocabulary.items())
    assert tokenizer.rows == len(tokenizer) == len(tokenizer.vocabulary)
    assert tokenizer.id("no such token") is None
    last = len(tokenizer) - 1
    for number in (-1, last + 1, 2**64):
        with pytest.raises(
            BoughError, match=rf"^id {number}: the vocabulary has no such token; its ids end at {last:,}$"
        ):
            tokenizer.token(number)


def test_ids_may_have_gaps() -> None:
    tokenizer = Tokenizer(tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 40}, unk_token="a")))
    assert (len(tokenizer), tokenizer.rows) == (2, 41)
    assert tokenizer.decode([0, 7, 40]) == "a b"


def test_no_id_is_negative_or_endless() -> None:
    for wrong in (-1, 2**32):
        with pytest.raises(BoughError, match=rf"^id {wrong}: no vocabulary has such a token$"):
            Tokenizer(words()).decode([2, wrong])


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_bytes_come_back_to_the_letter(text: str) -> None:
    tokenizer = Tokenizer(bare_merges())
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_special_tokens_are_left_out_of_text_unless_asked_for() -> None:
    tokenizer = Tokenizer(merges())
    ids = tokenizer.encode("the bank").ids
    assert tokenizer.decode(ids) == "the bank"
    assert tokenizer.decode(ids, keep_special=True) == "<s>the bank</s>"


def test_a_tokenizer_written_and_read_again_does_the_same(tokenizer: Tokenizer) -> None:
    again = Tokenizer.from_json(tokenizer.to_json().encode(), "again")
    assert again.encode(TEXT, "the").ids == tokenizer.encode(TEXT, "the").ids
    assert again.to_json() == tokenizer.to_json()


def test_cutting_and_padding_that_a_file_asks_for_are_not_done() -> None:
    inner = wordpiece()
    plain = Tokenizer(wordpiece()).encode(TEXT).ids
    inner.enable_truncation(4)
    inner.enable_padding(length=99)
    assert Tokenizer.from_json(inner.to_str().encode(), "it").encode(TEXT).ids == plain


def test_merges_that_a_file_would_drop_at_random_are_all_made() -> None:
    inner = bare_merges()
    inner.model.dropout = 0.5
    tokenizer = Tokenizer.from_json(inner.to_str().encode(), "it")
    assert {tuple(tokenizer.encode(TEXT).ids) for _ in range(9)} == {tuple(Tokenizer(bare_merges()).encode(TEXT).ids)}


def test_every_text_has_a_defined_result(tokenizer: Tokenizer) -> None:
    for text in ("", " ", "\x00", "\x00\x01", "[CLS]", "</s>", "<mask>", "\ufeff", "\u202e", "\ufffe"):
        found = tokenizer.encode(text)
        assert tokenizer.wrap(tokenizer.ids([text])[0])[0] == found.ids
        assert isinstance(tokenizer.decode(found.ids), str)


def test_of_an_empty_text_what_stands_around_it_is_left() -> None:
    assert Tokenizer(wordpiece()).encode("").tokens == ["[CLS]", "[SEP]"]
    assert Tokenizer(words()).encode("").tokens == []


def test_special_tokens_in_a_text_are_tokens_of_the_text() -> None:
    found = Tokenizer(wordpiece()).encode("a [MASK]")
    assert (found.ids, found.special) == ([2, 5, 4, 3], [True, False, False, True])


@pytest.mark.parametrize("ask", ["encode_all", "ids"])
def test_half_a_character_is_no_text_and_is_named(tokenizer: Tokenizer, ask: str) -> None:
    said = "text 1: letter 3 is half a character, U+D83D (a lone surrogate), which no vocabulary has; replace it"
    with pytest.raises(BoughError, match=f"^{re.escape(said)}$") as error:
        getattr(tokenizer, ask)(["a", "ab\ud83d"])
    assert error.value.exit_code == 2


def test_what_is_no_text_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # Users run without the check of annotations, which would complain first.
    monkeypatch.setattr(config, "jaxtyping_disable", True)
    with pytest.raises(BoughError, match=r"^text 1: must be text, not None$"):
        Tokenizer(words()).encode_all(["a", None])


def test_there_is_a_pair_for_each_text() -> None:
    with pytest.raises(BoughError, match=r"^pairs: there are 1 for 2 texts; give one for each$"):
        Tokenizer(words()).encode_all(["a", "b"], pairs=["a"])


def test_a_letter_that_a_vocabulary_has_nothing_for_is_an_error_that_names_its_file() -> None:
    tokenizer = Tokenizer(tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="?")), where="x/tokenizer.json")
    said = (
        "x/tokenizer.json: the tokenizers library refuses it (WordLevel error: Missing [UNK] token from the vocabulary)"
    )
    with pytest.raises(ArtefactError, match=f"^{re.escape(said)}$"):
        tokenizer.encode("b")
    assert tokenizer.encode("a").ids == [0]


def _shouted(text: str) -> list[Word]:
    """Words without their hyphens, and small."""
    return [
        Word(
            match.group().replace("-", "").lower(),
            [(place, place + 1) for place in range(match.start(), match.end()) if text[place] != "-"],
        )
        for match in re.finditer(r"\S+", text)
    ]


def test_words_that_are_found_in_python_keep_their_places_in_the_text() -> None:
    tokenizer = Tokenizer(wordpiece(), find=_shouted)
    text, second = "  TH-E  b-a-n", "K"
    found = tokenizer.encode(text, second)
    assert found.tokens == ["[CLS]", "the", "b", "##a", "##n", "[SEP]", "k", "[SEP]"]
    assert found.offsets == [(0, 0), (2, 6), (8, 9), (10, 11), (12, 13), (0, 0), (0, 1), (0, 0)]
    assert found.words == [None, 0, 1, 1, 1, None, 0, None]
    assert tokenizer.ids([text, ""]) == [found.ids[1:5], []]
    assert tokenizer.encode("", "").tokens == ["[CLS]", "[SEP]", "[SEP]"]
    cut = tokenizer.encode(text, limit=Limit(4))
    assert (cut.offsets, cut.cut) == ([(0, 0), (2, 6), (8, 9), (0, 0)], 2)


def test_rules_that_no_tokenizer_json_holds_are_not_lost_in_one() -> None:
    said = "tokenizer: its words are found by rules that no tokenizer.json holds; keep its files"
    with pytest.raises(BoughError, match=f"^{re.escape(said)}$"):
        Tokenizer(wordpiece(), find=_shouted).to_json()


def test_what_is_written_may_have_another_vocabulary() -> None:
    target = Tokenizer(letters := KINDS["letters"]())
    tokenizer = Tokenizer(words(), target=target)
    assert tokenizer.target is target
    assert target.target is target
    assert json.loads(target.to_json())["model"]["vocab"] == letters.get_vocab()
