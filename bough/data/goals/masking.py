"""Words hidden in sequences, to be told from the rest: BERT's masks, of single tokens, of whole words or of spans.

Special tokens are never hidden, and never put in place of what is. A share of the units (tokens or words) of each
sequence is hidden; what falls between two whole numbers is up to chance, so that short sequences have their share too.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from bough.data.goals.chance import Chance, Purpose
from bough.data.goals.laid import Given, Laid
from bough.data.goals.runs import Flags, Numbers, Runs
from bough.data.goals.spans import geometric
from bough.errors import BoughError
from bough.text import Tokenizer


@dataclass(frozen=True, eq=False)
class Units:
    """What is hidden whole or not at all."""

    rows: Numbers
    """The tokens that may be hidden, by their rows in the batch."""
    numbers: Numbers
    """The unit that each of them is of."""
    firsts: Numbers
    """The row of each unit's first token."""
    runs: Runs
    """The units of each sequence."""

    @classmethod
    def beginning(cls, laid: Laid, rows: Numbers, begins: Flags) -> Units:
        """Units of neighbouring tokens, by which of them are first."""
        firsts = rows[begins]
        counts = np.bincount(laid.runs.owners[firsts], minlength=len(laid.runs.lengths))
        return cls(rows, begins.cumsum() - 1, firsts, Runs(counts))


@runtime_checkable
class Choice(Protocol):
    """A way to choose what is hidden."""

    def units(self, laid: Laid, rows: Numbers) -> Units:
        """The units of the tokens that may be hidden."""
        ...

    def hidden(self, units: Units, counts: Numbers, chance: Chance) -> tuple[Numbers, Numbers]:
        """The rows to hide, so many units of each sequence; and for each the row whose draw says what is put there."""
        ...


@dataclass(frozen=True)
class Tokens:
    """Any token (BERT, RoBERTa)."""

    def units(self, laid: Laid, rows: Numbers) -> Units:
        return Units.beginning(laid, rows, np.ones(len(rows), np.bool_))

    def hidden(self, units: Units, counts: Numbers, chance: Chance) -> tuple[Numbers, Numbers]:
        ranks = units.runs.ranks(chance(Purpose.MASK_PLACE, units.runs))
        rows = units.rows[(ranks < units.runs.spread(counts))[units.numbers]]
        return rows, rows


@dataclass(frozen=True)
class Words(Tokens):
    """Any word, with all its tokens (BERT's later checkpoints)."""

    def units(self, laid: Laid, rows: Numbers) -> Units:
        if laid.starts is None:
            raise BoughError(
                "starts: the examples do not say where words start; prepare the data with it, or hide single tokens"
            )
        begins = laid.starts[rows] | (laid.runs.places[rows] == 0) | (np.diff(rows, prepend=-2) > 1)
        return Units.beginning(laid, rows, begins)


@dataclass(frozen=True)
class WordSpans(Words):
    """Several words in a row, fewer more often than many (SpanBERT). A span is masked, replaced or left as a whole."""

    rate: float = 0.2
    """How much fewer spans of one word more there are."""
    most: int = 10

    def hidden(self, units: Units, counts: Numbers, chance: Chance) -> tuple[Numbers, Numbers]:
        spans = geometric(units.runs, counts, self.rate, self.most, chance)
        firsts = np.zeros(units.runs.total, np.int64)
        firsts[spans.covered] = spans.within.spread(units.firsts[spans.rows])
        chosen = spans.covered[units.numbers]
        return units.rows[chosen], firsts[units.numbers[chosen]]


@dataclass(frozen=True, eq=False)
class Masking:
    """The goal of telling what was hidden: `words`, at the rows `at`."""

    mask: int
    """The token that hides others."""
    ordinary: Numbers
    """The tokens that are not special, in ascending order."""
    rate: float = 0.15
    """The share of units that is hidden."""
    choice: Choice = Tokens()
    parts: tuple[float, float, float] = (0.8, 0.1, 0.1)
    """How much of it the mask hides, another token stands for, and is left as it is but has to be told."""

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise BoughError(f"rate: must be above 0 and at most 1, not {self.rate}")
        if min(self.parts) < 0 or abs(sum(self.parts) - 1) > 1e-9:
            raise BoughError(f"parts: must be three shares that make 1, not {self.parts}")

    @classmethod
    def of(cls, tokenizer: Tokenizer, rate: float = 0.15, choice: Choice = Tokens()) -> Masking:
        """With this vocabulary's mask and its ordinary tokens."""
        if tokenizer.specials.mask is None:
            raise BoughError(
                "mask: the vocabulary has no mask token, so no word can be hidden; train a tokenizer of a family that "
                "has one, such as bert, or learn by another objective, such as causal"
            )
        return cls(tokenizer.specials.mask, ordinary(tokenizer), rate, choice)

    def __call__(self, laid: Laid, given: Given) -> Laid:
        chance = given.chance
        rows = np.flatnonzero((laid.bodies >= 0) & self._plain[np.minimum(laid.ids, len(self._plain) - 1)])
        units = self.choice.units(laid, rows)
        shares = self.rate * units.runs.lengths + chance.once(Purpose.MASK_COUNT)
        counts = np.minimum(np.maximum(shares.astype(np.int64), 1), units.runs.lengths)
        at, deciding = self.choice.hidden(units, counts, chance)
        part = chance(Purpose.MASK_PART, laid.runs)[deciding]
        others = chance.below(len(self.ordinary), Purpose.MASK_WORD, laid.runs)[at]
        masked, replaced, _ = self.parts
        ids = laid.ids.copy()
        ids[at] = np.select([part < masked, part < masked + replaced], [self.mask, self.ordinary[others]], laid.ids[at])
        return laid.reading(ids).aiming(at=at, words=laid.ids[at])

    @functools.cached_property
    def _plain(self) -> Flags:
        """Whether each token is ordinary; the last of these stands for all beyond."""
        flags = np.zeros(self.ordinary.max() + 2, np.bool_)
        flags[self.ordinary] = True
        return flags


def ordinary(tokenizer: Tokenizer) -> Numbers:
    """The tokens of a vocabulary that are not special: those that text is made of."""
    added = json.loads(tokenizer.to_json())["added_tokens"]
    special = {one["id"] for one in added if one["special"]} | set(vars(tokenizer.specials).values())
    special.update(*tokenizer.template().around)
    return np.array(sorted(set(tokenizer.vocabulary.values()) - special), np.int64)
