"""Words counted in bounded memory; what comes in are texts, one after the other, and a way to find words in them.

Finding words is slow, and most of what stands between two spaces was seen before. So such stretches are counted first,
and words are found in each of them once. What is held is a few million letters of stretches, and the words with their
counts. Where those take more than they may, the rarest are forgotten until they take half of it; the same texts in the
same order forget the same words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from bough.text.learning.cuts import BETWEEN, Cut

CLOSED = re.compile(r"[\w!-~]")
"""A letter behind which a word may be taken to end where a space follows."""
PART = 2**16
"""Letters of a text that are looked at together; twice as many where no space is in sight."""
BATCH = 2**18
"""Letters of texts that are cut into stretches together."""
LETTERS, STRETCHES = 2**23, 2**17
"""So many letters are read, or different stretches held, before words are found in them."""
LINE = 2**12
"""Letters of stretches in which words are found together."""
LONGEST = 256
"""Letters of a word; what is longer is cut into such."""


@dataclass(frozen=True, slots=True)
class Words:
    """How words are found in a text, and how it may be cut so that they are the same in its parts."""

    find: Callable[[str], list[str]]
    cut: Cut
    between: str = ""
    """What parts are laid side by side with; where it is nothing, those can be that begin with a space."""


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


def counted(texts: Iterable[str], words: Words, room: float, cost: Cost) -> Count:
    """The words of the texts, as many as have room in so many bytes, each at the cost that it will have."""
    counter = _Counter(words, room)
    for text in texts:
        counter.count.texts += 1
        if len(text) <= PART:
            counter.read(text)
        else:
            for part in parts(text):
                counter.read(part)
    counter.find_words()
    if sum(map(cost.of, counter.count.words)) > room:
        counter.forget(cost, room)
    return counter.count


class _Counter:
    """What is held while texts are read."""

    def __init__(self, words: Words, room: float) -> None:
        self.count = Count()
        self._words, self._room, self._cost = words, room, 0
        self._texts: list[str] = []
        self._letters = self._more = 0
        self._stretches: Counter[str] = Counter()

    def read(self, part: str) -> None:
        """Take a text, or a part of one."""
        self._texts.append(part)
        self._letters += len(part) + 1
        if self._letters > BATCH:
            self._count()
            if self._more > LETTERS or len(self._stretches) > STRETCHES:
                self.find_words()

    def find_words(self) -> None:
        """Hold the words of what was read in place of it."""
        self._count()
        words = self.count.words
        for stretch, times in _together(self._stretches, self._words.between):
            for found in self._words.find(stretch):
                for word in [found] if len(found) <= LONGEST else _shortened(found):
                    if word not in words:
                        self._cost += HELD.of(word)
                    words[word] += times
        self._stretches.clear()
        self._more = 0
        if self._cost > self._room:
            self._cost = self.forget(HELD, self._room / 2)

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

    def _count(self) -> None:
        self._stretches.update(self._words.cut(self._texts))
        self._texts.clear()
        self._more += self._letters
        self._letters = 0


def parts(text: str) -> Iterator[str]:
    """A text in parts of bounded length, cut where a word begins if there is such a place."""
    start = 0
    while len(text) - start > 2 * PART:
        found = BETWEEN.search(text, start + PART, start + 2 * PART)
        end = found.start() if found else start + 2 * PART
        yield text[start:end]
        start = end
    yield text[start:]


def _together(stretches: Mapping[str, int], between: str) -> Iterator[tuple[str, int]]:
    """Stretches, of which those that occur equally often stand side by side where they may, which is quicker."""
    alike: dict[int, str] = {}
    for stretch, times in stretches.items():
        if not between and not stretch.startswith(" "):
            yield stretch, times
            continue
        joined = alike.pop(times, "") + between + stretch
        if len(joined) > LINE or not CLOSED.match(stretch[-1]):
            yield joined, times
        else:
            alike[times] = joined
    yield from ((joined, times) for times, joined in alike.items())


def _shortened(word: str) -> list[str]:
    return [word[start : start + LONGEST] for start in range(0, len(word), LONGEST)]
