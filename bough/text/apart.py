"""Special tokens that are spelt out in a text: what words are found in Python takes them out before all else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tokenizers import AddedToken


class Apart:
    """Finds special tokens in texts, the longest of those that begin at one place."""

    def __init__(self, tokens: Sequence[AddedToken]) -> None:
        self._tokens = {one.content: one for one in tokens}
        longest_first = sorted(filter(None, self._tokens), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def __call__(self, text: str) -> Iterator[tuple[int, int, bool]]:
        """Where each part of a text starts and ends, and whether it is a special token."""
        done = 0
        for match in self._pattern.finditer(text):
            token, (start, end) = self._tokens[match[0]], match.span()
            # One that takes the spaces around it leaves none of them to its neighbours.
            before = start - len(text[done:start]) + len(text[done:start].rstrip()) if token.lstrip else start
            if before > done:
                yield done, before, False
            yield start, end, True
            done = len(text) - len(text[end:].lstrip()) if token.rstrip else end
        if done < len(text):
            yield done, len(text), False
