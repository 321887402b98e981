"""Where a text may be cut so that the words in its parts are those in the whole; by what finds the words.

Finding words is slow, and nearly all of what short parts say was said before. Nothing is found here: a cut that is
missed costs time, and one that is made has to be sure, for any text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

BETWEEN = re.compile(r"(?= [\w!-~])(?<=[\w!-~])")
"""In front of a space at which one word ends and another begins, whatever finds them: it is alone, and stays so."""
UNSURE = "\x1c\x1d\x1e\x1f\x85"
"""Blanks to Python that are none to all that find words."""
MARKS = re.compile(r"[!-/:-@\[-`{-~]|[^\s!-/:-@\[-`{-~]+")
"""A mark, which always is a word, or what stands between marks and blanks."""
RUNS = re.compile(r" ?[A-Za-z]+|'(?:[sdmt]|ll|ve|re)| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")
"""What ByteLevel takes for words, as far as texts are in ASCII."""

Parts = Callable[[str], list[str]]


@dataclass(frozen=True)
class Cut:
    """A way to cut a text into parts: a quick one, and one for the texts that it would not be sure of."""

    quick: Parts
    careful: Parts = BETWEEN.split
    ascii: bool = False
    """Whether the quick one is sure of ASCII alone."""

    def __call__(self, texts: Sequence[str]) -> Iterable[str]:
        """The parts of texts. Most can be seen to be sure by a look at all of them at once."""
        whole = "".join(texts)
        if any(blank in whole for blank in UNSURE):
            return chain.from_iterable(self.quick(one) if self._sure(one) else self.careful(one) for one in texts)
        if not self.ascii or whole.isascii():
            return chain.from_iterable(map(self.quick, texts))
        return chain.from_iterable(self.quick(one) if one.isascii() else self.careful(one) for one in texts)

    def _sure(self, text: str) -> bool:
        return not any(blank in text for blank in UNSURE) and (not self.ascii or text.isascii())


def _whole(text: str) -> list[str]:
    return [text]


NOWHERE = Cut(_whole, _whole)
"""What is a word depends on what is around it."""
BETWEEN_WORDS = Cut(BETWEEN.split)
"""Blanks may be of words, and so begin the part behind them."""
AT_BLANKS = Cut(str.split)
"""Blanks part words, and are of none."""
AT_MARKS = Cut(MARKS.findall)
"""So do marks, which are words."""
BY_RUNS = Cut(RUNS.findall, ascii=True)
"""Letters, digits and marks are apart, each with a space in front of them."""
