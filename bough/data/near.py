"""Texts that are nearly the same, found in time linear in their number; numpy comes in, and no text is held.

Two texts are near when, folded, they share enough of their stretches of five letters: the number both have over the
number either has, Jaccard's likeness, is at least a threshold. Folding takes away case, punctuation, white space and
the many spellings that Unicode has of one letter. In a sentence of twenty words, one word may differ at 0.8.

Candidates come from sketches of 64 minima of hashes (Broder 1997), cut into bands of which a near pair has at least
one in common (Leskovec et al., Mining of Massive Datasets, chapter 3). What is told is then counted exactly. A pair
that is just at the threshold is overlooked once in a thousand times, a likelier one much more seldom.
"""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data.draw import mixed

Numbers = NDArray[np.int64]
Hashes = NDArray[np.uint64]

THRESHOLD = 0.8
WIDTH = 5
"""Letters in a stretch: so many that two sentences of one language share few by chance."""
MINIMA = 64
MISSED = 0.001
"""How often a pair at the threshold may be overlooked."""
BACK = 4
"""With how many of those before it a text is paired in a band, besides the first; with all, time would grow squared."""
TRIES = 8
"""So many pairs of one text are counted in vain, the likeliest first, before the rest are taken for no nearer."""
DOUBT = 0.2
"""By how much a sketch may judge two texts too unlike: three standard deviations of the guess and more."""
AT_ONCE = 256
"""As many texts are sketched at once; enough for numpy to be quick, few enough for its caches."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that are near, by their numbers, the earlier first."""

    first: int
    second: int
    likeness: float


class Sketches:
    """What is kept of texts to find near ones: 129 bytes of each, however long it is."""

    def __init__(self) -> None:
        self._minima: list[NDArray[np.uint16]] = []
        self._something: list[NDArray[np.bool_]] = []

    def __len__(self) -> int:
        """How many texts were added."""
        return sum(map(len, self._minima))

    def add(self, texts: Sequence[str]) -> None:
        """Keep sketches of these; texts are numbered in the order in which they come. Hundreds at once are quickest."""
        for start in range(0, len(texts), AT_ONCE):
            folded = [fold(text) for text in texts[start : start + AT_ONCE]]
            self._something.append(np.array([bool(text) for text in folded]))
            self._minima.append(_sketched(folded))

    def candidates(self, threshold: float = THRESHOLD) -> tuple[Numbers, Numbers]:
        """Pairs that may be near, as the numbers of the later texts and of the earlier; each text's likeliest first.

        A text of which folding leaves nothing is near to no other.
        """
        if not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        minima, something = np.concatenate(self._minima), np.flatnonzero(np.concatenate(self._something))
        self._minima = [minima]  # so that they are not held twice
        found = [np.zeros(0, np.int64)]
        for key in _bands(minima, threshold):
            later, earlier = (something[numbers] for numbers in _neighbours(key[something]))
            likely = _guesses(minima, later, earlier) >= threshold - DOUBT
            found.append(later[likely] * len(minima) + earlier[likely])
        second, first = np.divmod(_once(np.concatenate(found)), len(minima))
        order = np.lexsort((first, -_guesses(minima, second, first), second))
        return second[order], first[order]


def pairs(texts: Sequence[str], threshold: float = THRESHOLD, sets: Sequence[int] = ()) -> list[Pair]:
    """Near pairs, in the order of the later ones.

    Not all of n texts that are alike, which would be n squared: enough to hold each group together; and where `sets`
    says of which set each text is, a pair of each text with a text of each set before it that it is near to.
    """
    sketches = Sketches()
    sketches.add(texts)
    return list(confirmed(sketches, texts.__getitem__, threshold, sets))


def groups(texts: Sequence[str], threshold: float = THRESHOLD) -> list[list[int]]:
    """Numbers of texts that hang together by near pairs, in groups of two and more."""
    return grouped(pairs(texts, threshold))


def grouped(near: Sequence[Pair]) -> list[list[int]]:
    """What hangs together by these pairs, in groups of two and more, in order."""
    roots = _Roots()
    for pair in near:
        roots.join(pair.first, pair.second)
    members: dict[int, list[int]] = {}
    for number in sorted({number for pair in near for number in (pair.first, pair.second)}):
        members.setdefault(roots.of(number), []).append(number)
    return list(members.values())


def confirmed(
    sketches: Sketches, text: Callable[[int], str], threshold: float = THRESHOLD, sets: Sequence[int] = ()
) -> Iterator[Pair]:
    """What `pairs` tells, of texts that are asked for by number when a pair has to be counted."""

    @functools.lru_cache(maxsize=1024)
    def counted(number: int) -> Hashes:
        return _distinct(text(number))

    roots, met, failed = _Roots(), set[tuple[int, int]](), Counter[int]()
    later, earlier = sketches.candidates(threshold)
    found: Iterator[tuple[int, int]] = zip(later.tolist(), earlier.tolist(), strict=True)
    for second, first in found:
        meeting = (second, sets[first] if sets else 0)
        told = meeting in met and roots.of(first) == roots.of(second)
        if told or failed[second] == TRIES:
            continue
        likeness = _jaccard(counted(first), counted(second))
        if likeness < threshold:
            failed[second] += 1
            continue
        met.add(meeting)
        roots.join(first, second)
        yield Pair(first, second, likeness)


