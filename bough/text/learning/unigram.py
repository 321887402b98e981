"""Unigram vocabularies (Kudo, 2018) learnt by expectation maximisation; what comes in are words and their counts.

The tokenizers library learns them too, but sums in an order that changes from run to run, so that what it finds does.
Here the order is one: arrays hold a letter's place of every word at once, and are walked from the words' ends to their
starts and back. In their names W is words, or spans of them, and L is the lengths that a piece may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

LONGEST = 16
"""Letters of a piece."""
SEEDS = 1_000_000
"""The pieces that are begun with are at most so many."""
SHRINK, ROUNDS, ROOM = 0.75, 2, 1.1
"""This share of the pieces is kept each time, after so many rounds, until they are this many times what is asked."""
LEAST = 0.5
"""A piece that is expected less often than this is given up; a letter never is."""
BLOCK = 2**18
"""Letters of words that are walked at once."""
DIGITS = 6
"""Of a score; those behind them may differ between processors."""

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
Table: TypeAlias = NDArray[np.int32]
"""For each letter of the words, the number of the piece of each length that begins there; -1 where there is none."""


def learn(counts: Mapping[str, int], size: int, least: int = 1) -> list[tuple[str, float]]:
    """The likeliest pieces, every letter among them, at most `size`, each with the logarithm of how likely it is.

    What occurs less often than `least` is no piece.
    """
    words = sorted(counts, key=lambda word: (-len(word), word))
    letters = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32).astype(np.int64)
    lengths = np.array([len(word) for word in words])
    corpus = Spans(np.cumsum(lengths) - lengths, lengths, np.array([float(counts[word]) for word in words]))
    pieces = _seeds(letters, corpus, max(2, least))
    while True:
        for _ in range(ROUNDS):
            pieces = pieces.refined(corpus)
        if len(pieces.scores) <= max(size * ROOM, pieces.letters):
            break
        pieces = pieces.pruned(corpus, int(max(size * ROOM, len(pieces.scores) * SHRINK)))
    return pieces.spelled("".join(words), size)


@dataclass(frozen=True, eq=False)
class Spans:
    """Stretches of the letters, the longest first, and how much each weighs."""

    starts: Numbers
    lengths: Numbers
    weights: Floats

    def blocks(self) -> Iterator[Spans]:
        """The same a block at a time, so that walking them takes bounded room."""
        first = 0
        while first < len(self.starts):
            part = slice(first, first + max(1, BLOCK // int(self.lengths[first])))
            yield Spans(self.starts[part], self.lengths[part], self.weights[part])
            first = part.stop

    def reach(self) -> list[int]:
        """How many have at least so many letters, for each number of letters and some more, which none has."""
        numbers = range(int(self.lengths[0]) + 1 + LONGEST)
        return [int(np.searchsorted(-self.lengths, -number, side="right")) for number in numbers]


@dataclass(frozen=True, eq=False)
class Pieces:
    """A vocabulary while it is learnt."""

    table: Table
    first: Numbers
    """Where each piece stands in the letters."""
    lengths: Numbers
    scores: Floats
    """The logarithm of how likely each is."""

    @property
    def letters(self) -> int:
        """How many are of one letter."""
        return int((self.lengths == 1).sum())

    def refined(self, corpus: Spans) -> Pieces:
        """One round: how often each piece is to be expected in the words, and how likely it is for that."""
        expected = np.zeros(len(self.scores) + 1)
        for block in corpus.blocks():
            Walk.of(block, self.table, self.scores, together).expect(block.weights, expected)
        expected = expected[:-1]
        kept = self.kept((expected >= LEAST) | (self.lengths == 1), np.maximum(expected, LEAST))
        # The digamma function in place of the logarithm gives less to what is rare, as a prior for few pieces does.
        return Pieces(
            kept.table, kept.first, kept.lengths, _digamma(kept.scores) - _digamma(kept.scores.sum(keepdims=True))
        )

    def pruned(self, corpus: Spans, size: int) -> Pieces:
        """Letters, and those of the other pieces without which the words would be least likely."""
        seen = np.zeros(len(self.scores))
        for block in corpus.blocks():
            for rows, found in Walk.of(block, self.table, self.scores, likeliest).path():
                np.add.at(seen, found, block.weights[rows])
        loss = np.where(self.lengths == 1, np.inf, self._loss(seen))
        keep = np.zeros(len(loss), bool)
        keep[np.argsort(-loss, kind="stable")[: max(size, self.letters)]] = True
        return self.kept(keep & (loss > -np.inf), self.scores)

    def kept(self, keep: NDArray[np.bool_], scores: Floats) -> Pieces:
        """Those that are to be kept, with these scores; the table, too large to copy, is theirs from then on."""
        numbers = np.full(len(keep) + 1, -1, np.int32)
        numbers[:-1][keep] = np.arange(keep.sum(), dtype=np.int32)
        for column in self.table.T:
            column[:] = numbers[column]
        return Pieces(self.table, self.first[keep], self.lengths[keep], scores[keep])

    def spelled(self, text: str, size: int) -> list[tuple[str, float]]:
        """Letters and the likeliest of the others, spelled."""
        found = [text[first : first + length] for first, length in zip(self.first, self.lengths, strict=True)]
        ranked = sorted(zip(found, self.scores, strict=True), key=lambda one: (len(one[0]) > 1, -one[1], one[0]))
        kept = sorted(ranked[:size], key=lambda one: (-one[1], one[0]))
        return [(piece, round(float(score), DIGITS)) for piece, score in kept]

    def _loss(self, seen: Floats) -> Floats:
        """How much less likely the words are without a piece, where it is spelled with its next best pieces."""
        order = np.argsort(-self.lengths, kind="stable")[: len(self.lengths) - self.letters]
        spelled, count = np.zeros(len(seen)), np.zeros(len(seen))
        done = 0
        for block in Spans(self.first[order], self.lengths[order], seen[order]).blocks():
            numbers = order[done : done + len(block.starts)]
            done += len(block.starts)
            for rows, found in Walk.of(block, self.table, self.scores, likeliest, whole=False).path():
                with np.errstate(divide="ignore"):
                    spelled[numbers[rows]] += np.log(seen[found] + block.weights[rows])
                count[numbers[rows]] += 1
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = np.log(seen) - np.log(seen.sum())
            loss = seen * (alone - spelled + count * np.log(seen.sum() + seen * (count - 1)))
        return np.where(seen > 0, loss, -np.inf)


@dataclass(frozen=True, eq=False)
class Walk:
    """All ways to spell spans with pieces. What is listed by place holds the spans that go on from there."""

    reach: list[int]
    pieces: list[Table]
    """By place (L, W): the piece of each length that begins there."""
    ahead: list[Floats]
    """By place (L, W): the score of that piece and of what comes behind it."""
    rest: list[Floats]
    """By place (W): the score of what comes from there on, joined over all pieces."""

    @classmethod
    def of(
        cls, spans: Spans, table: Table, scores: Floats, join: Callable[[Floats], Floats], whole: bool = True
    ) -> Walk:
        """From the ends to the starts; `whole` is whether a piece may be all of a span."""
        known, reach = np.append(scores, -np.inf), spans.reach()
        walk = cls(reach, [], [], [np.zeros(count) for count in reach])
        for place in reversed(range(int(spans.lengths[0]))):
            on = reach[place + 1]
            pieces_LW = np.ascontiguousarray(table[spans.starts[:on] + place].T)
            ahead_LW = known[pieces_LW]
            for length, ahead_W in enumerate(ahead_LW, start=1):
                inside = reach[place + length]
                ahead_W[:inside] += walk.rest[place + length]
                ahead_W[inside:] = -np.inf
                if place == 0 and not whole:
                    ahead_W[reach[length + 1] :] = -np.inf
            walk.rest[place][:on] = join(ahead_LW)
            walk.pieces.insert(0, pieces_LW)
            walk.ahead.insert(0, ahead_LW)
        return walk

    def path(self) -> Iterator[tuple[Numbers, Table]]:
        """The likeliest way: at each place, the spans in which a piece of it begins there, and those pieces."""
        reached = np.zeros((len(self.reach), self.reach[0]), bool)
        reached[0] = True
        for place, (pieces_LW, ahead_LW) in enumerate(zip(self.pieces, self.ahead, strict=True)):
            rows = np.flatnonzero(reached[place, : self.reach[place + 1]])
            chosen = ahead_LW[:, rows].argmax(0)
            reached[place + 1 + chosen, rows] = True
            yield rows, pieces_LW[chosen, rows]

    def expect(self, weights: Floats, expected: Floats) -> None:
        """Add how often each piece is to be expected in the spans, over all ways by how likely each is."""
        flows = [np.zeros(count) for count in self.reach]
        flows[0] += weights
        for place, (pieces_LW, ahead_LW) in enumerate(zip(self.pieces, self.ahead, strict=True)):
            on = self.reach[place + 1]
            flow_LW = np.exp(ahead_LW - self.rest[place][:on]) * flows[place][:on]
            np.add.at(expected, pieces_LW, flow_LW)
            for length, flow_W in enumerate(flow_LW, start=1):
                inside = self.reach[place + length]
                flows[place + length] += flow_W[:inside]


def likeliest(scores_LW: Floats) -> Floats:
    """The best score for each span."""
    return scores_LW.max(0)


def together(scores_LW: Floats) -> Floats:
    """The score of all for each span: likelihoods are added, and scores are their logarithms."""
    top = scores_LW.max(0)
    return top + np.log(np.exp(scores_LW - top).sum(0))


def _digamma(x: Floats) -> Floats:
    """The derivative of the logarithm of the gamma function, by its asymptotic series."""
    lower = np.zeros_like(x)
    for step in range(6):
        lower += 1 / (x + step)
    y = x + 6
    return np.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - 1 / (252 * y**6) - lower


def _seeds(letters: Numbers, corpus: Spans, least: int) -> Pieces:
    """Letters, and what occurs several times and cannot be longer without occurring less: by letters, the most.

    Stretches of one letter more are named by the name of the one without it and that letter, so that equal ones, and
    only those, have equal names.
    """
    ends = np.repeat(corpus.starts + corpus.lengths, corpus.lengths)
    weights = np.repeat(corpus.weights, corpus.lengths)
    alphabet, codes = np.unique(letters, return_inverse=True)
    table = np.full((len(letters), LONGEST), -1, np.int32)
    at, keys = np.arange(len(letters)), codes
    first: list[Numbers] = []
    seen: list[Floats] = []
    within: list[Floats] = []
    for length in range(1, LONGEST + 1):
        spelled, index, names = np.unique(keys, return_index=True, return_inverse=True)
        first.append(at[index])
        seen.append(np.bincount(names, weights[at], len(index)).astype(np.float64))
        within.append(np.zeros(len(index)))
        if length > 1:
            np.maximum.at(within[-2], spelled // len(alphabet), seen[-1])
        table[at, length - 1] = names + sum(map(len, first[:-1]))
        further = (seen[-1][names] >= least) & (at + length < ends[at])
        at, keys = at[further], names[further] * len(alphabet) + codes[at[further] + length]
    lengths = np.repeat(np.arange(1, LONGEST + 1), [len(one) for one in first])
    often = np.concatenate(seen)
    worth = np.where((often >= least) & (often > np.concatenate(within)), often * lengths, 0.0)
    worth[lengths == 1] = np.inf
    keep = np.zeros(len(worth), bool)
    keep[np.argsort(-worth, kind="stable")[: max(SEEDS, len(alphabet))]] = True
    pieces = Pieces(table, np.concatenate(first), lengths, often * lengths)
    kept = pieces.kept(keep & (worth > 0), pieces.scores)
    return Pieces(kept.table, kept.first, kept.lengths, np.log(kept.scores / kept.scores.sum()))
