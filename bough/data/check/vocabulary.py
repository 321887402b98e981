"""What a tokenizer does to the texts of each side: how many tokens, how many unknown, how much of it is ever used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bough.data.check.findings import Finding, Hits
from bough.data.check.kept import Kept, Numbered
from bough.data.check.wanted import Wanted
from bough.record import brief
from bough.text.tokenizer import Tokenizer

MUCH = 0.01
"""From this share on, what is unknown is more than a few odd letters."""


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What the texts of one side come to."""

    side: str
    """The column that they are."""
    tokens: int
    unknown: float
    """The share of tokens that stand for what the vocabulary lacks."""
    vocabulary: int
    used: float
    """The share of the vocabulary that is ever used."""


class _Side:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.tokens = self.unknown = 0
        self.used = np.zeros(tokenizer.rows, bool)

    def take(self, ids: Sequence[int]) -> bool:
        """Count the tokens of a text; the answer is whether any is unknown."""
        numbers = np.fromiter(ids, np.int64, len(ids))
        unknown = 0 if self.tokenizer.specials.unk is None else int((numbers == self.tokenizer.specials.unk).sum())
        self.tokens += len(ids)
        self.unknown += unknown
        self.used[numbers] = True
        return unknown > 0


class Vocabulary:
    """The tokens of all texts, counted by side."""

    def __init__(self, wanted: Wanted, tokenizer: Tokenizer) -> None:
        self._most, self._tokenizer = wanted.places, tokenizer
        self._sides: dict[str, _Side] = {}
        self._unknown, self._nothing = Hits(wanted.places), Hits(wanted.places)

    def counts(self, rows: Sequence[Numbered]) -> list[dict[str, int]]:
        """How many tokens the texts of each row have, by side, those around them included."""
        found: list[dict[str, int]] = [{} for _ in rows]
        lacking: dict[int, tuple[str, Tokenizer]] = {}
        for side in dict.fromkeys(side for one in rows for side, _ in one.texts):
            texts = [(place, text) for place, one in enumerate(rows) for name, text in one.texts if name == side]
            counted = self._side(side)
            for (place, text), ids in zip(texts, counted.tokenizer.ids([text for _, text in texts]), strict=True):
                found[place][side] = len(ids)
                if counted.take(ids):
                    lacking.setdefault(place, (text, counted.tokenizer))
        for place, (text, tokenizer) in sorted(lacking.items(), key=lambda one: one[0]):
            shown = len(self._unknown.first) < self._most
            self._unknown.add(rows[place].number, _unknown(text, tokenizer) if shown else "")
        for one, counts in zip(rows, found, strict=True):
            if any(text.strip() and not counts[side] for side, text in one.texts):
                self._nothing.add(one.number)
            self._add_around(counts)
        return found

    def _side(self, side: str) -> _Side:
        if side not in self._sides:
            self._sides[side] = _Side(self._tokenizer.target if side == "target" else self._tokenizer)
        return self._sides[side]

    def _add_around(self, counts: dict[str, int]) -> None:
        """Count the special tokens with the first text that they stand around."""
        read = [side for side in counts if side != "target"]
        if read:
            counts[read[0]] += self._tokenizer.template(len(read) > 1).length
        if "target" in counts:
            counts["target"] += self._tokenizer.target.template().length

    def facts(self) -> list[SideFacts]:
        """What there is to know of each side."""
        return [
            SideFacts(name, side.tokens, side.unknown / max(1, side.tokens), len(side.used), float(side.used.mean()))
            for name, side in self._sides.items()
        ]

    def found(self, kept: Kept) -> list[Finding]:
        """Rows with what the vocabulary lacks, and rows of which it makes nothing."""
        return list(self._found(kept))

    def _found(self, kept: Kept) -> Iterator[Finding]:
        yield from self._nothing.rows("warning", "no-tokens", "of which the tokenizer makes nothing", kept)
        share = max((one.unknown for one in self.facts()), default=0.0)
        says = f"with what the vocabulary lacks, {share:.2%} of the tokens"
        yield from self._unknown.rows("warning" if share >= MUCH else "note", "unknown", says, kept)


def _unknown(text: str, tokenizer: Tokenizer) -> str:
    """The first pieces of a text that are unknown."""
    found = tokenizer.encode(text)
    places = [span for number, span in zip(found.ids, found.offsets, strict=True) if number == tokenizer.specials.unk]
    pieces = dict.fromkeys(text[start:end] for start, end in places)
    return ", ".join(map(brief, list(pieces)[:4]))
