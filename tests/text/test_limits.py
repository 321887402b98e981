"""What happens to a text that is too long: what the user asked for, and what other tools do where they can do it."""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import config
from toys import KINDS
from transformers import PreTrainedTokenizerFast

from bough import BoughError
from bough.text import Limit, Tokenizer

FRAMED = ("wordpiece", "merges", "bare_merges", "suffixed", "unigram", "languages")
LONG = "the river flooded the bank that lent the money"
TEXTS = st.lists(st.sampled_from(["the", "a", "b", "c", "river", "bank", "flooded", "aaaa"]), max_size=12).map(" ".join)


@cache
def ours(kind: str) -> Tokenizer:
    return Tokenizer(KINDS[kind]())


@cache
def theirs(kind: str) -> Any:
    return PreTrainedTokenizerFast(tokenizer_object=KINDS[kind]())


def their_windows(kind: str, asked: Any, limit: Limit, cut: bool | str) -> list[list[int]]:
    options = {"max_length": limit.length, "stride": limit.stride, "return_overflowing_tokens": True}
    return theirs(kind)([asked], truncation=cut, **options)["input_ids"]


def special(kind: str, pair: bool) -> int:
    return ours(kind).template(pair).length


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(FRAMED), TEXTS, st.none() | TEXTS, st.integers(0, 30))
def test_truncated_ids_are_those_of_transformers(kind: str, text: str, pair: str | None, room: int) -> None:
    length = special(kind, pair is not None) + 1 + (pair is not None) + room
    cut = ours(kind).encode(text, pair, length)
    # In a list, because alone it takes an empty second text for none.
    asked = [text if pair is None else (text, pair)]
    said = theirs(kind)(asked, truncation=True, max_length=length, return_offsets_mapping=True)
    assert ([cut.ids], [cut.offsets]) == (said["input_ids"], said["offset_mapping"])
    assert cut.cut == len(ours(kind).encode(text, pair)) - len(cut)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FRAMED), TEXTS, st.integers(1, 12), st.integers(0, 6))
def test_windows_of_a_text_are_those_of_transformers(kind: str, text: str, room: int, stride: int) -> None:
    stride = min(stride, room - 1)
    limit = Limit(special(kind, pair=False) + room, "window", stride)
    windows = ours(kind).windows([text], limit)[0]
    assert [one.ids for one in windows] == their_windows(kind, text, limit, True)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FRAMED), TEXTS, TEXTS, st.integers(1, 12), st.integers(0, 6))
def test_windows_of_a_pair_slide_over_the_longer_text_as_transformers_does_when_told_which(
    kind: str, text: str, pair: str, room: int, stride: int
) -> None:
    stride, lengths = min(stride, room - 1), [len(ids) for ids in ours(kind).ids([text, pair])]
    limit = Limit(special(kind, pair=True) + min(lengths) + max(room, 2), "window", stride)
    windows = ours(kind).windows([text], limit, [pair])[0]
    longer = "only_first" if lengths[0] > lengths[1] else "only_second"
    assert [one.ids for one in windows] == their_windows(kind, (text, pair), limit, longer)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FRAMED), TEXTS, st.integers(1, 9), st.integers(0, 8))
def test_every_token_of_a_text_is_in_some_window(kind: str, text: str, room: int, stride: int) -> None:
    stride = min(stride, room - 1)
    whole, framed = ours(kind).encode(text), special(kind, pair=False)
    windows = ours(kind).windows([text], Limit(framed + room, "window", stride))[0]
    bodies = [
        [(i, place) for i, place, special in zip(one.ids, one.offsets, one.special, strict=True) if not special]
        for one in windows
    ]
    joined = bodies[0] + [item for body in bodies[1:] for item in body[stride:]]
    places = zip(whole.ids, whole.offsets, whole.special, strict=True)
    assert joined == [(i, place) for i, place, special in places if not special]
    assert all(before[len(before) - stride :] == after[:stride] for before, after in pairwise(bodies))
    assert all(len(one) <= framed + room and sum(one.special) == framed and not one.cut for one in windows)


def test_of_a_text_cut_to_its_ends_half_of_each_is_left() -> None:
    tokenizer = ours("wordpiece")
    cut = tokenizer.encode("a b c d e f g", limit=Limit(7, "head-tail"))
    assert cut.tokens == ["[CLS]", "a", "b", "c", "f", "g", "[SEP]"]
    assert cut.offsets == [(0, 0), (0, 1), (2, 3), (4, 5), (10, 11), (12, 13), (0, 0)]
    assert cut.words == [None, 0, 1, 2, 5, 6, None]
    assert cut.cut == 2


