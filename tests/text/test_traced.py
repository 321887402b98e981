"""A text that is rewritten letter by letter: what comes out knows where in the original it comes from."""

from __future__ import annotations

import re

from bough.text.reading.traced import Traced


def said(text: Traced, original: str) -> list[tuple[str, str]]:
    """Each letter with what it stands for."""
    return [(letter, original[start:end]) for letter, (start, end) in zip(text.text, text.spans, strict=True)]


def test_letters_that_a_pattern_keeps_stay_where_they_were() -> None:
    original = "o’o “a,”"
    text = Traced.of(original).replaced(re.compile("([a-z])’([a-z])"), lambda match: match.expand(r"\1'\2"))
    text = text.replaced(re.compile("[“”]"), lambda _: '"').replaced(re.compile('(,)"'), lambda match: f'"{match[1]}')
    assert text.text == 'o\'o "a",'
    assert said(text, original) == [
        *[("o", "o"), ("'", "o’o"), ("o", "o"), (" ", " "), ('"', "“"), ("a", "a"), ('"', "”"), (",", ",")]
    ]
    assert (text.spans[0], text.spans[2]) == ((0, 1), (2, 3))


def test_letters_that_become_several_or_none_take_their_place_with_them() -> None:
    text = Traced.of("aİ\x07b", start=3).mapped(lambda letter: "" if letter < " " else letter.lower())
    assert (text.text, list(text.spans)) == ("ai̇b", [(3, 4), (4, 5), (4, 5), (6, 7)])
    assert text.span(1, 4) == (4, 7)
    assert Traced.of("  a b \n").stripped() == Traced.of("a b", start=2)
    assert Traced.joined([Traced.of("a"), Traced.of("b", start=9)]).spans == [(0, 1), (9, 10)]
