"""What a vocabulary does to a corpus: how many pieces words become, how much is unknown, how much of it is used.

Words are what stands between white space, whatever the tokenizer takes for one, so that tokenizers can be compared.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bough.text.learning.count import parts
from bough.text.tokenizer import Tokenizer

WORD = re.compile(r"\S+")
LETTERS, TEXTS = 2**18, 2**10
"""So many letters, or texts, are looked at together."""
PAGE = 2**12
"""Letters of a text that a sample keeps."""
SHARES = ("pieces_per_word", "bytes_per_piece", "pieces_unknown", "words_unknown", "used")
"""What is worked out of the counts."""


@dataclass
class Measure:
    """What was counted; special tokens that stand around texts are left out."""

    vocabulary: int
    """How many ids there are."""
    texts: int = 0
    words: int = 0
    bytes: int = 0
    """Of the texts in UTF-8."""
    pieces: int = 0
    unknown_pieces: int = 0
    unknown_words: int = 0
    """Words of which a piece is unknown."""
    longest: int = 0
    """Pieces of the text that has most."""
    seen: set[int] = field(default_factory=set[int])
    """The ids that occurred."""

    @property
    def pieces_per_word(self) -> float:
        """How many pieces a word becomes."""
        return self.pieces / max(1, self.words)

    @property
    def bytes_per_piece(self) -> float:
        """How much text a piece stands for."""
        return self.bytes / max(1, self.pieces)

    @property
    def pieces_unknown(self) -> float:
        """The share of pieces that are unknown."""
        return self.unknown_pieces / max(1, self.pieces)

    @property
    def words_unknown(self) -> float:
        """The share of words of which a piece is unknown."""
        return self.unknown_words / max(1, self.words)

    @property
    def used(self) -> float:
        """The share of the vocabulary that occurred."""
        return len(self.seen) / max(1, self.vocabulary)

    def plain(self) -> dict[str, int | float]:
        """Every figure by its name."""
        counts = {name: value for name, value in vars(self).items() if name != "seen"}
        return {**counts, **{name: round(getattr(self, name), 6) for name in SHARES}}


def measure(texts: Iterable[str], tokenizers: Sequence[Tokenizer]) -> list[Measure]:
    """What each of the tokenizers does to the same texts, which are read once and in bounded memory."""
    readers = [_Reader(one) for one in tokenizers]
    for some in batches(texts):
        for reader in readers:
            reader.read(some)
    return [reader.found for reader in readers]


class _Reader:
    """One tokenizer, and what was counted with it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.found = Measure(len(tokenizer))
        self._tokenizer = tokenizer
        self._length = 0
        """Pieces of the text so far."""

    def read(self, some: Sequence[tuple[str, bool]]) -> None:
        """Count parts of texts, of which it is said whether they begin one."""
        found, unknown = self.found, self._tokenizer.specials.unk
        rows = self._tokenizer.ids([part for part, _ in some])
        for (part, begins), ids in zip(some, rows, strict=True):
            found.texts += begins
            found.words += sum(1 for _ in WORD.finditer(part))
            found.bytes += len(part.encode())
            found.pieces += len(ids)
            found.seen.update(ids)
            self._length = len(ids) + (0 if begins else self._length)
            found.longest = max(found.longest, self._length)
            if unknown in ids:
                found.unknown_pieces += ids.count(unknown)
                found.unknown_words += self._unknown_words(part)

    def _unknown_words(self, text: str) -> int:
        encoding = self._tokenizer.encode(text)
        words = [match.span() for match in WORD.finditer(text)]
        starts, ends = [start for start, _ in words], [end for _, end in words]
        around = zip(encoding.ids, encoding.offsets, encoding.special, strict=True)
        spans = [span for number, span, special in around if number == self._tokenizer.specials.unk and not special]
        return len(
            {word for start, end in spans for word in range(bisect_right(ends, start), bisect_left(starts, end))}
        )


class Sample:
    """Texts from all over a stream, evenly spread, kept while it passes."""

    def __init__(self, most: int = 1000) -> None:
        self.texts: list[str] = []
        """Of each no more than a page."""
        self._most = most

    def passing(self, texts: Iterable[str]) -> Iterator[str]:
        """The texts as they come."""
        every = 1
        for number, text in enumerate(texts):
            if number % every == 0:
                self.texts.append(text[:PAGE])
            if len(self.texts) > self._most:
                self.texts = self.texts[::2]
                every *= 2
            yield text


def batches(texts: Iterable[str]) -> Iterator[list[tuple[str, bool]]]:
    """Parts of texts, and whether each begins one, as many at a time as are quick to look at together."""
    some: list[tuple[str, bool]] = []
    letters = 0
    for text in texts:
        for number, part in enumerate(parts(text)):
            some.append((part, number == 0))
            letters += len(part)
            if letters > LETTERS or len(some) == TEXTS:
                yield some
                some, letters = [], 0
    if some:
        yield some