def test_of_a_pair_cut_to_its_ends_each_text_keeps_its_share() -> None:
    cut = ours("wordpiece").encode("a b c d e f g", "h i", Limit(9, "head-tail"))
    assert cut.tokens == ["[CLS]", "a", "b", "f", "g", "[SEP]", "h", "i", "[SEP]"]
    assert cut.segments == [0] * 6 + [1] * 3
    assert cut.cut == 3


def test_one_token_is_the_first() -> None:
    assert ours("wordpiece").encode("a b c", limit=Limit(3, "head-tail")).tokens == ["[CLS]", "a", "[SEP]"]


def test_a_text_that_fits_is_left_whole_by_every_policy() -> None:
    whole = ours("wordpiece").encode("a b", "c").ids
    for policy in ("error", "truncate", "head-tail", "window"):
        (window,) = ours("wordpiece").windows(["a b"], Limit(len(whole), policy), ["c"])[0]
        assert (window.ids, window.cut) == (whole, 0)


def test_a_text_that_is_too_long_is_an_error_where_that_is_wanted() -> None:
    said = (
        "{what} 1: has {n} tokens, special ones included, and the limit is 8; "
        "shorten it, or let the policy be truncate, head-tail or window"
    )
    tokenizer = ours("wordpiece")
    with pytest.raises(BoughError, match=f"^{re.escape(said.format(what='text', n=9))}$"):
        tokenizer.encode_all(["a", "a b c d e f g"], Limit(8, "error"))
    with pytest.raises(BoughError, match=f"^{re.escape(said.format(what='pair', n='1,004'))}$"):
        tokenizer.encode_all(["a", "a " * 1000], Limit(8, "error"), ["b", "c"])


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (None, "limit: 2 leaves no token for a text beside the 2 special ones; give at least 3"),
        ("a", "limit: 4 leaves no token for each text of a pair beside the 3 special ones; give at least 5"),
    ],
)
def test_a_limit_that_leaves_no_room_for_text_says_so(pair: str | None, said: str) -> None:
    with pytest.raises(BoughError, match=f"^{re.escape(said)}$"):
        ours("wordpiece").encode("", pair, 2 if pair is None else 4)


def test_windows_that_would_never_get_on_say_so() -> None:
    said = (
        "{what} 0: a window has room for {room} tokens{beside}, and with a stride of {stride} would never get on; "
        "give a greater length or a smaller stride"
    )
    tokenizer = ours("wordpiece")
    with pytest.raises(BoughError, match=f"^{re.escape(said.format(what='text', room=3, beside='', stride=3))}$"):
        tokenizer.windows(["a b c d"], Limit(5, "window", 3))
    beside = " beside the 4 tokens of the other text"
    with pytest.raises(BoughError, match=f"^{re.escape(said.format(what='pair', room=0, beside=beside, stride=0))}$"):
        tokenizer.windows(["a b c d"], Limit(6, "window"), ["a b c d"])


def test_windows_are_asked_for_as_windows() -> None:
    said = "limit: the policy 'window' makes several of one text; ask for windows"
    with pytest.raises(BoughError, match=f"^{re.escape(said)}$"):
        ours("wordpiece").encode("a", limit=Limit(9, "window"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((0,), "length: must be a whole number from 1 to 2,147,483,647, not 0"),
        ((9, "truncate", 2), "stride: is for the policy 'window' alone, not 'truncate'; leave it out"),
        ((9, "window", -1), "stride: must be a whole number from 0 to 2,147,483,647, not -1"),
    ],
)
def test_a_limit_checks_itself(given: tuple[Any, ...], said: str) -> None:
    with pytest.raises(BoughError, match=f"^{re.escape(said)}$"):
        Limit(*given)


def test_a_policy_is_one_of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    # Users run without the check of annotations, which would complain first.
    monkeypatch.setattr(config, "jaxtyping_disable", True)
    said = "policy: must be one of 'error', 'truncate', 'head-tail', 'window', not 'cut'"
    with pytest.raises(BoughError, match=f"^{re.escape(said)}$"):
        Limit(9, "cut")


def test_a_limit_changes_nothing_for_the_texts_that_are_read_after() -> None:
    tokenizer = ours("merges")
    draw = random.Random(0)
    whole = tokenizer.encode(LONG).ids
    for _ in range(20):
        tokenizer.encode(LONG, limit=draw.randrange(3, 20))
        assert tokenizer.encode(LONG).ids == whole
