"""A text as tokens, as the library found them or cut to a limit; what is not asked for is not made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TypeVar

import tokenizers

from bough.text.limits import Spans

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


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring tokens of one text, or special ones."""

    text: int | None
    start: int
    end: int

    def kept(self, spans: Sequence[Spans]) -> Iterable[int]:
        """The numbers of its tokens that stay: all special ones, and the spans of each text."""
        if self.text is None:
            return range(self.start, self.end)
        return (self.start + number for span in spans[self.text] for number in span)


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

    @functools.cached_property
    def runs(self) -> list[Run]:
        """Its texts and the special tokens around them, in order."""
        found: list[Run] = []
        for text, tokens in groupby(self.texts):
            start = found[-1].end if found else 0
            found.append(Run(text, start, start + sum(1 for _ in tokens)))
        return found

    def lengths(self, texts: int) -> tuple[int, ...]:
        """How many tokens each text has."""
        return tuple(sum(run.end - run.start for run in self.runs if run.text == text) for text in range(texts))


def _place(letters: Places, start: int, end: int) -> tuple[int, int]:
    """Where letters of a word stand in the text that it was found in."""
    return (letters[start][0], letters[end - 1][1]) if start < end else (0, 0)


class Encoding:
    """A text or a pair as tokens, special ones included."""

    def __init__(self, found: Found, keep: Sequence[int] | None = None, cut: int = 0) -> None:
        self._found = found
        self._keep = keep
        self.cut = cut
        """How many tokens the limit left out."""

    def __len__(self) -> int:
        return len(self._found if self._keep is None else self._keep)

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
        return column if self._keep is None else [column[number] for number in self._keep]
