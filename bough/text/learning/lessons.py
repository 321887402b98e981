"""What each kind of vocabulary learns; what comes in are words with their counts, never texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import models

from bough.errors import BoughError
from bough.families.forms import Bytes, Form, Suffixed, WordPiece
from bough.text.learning import merges, unigram
from bough.text.learning.alphabet import BYTES
from bough.text.learning.kinds import Kind, Plan

UNLIKELY = -1000.0
"""The score of bytes and special tokens: less than that of the letters that spell the name of one in a text."""
PREFIX, SUFFIX = "##", "</w>"


@dataclass(frozen=True)
class Lesson:
    """What there is to learn from, and what has to be known."""

    plan: Plan
    form: Form
    counts: Mapping[str, int]
    letters: Sequence[str]
    """Every letter that is to be known, in order."""

    @property
    def front(self) -> list[str]:
        """What stands in front of all that is learnt: special tokens and, to fall back to, bytes."""
        others = [token for token in self.form.specials if token not in self.form.back]
        return list(dict.fromkeys([*self.form.front, *others, *(BYTES if self.plan.falls_back else ())]))

    @property
    def reserved(self) -> list[str]:
        """What is in the vocabulary without being learnt, and so can be no word or piece."""
        return [*self.front, *self.form.back]

    @property
    def marked(self) -> list[str]:
        """The letters, and those with the mark that they carry inside a word or at its end."""
        match self.form.vocabulary:
            case WordPiece():
                return [*self.letters, *(PREFIX + letter for letter in self.letters)]
            case Suffixed():
                return [*self.letters, *(letter + SUFFIX for letter in self.letters)]
            case _:
                return list(self.letters)

    def check(self) -> None:
        """Raise where the size has no room for what has to be known."""
        words = self.plan.kind == "word"
        special, known = len(self.reserved), 1 if words else len(self.marked)
        if self.plan.size < special + known:
            choose = self.plan.kind not in ("word", "bytes")
            raise BoughError(
                f"size: {self.plan.size:,} tokens are too few for {special:,} special ones and {known:,} "
                f"{'word' if words else 'letters'}; ask for at least {special + known:,}"
                f"{', or for a smaller alphabet' if choose else ''}"
            )


@dataclass(frozen=True)
class Learnt:
    """What was learnt: tokens in order, and what makes a model of their ids and those of the reserved ones."""

    tokens: Sequence[str]
    model: Callable[[dict[str, int]], models.Model]
    pairs: Sequence[tuple[str, str]] = ()
    """What is merged, the first ones first."""


def learn(lesson: Lesson) -> Learnt:
    """The vocabulary that was asked for."""
    return LEARNERS[lesson.plan.kind](lesson)


def _words(lesson: Lesson) -> Learnt:
    """The most frequent words, of those as frequent as each other the first by their letters."""
    counts = {word: count for word, count in lesson.counts.items() if count >= lesson.plan.min_count}
    ranked = sorted(counts.keys() - set(lesson.reserved), key=lambda word: (-counts[word], word))
    unk = lesson.form.unk or ""
    return Learnt(ranked[: lesson.plan.size - len(lesson.reserved)], lambda ids: models.WordLevel(ids, unk_token=unk))


def _characters(lesson: Lesson) -> Learnt:
    unk, fallback = lesson.form.unk, lesson.plan.falls_back
    return Learnt(lesson.letters, lambda ids: models.BPE(ids, [], unk_token=unk, byte_fallback=fallback))


def _merges(lesson: Lesson) -> Learnt:
    suffix = SUFFIX if isinstance(lesson.form.vocabulary, Suffixed) else None
    unk = None if isinstance(lesson.form.vocabulary, Bytes) else lesson.form.unk
    said: dict[str, Any] = {"unk_token": unk, "end_of_word_suffix": suffix}
    given = {name: value for name, value in said.items() if value is not None}
    tokens, pairs = _merged(lesson, suffix=suffix)
    fallback = lesson.plan.falls_back
    return Learnt(tokens, lambda ids: models.BPE(ids, pairs, byte_fallback=fallback, **given), pairs)


def _word_pieces(lesson: Lesson) -> Learnt:
    unk = lesson.form.unk or ""
    return Learnt(_merged(lesson, prefix=PREFIX)[0], lambda ids: models.WordPiece(ids, unk_token=unk))


def _merged(
    lesson: Lesson, prefix: str | None = None, suffix: str | None = None
) -> tuple[list[str], list[tuple[str, str]]]:
    """Letters and what was merged of them, and the merges."""
    plan, reserved = lesson.plan, lesson.reserved
    known = [*reserved, *lesson.marked]
    tokens, pairs = merges.learn(lesson.counts, plan.size, known, prefix=prefix, suffix=suffix, least=plan.min_count)
    return tokens[len(reserved) :], pairs


def _pieces(lesson: Lesson) -> Learnt:
    reserved, unseen = lesson.reserved, set(lesson.letters) - set("".join(lesson.counts))
    found = unigram.learn(lesson.counts, lesson.plan.size - len(reserved) - len(unseen), lesson.plan.min_count)
    scores = {piece: score for piece, score in found if piece not in reserved}
    scores |= dict.fromkeys(sorted(unseen), min(scores.values()))
    unk, fallback = lesson.form.unk or "", lesson.plan.falls_back

    def model(ids: dict[str, int]) -> models.Model:
        ranked = sorted(ids, key=ids.__getitem__)
        return models.Unigram([(token, scores.get(token, UNLIKELY)) for token in ranked], ids[unk], fallback)

    return Learnt(list(scores), model)


LEARNERS: dict[Kind, Callable[[Lesson], Learnt]] = {
    "word": _words,
    "character": _characters,
    "bpe": _merges,
    "bytes": _merges,
    "wordpiece": _word_pieces,
    "unigram": _pieces,
}
