"""A text as tokens, as the library found them or cut to a limit; what is not asked for is not made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

import tokenizers

from bough.errors import BoughError
from bough.text.limits import Limit, places
from bough.text.template import Template

T = TypeVar("T")
Places = Sequence[tuple[int, int]]
"""Where each of some letters, or tokens, starts and ends in a text."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that was found in a text before the library sees it."""

    text: str
    """Its spelling, which need not be the text's."""
    places: Places
    """Where in the text each letter of that spelling comes from."""
    begins: bool = True
    """Whether it begins a word, and is no later piece of the one before."""


Finder = Callable[[str], list[Word]]
"""What finds the words of a text by rules that the library does not have."""


class Found:
    """All that the library found in a text or a pair; each column becomes Python's once, for however many windows."""

    def __init__(self, inner: tokenizers.Encoding, words: Sequence[Sequence[Word]] = ()) -> None:
        self._inner = inner
        self._given = words

    def __len__(self) -> int:
        return len(self._inner)

    @functools.cached_property
    def ids(self) -> list[int]:
        """The id of each token."""
        return self._inner.ids

    @functools.cached_property
    def tokens(self) -> list[str]:
        """The spelling of each token."""
        return self._inner.tokens

    @functools.cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """Where each token stands in its text."""
        found = self._inner.offsets
        if not self._given:
            return found
        # Of words that were given to it, the library says where in its word a token stands.
        rows = zip(self.texts, self._inner.word_ids, found, strict=True)
        return [
            (0, 0) if text is None or word is None else _place(self._given[text][word].places, *offset)
            for text, word, offset in rows
        ]

    @functools.cached_property
    def segments(self) -> list[int]:
        """The segment number of each token."""
        return self._inner.type_ids

    @functools.cached_property
    def words(self) -> list[int | None]:
        """The word that each token is of."""
        found = self._inner.word_ids
        if not self._given:
            return found
        numbers = [list(accumulate(word.begins for word in row)) for row in self._given]
        return [
            None if text is None or word is None else numbers[text][word] - numbers[text][0]
            for text, word in zip(self.texts, found, strict=True)
        ]

    @functools.cached_property
    def texts(self) -> list[int | None]:
        """Which text of a pair each token is of; None for the special ones around them."""
        return self._inner.sequence_ids


def _place(letters: Places, start: int, end: int) -> tuple[int, int]:
    """Where letters of a word stand in the text that it was found in."""
    return (letters[start][0], letters[end - 1][1]) if start < end else (0, 0)


class Encoding:
    """A text or a pair as tokens, special ones included."""

    def __init__(self, found: Found, keep: Sequence[range] | None = None, cut: int = 0) -> None:
        self._found = found
        self._keep = keep
        self.cut = cut
        """How many tokens the limit left out."""

    def __len__(self) -> int:
        return len(self._found) if self._keep is None else sum(map(len, self._keep))

    def __repr__(self) -> str:
        return f"Encoding({len(self)} tokens, {self.cut} cut)"

    @functools.cached_property
    def ids(self) -> list[int]:
        """The id of each token."""
        return self._kept(self._found.ids)

    @functools.cached_property
    def tokens(self) -> list[str]:
        """The spelling of each token."""
        return self._kept(self._found.tokens)

    @functools.cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """Where each token stands in its text, in letters from its start; (0, 0) for the special ones around it."""
        return self._kept(self._found.offsets)

    @functools.cached_property
    def segments(self) -> list[int]:
        """The segment number of each token."""
        return self._kept(self._found.segments)

    @functools.cached_property
    def words(self) -> list[int | None]:
        """The number of the word of its text that each token is of; None for the special ones around it."""
        return self._kept(self._found.words)

    @functools.cached_property
    def special(self) -> list[bool]:
        """Which tokens stand around the texts and are of none."""
        return [text is None for text in self._kept(self._found.texts)]

    def _kept(self, column: list[T]) -> list[T]:
        if self._keep is None:
            return column
        return [one for some in self._keep for one in column[some.start : some.stop]]


def cut(found: Found, limit: Limit, room: int, template: Template, what: str) -> list[Encoding]:
    """What a limit leaves of a text or a pair: one encoding, or the windows it takes; `what` names it in complaints."""
    total = len(found)
    if total <= limit.length:
        return [Encoding(found)]
    if limit.policy == "error":
        raise BoughError(
            f"{what}: has {total:,} tokens, special ones included, and the limit is {limit.length:,}; "
            "shorten it, or let the policy be truncate, head-tail or window"
        )
    body = total - template.length
    first = body if len(template.bodies) == 1 else found.texts.count(0)
    lengths = (first, body - first)[: len(template.bodies)]
    gaps = [len(one) for one in template.around]
    keeps = [places(spans, lengths, gaps) for spans in limit.kept(lengths, room, what)]
    lost = 0 if limit.policy == "window" else total - sum(map(len, keeps[0]))
    return [Encoding(found, keep, lost) for keep in keeps]
