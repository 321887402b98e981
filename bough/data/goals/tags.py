"""Labels of words as labels of tokens, by which a text is tagged."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence

WORD = re.compile(r"\S+")
NONE = -1
"""What stands for the label of a token that has none."""


def spread(labels: Sequence[int], text: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """The labels of the words that white space divides, each at the first token of its word."""
    starts = [word.start() for word in WORD.finditer(text)]
    found, last = [NONE] * len(offsets), -1
    for token, (start, end) in enumerate(offsets):
        # A token may begin with the space in front of its word.
        letter = WORD.search(text, start, end)
        word = bisect(starts, letter.start()) - 1 if letter else last
        if word > last:
            found[token], last = labels[word], word
    return found
