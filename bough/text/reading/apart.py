"""Special tokens that are spelt out in a text: where words are found in Python, they are taken out before all else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


class Apart:
    """Finds special tokens in texts, the longest of those that begin at one place."""

    def __init__(self, tokens: Sequence[str]) -> None:
        longest_first = sorted(filter(None, tokens), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def __call__(self, text: str) -> Iterator[tuple[int, int, bool]]:
        """Where each part of a text starts and ends, and whether it is a special token."""
        done = 0
        for match in self._pattern.finditer(text):
            if match.start() > done:
                yield done, match.start(), False
            yield *match.span(), True
            done = match.end()
        if done < len(text):
            yield done, len(text), False
