"""Near texts: all that are near are found, nothing else is, in time that grows with their number and no faster."""

from __future__ import annotations

import random
import time

import pytest

from bough.data.near import Pair, Sketches, confirmed, fold, grouped, groups, likeness, pairs

WORDS = [f"{a}{b}{c}" for a in ("bar", "lo", "ste", "mi") for b in ("ran", "ti", "so") for c in ("do", "el", "ny", "k")]


def sentences(count: int, seed: int = 0, words: int = 19) -> list[str]:
    """Sentences that have nothing but words in common."""
    rng = random.Random(seed)
    vocabulary = [f"{rng.choice(WORDS)}{rng.randrange(1000)}" for _ in range(20_000)]
    return [" ".join(rng.choices(vocabulary, k=words)) for _ in range(count)]


def changed(text: str, rng: random.Random) -> str:
    """A text with one of its words replaced."""
    words = text.split()
    words[rng.randrange(len(words))] = "elsewhere"
    return " ".join(words)


def plainly(one: str, other: str) -> float:
    """Jaccard's likeness as its definition has it."""
    a, b = ({text[at : at + 5] for at in range(max(1, len(text) - 4))} for text in (fold(one), fold(other)))
    return len(a & b) / len(a | b)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A dog.", "a  DOG!"),
        ("“Well—done”, he said", "well done he said"),
        ("caf\u00e9", "cafe\u0301"),
        ("ﬁne １２", "fine 12"),
        ("a\x00b\u200bc", "a b c"),
        ("Straße", "STRASSE"),
    ],
)
def test_case_punctuation_white_space_and_spelling_in_unicode_make_no_difference(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert pairs([one, other]) == [Pair(0, 1, 1.0)]


@pytest.mark.parametrize(("one", "other"), [("हिन्दी", "हन्द"), ("fine 😀", "fine 😡"), ("$ 5", "€ 5"), ("ab", "abc")])
def test_marks_symbols_and_letters_do(one: str, other: str) -> None:
    assert pairs([one, other], 1.0) == []


def test_likeness_is_the_share_of_stretches_of_five_letters_that_both_have() -> None:
    rng = random.Random(1)
    for text in sentences(50, words=6):
        other = changed(text, rng)
        assert likeness(text, other) == pytest.approx(plainly(text, other))
    assert likeness("abcdef", "abcdeg") == pytest.approx(1 / 3)
    assert likeness("ab", "ab!") == 1.0
    assert likeness("one thing", "nothing") == pytest.approx(plainly("one thing", "nothing"))


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.9])
def test_every_near_pair_is_found_and_no_other(threshold: float) -> None:
    rng = random.Random(2)
    first = sentences(1500, words=24)
    second = [changed(text, rng) if rng.random() < 0.8 else changed(changed(text, rng), rng) for text in first]
    near = {(n, 1500 + n) for n in range(1500) if plainly(first[n], second[n]) >= threshold}
    assert len(near) > 10
    found = pairs(first + second, threshold)
    assert len(near ^ {(one.first, one.second) for one in found}) <= 2  # of pairs just at it, one in a thousand
    assert all(one.likeness == pytest.approx(plainly(first[one.first], second[one.second - 1500])) for one in found)


def test_a_text_of_punctuation_alone_is_near_to_nothing() -> None:
    assert pairs(["", " ", "!?", "...", "\x00"]) == []
    assert pairs([]) == []


def test_lone_surrogates_are_letters_like_others() -> None:
    assert pairs(["so \ud800 it is", "so \ud800 it is", "so \ud801 it is"], 1.0)[0] == Pair(0, 1, 1.0)


def test_many_that_are_alike_are_one_group_told_by_as_many_pairs() -> None:
    texts = [f"Your order {number:06} was sent on a fine and quiet day in the early spring" for number in range(3000)]
    found = pairs([*texts, *texts[:10], *sentences(20)])
    assert len(found) == 3009
    assert groups([*texts, *sentences(20)]) == [list(range(3000))]


def test_a_text_near_to_another_set_is_told_with_that_set_even_if_it_is_near_to_its_own() -> None:
    text = sentences(1)[0]
    found = pairs([text, text + "!", text.upper(), text + "?"], sets=[0, 0, 1, 1])
    assert [(one.first, one.second) for one in found] == [(0, 1), (0, 2), (0, 3), (2, 3)]


def test_groups_hang_together_by_pairs() -> None:
    assert grouped([Pair(3, 7, 1.0), Pair(1, 2, 0.9), Pair(7, 9, 0.8)]) == [[1, 2], [3, 7, 9]]


def test_the_same_texts_give_the_same_pairs_however_they_are_added() -> None:
    rng = random.Random(3)
    texts = sentences(700)
    texts += [changed(text, rng) for text in texts]
    one_by_one = Sketches()
    for text in texts:
        one_by_one.add([text])
    assert len(one_by_one) == 1400
    assert list(confirmed(one_by_one, texts.__getitem__)) == pairs(texts)


def seconds(texts: list[str]) -> float:
    """What it costs, in time of the processor."""
    start = time.process_time()
    pairs(texts)
    return time.process_time() - start


@pytest.mark.parametrize("kind", ["apart", "alike"])
def test_time_grows_with_the_number_of_texts_and_not_with_its_square(kind: str) -> None:
    apart = sentences(16_000)
    alike = [f"Your order {number:06} was sent on a fine and quiet day in the early spring" for number in range(8_000)]
    texts = apart if kind == "apart" else alike
    few = min(seconds(texts[: len(texts) // 8]) for _ in range(3))
    assert seconds(texts) < 24 * few  # eight times as many; squares would be sixty-four
