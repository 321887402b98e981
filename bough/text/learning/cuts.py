"""Where a text may be cut so that the words in its parts are those in the whole; by what finds the words.

Finding words is slow, and nearly all of what short parts say was said before. Nothing is found here: a cut that is
missed costs time, and one that is made has to be sure, for any text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Cut: TypeAlias = Callable[[str], list[str]]

BETWEEN = re.compile(r"(?= [\w!-~])(?<=[\w!-~])")
"""In front of a space at which one word ends and another begins, whatever finds them: it is alone, and stays so."""
UNSURE = re.compile("[\x1c-\x1f\x85]")
"""Blanks to Python that are none to all that find words."""
MARKS = re.compile(r"[!-/:-@\[-`{-~]|[^\s!-/:-@\[-`{-~]+")
"""A mark, which always is a word, or what stands between marks and blanks."""
RUNS = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")
"""What ByteLevel takes for words, as far as texts are in ASCII."""


def nowhere(text: str) -> list[str]:
    """What is a word depends on what is around it."""
    return [text]


def between_words(text: str) -> list[str]:
    """Blanks may be of words, and so begin the part behind them."""
    return BETWEEN.split(text)


def at_blanks(text: str) -> list[str]:
    """Blanks part words, and are of none."""
    return between_words(text) if UNSURE.search(text) else text.split()


def at_marks(text: str) -> list[str]:
    """So do marks, which are words."""
    return between_words(text) if UNSURE.search(text) else MARKS.findall(text)


def by_runs(text: str) -> list[str]:
    """Letters, digits and marks are apart, each with a space in front of them."""
    return between_words(text) if UNSURE.search(text) or not text.isascii() else RUNS.findall(text)
