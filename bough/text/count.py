"""Words counted in bounded memory; what comes in are texts, one after the other, and a way to find words in a stretch.

Finding words is slow, and most stretches between two spaces were seen before. So these are counted first, and words are
found in each of them once. What is held is a few million letters of such stretches, and the words with their counts.
Where those take more than they may, the rarest are forgotten until they take half of it; the same texts in the same
order forget the same words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Find: TypeAlias = Callable[[str], list[str]]
"""The words of a stretch of text."""

BETWEEN = re.compile(r" (?<=[\w!-~] )(?=[\w!-~])")
"""A space where one word ends and another begins, whatever finds them: none is beside it, or may come to be."""
CLOSED = re.compile(r"[\w!-~]")
"""A letter behind which a space may be such a one."""
PART = 2**16
"""Letters of a text that are looked at together; twice as many where no space is in sight."""
LETTERS, STRETCHES = 2**23, 2**16
"""So many letters are read, or different stretches held, before words are found in them."""
LINE = 2**12
"""Letters of stretches in which words are found together."""
LONGEST = 256
"""Letters of a word; what is longer is cut into such."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How many bytes a word takes: so many, and so many for each of its letters."""

    word: int
    letter: int

    def of(self, word: str) -> int:
        """What this word takes."""
        return self.word + self.letter * len(word)


HELD = Cost(250, 4)
"""What a word takes while words are counted, at the moment when some are forgotten."""


@dataclass(slots=True)
class Count:
    """The words of texts, and how often each occurs."""

    words: Counter[str] = field(default_factory=Counter[str])
    texts: int = 0
    forgotten: int = 0
    """How many words, each as often as it occurred, there was no room for."""


def counted(texts: Iterable[str], find: Find, room: float, cost: Cost, apart: bool = True) -> Count:
    """The words of the texts, as many as have room in so many bytes, each at the cost that it will have.

    `apart` says that what finds words finds the same ones in the stretches between spaces as in the whole.
    """
    counter = _Counter(find, room)
    for text in texts:
        counter.count.texts += 1
        for part, spaced in parts(text):
            counter.read(BETWEEN.split(part) if apart else [part], spaced, len(part))
    counter.find_words()
    if sum(map(cost.of, counter.count.words)) > room:
        counter.forget(cost, room)
    return counter.count


class _Counter:
    """What is held while texts are read."""

    def __init__(self, find: Find, room: float) -> None:
        self.count = Count()
        self._find, self._room = find, room
        self._cost = self._letters = 0
        self._bare: Counter[str] = Counter()
        self._spaced: Counter[str] = Counter()
        """Stretches in front of which there is a space."""

    def read(self, stretches: list[str], spaced: bool, letters: int) -> None:
        """Count stretches that follow each other; `spaced` says whether there is a space in front of the first."""
        (self._spaced if spaced else self._bare)[stretches[0]] += 1
        self._spaced.update(stretches[1:])
        self._letters += letters
        if self._letters > LETTERS or len(self._bare) + len(self._spaced) > STRETCHES:
            self.find_words()

    def find_words(self) -> None:
        """Hold the words of the stretches in place of them."""
        for stretch, times in self._bare.items():
            self._hold(stretch, times)
        for stretch, times in _together(self._spaced):
            self._hold(stretch, times)
        self._bare.clear()
        self._spaced.clear()
        self._letters = 0
        if self._cost > self._room:
            self._cost = self.forget(HELD, self._room / 2)

    def _hold(self, stretch: str, times: int) -> None:
        words = self.count.words
        for found in self._find(stretch):
            for word in [found] if len(found) <= LONGEST else _cut(found):
                if word not in words:
                    self._cost += HELD.of(word)
                words[word] += times

    def forget(self, cost: Cost, room: float) -> int:
        """Hold only the most frequent words, of those as frequent as each other the first; what those cost."""
        kept: Counter[str] = Counter()
        total = 0
        for word, times in self.count.words.most_common():
            if total + cost.of(word) > room:
                break
            total += cost.of(word)
            kept[word] = times
        self.count.forgotten += self.count.words.total() - kept.total()
        self.count.words = kept
        return total


def parts(text: str) -> Iterator[tuple[str, bool]]:
    """A text in parts, cut at spaces where there are some, and whether there was one in front of each."""
    start, spaced = 0, False
    while len(text) - start > 2 * PART:
        space = BETWEEN.search(text, start + PART, start + 2 * PART)
        end = space.start() if space else start + 2 * PART
        yield text[start:end], spaced
        start, spaced = end + bool(space), bool(space)
    yield text[start:], spaced


def _together(stretches: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Stretches with the spaces in front of them, those that occur equally often side by side, which is quicker."""
    alike: dict[int, str] = {}
    for stretch, times in stretches.items():
        joined = f"{alike.pop(times, '')} {stretch}"
        if len(joined) > LINE or not CLOSED.match(stretch[-1]):
            yield joined, times
        else:
            alike[times] = joined
    for times, joined in alike.items():
        yield joined, times


def _cut(word: str) -> list[str]:
    return [word[start : start + LONGEST] for start in range(0, len(word), LONGEST)]