def likeness(one: str, other: str) -> float:
    """Of the stretches of five letters that either text has, folded, the share that both have."""
    return _jaccard(_distinct(one), _distinct(other))


def fold(text: str) -> str:
    """A text without case, punctuation and the like: its letters, marks, digits and symbols, with blanks between."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_FOLDED).split())


class _Folded(dict[int, int | str]):
    """For each character itself, or a blank where it is punctuation, white space or a control; found out once."""

    def __missing__(self, point: int) -> int | str:
        self[point] = " " if unicodedata.category(chr(point))[0] in "PZC" else point
        return self[point]


_FOLDED = _Folded()


class _Roots:
    """Which numbers hang together; the root of each is the smallest of them."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def of(self, number: int) -> int:
        while (above := self._above.get(number, number)) != number:
            self._above[number] = number = self._above.get(above, above)
        return number

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.of(one), self.of(other)))
        self._above[high] = low


def _stretches(folded: Sequence[str]) -> tuple[Hashes, Numbers]:
    """The hashes of the stretches of texts, end to end, and where each text's start; a short text is one stretch."""
    padded = [text.ljust(WIDTH) for text in folded]
    lengths = np.array([len(text) for text in padded])
    letters = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    hashes = np.zeros(len(letters) - WIDTH + 1, np.uint64)
    for place, factor in enumerate(_PLACES):
        hashes += letters[place : place + len(hashes)] * factor
    ends = np.cumsum(lengths)
    inside = np.ones(len(letters), bool)
    for back in range(1, WIDTH):
        inside[ends - back] = False
    counts = lengths - WIDTH + 1
    return mixed(hashes[inside[: len(hashes)]]), np.cumsum(counts) - counts


def _distinct(text: str) -> Hashes:
    """The stretches of a text, each once."""
    return _once(_stretches([fold(text)])[0])


def _once(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers in order, each once; numpy's own `unique` is many times slower, on few and on many."""
    ordered = np.sort(numbers)
    return ordered[np.concatenate((np.ones(min(1, len(ordered)), bool), ordered[1:] != ordered[:-1]))]


_PLACES = mixed(np.arange(1, WIDTH + 1, dtype=np.uint64)) | np.uint64(1)
_FACTORS = (mixed(np.arange(1, MINIMA + 1, dtype=np.uint64)) >> np.uint64(32)).astype(np.uint32) | np.uint32(1)


def _sketched(folded: Sequence[str]) -> NDArray[np.uint16]:
    """For each text the smallest of its stretches' numbers in each of 64 orders; sixteen bits of each are kept."""
    hashes, starts = _stretches(folded)
    short = (hashes >> np.uint64(32)).astype(np.uint32)
    columns = [np.minimum.reduceat(short * factor, starts) for factor in _FACTORS]
    return np.stack(columns, axis=1).astype(np.uint16)


def _bands(minima: NDArray[np.uint16], threshold: float) -> Iterator[Hashes]:
    """A number for each text and band, made of so many minima that few near pairs have no band in common."""
    deep = next((n for n in range(16, 1, -1) if (1 - threshold**n) ** (MINIMA // n) <= MISSED), 1)
    for start in range(0, MINIMA - deep + 1, deep):
        key = np.zeros(len(minima), np.uint64)
        for column in range(start, start + deep):
            key = mixed(key + minima[:, column])
        yield key


def _neighbours(key: Hashes) -> tuple[Numbers, Numbers]:
    """Pairs of those with the same key: each with the first of its kind, and with some of those before it."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    places = np.arange(len(key))
    opens = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    first = np.maximum.accumulate(np.where(opens, places, 0))
    later: list[Any] = []
    earlier: list[Any] = []
    for partner in (first, *(places - back for back in range(1, BACK + 1))):
        found = np.flatnonzero((partner >= first) & (partner < places))
        later.append(order[found])
        earlier.append(order[partner[found]])
    return np.concatenate(later), np.concatenate(earlier)


def _guesses(minima: NDArray[np.uint16], one: Numbers, other: Numbers) -> NDArray[np.float64]:
    """How like pairs are, by the share of minima that are the same."""
    shares = [np.zeros(0)]
    for start in range(0, len(one), 1 << 16):
        some = slice(start, start + (1 << 16))
        shares.append((minima[one[some]] == minima[other[some]]).mean(axis=1))
    return np.concatenate(shares)


def _jaccard(one: Hashes, other: Hashes) -> float:
    """Of two sets' members the share that is in both."""
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / (len(one) + len(other) - both)
