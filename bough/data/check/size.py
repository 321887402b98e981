"""How long rows are: in words, or in tokens where there is a tokenizer; and which are too long."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data.check.findings import Finding, Hits
from bough.data.check.kept import Kept, Numbered
from bough.data.check.vocabulary import Vocabulary
from bough.data.check.wanted import Wanted
from bough.data.feeding.order import cut

FAR = 4
"""A row is far longer than others when it is longer than so many times 99% of them."""
MUCH = 0.01
"""From this share on, rows that are cut are more than a few odd ones."""
POOL = 2**17
"""As many rows are cut into batches at a time."""

Lengths = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EpochFacts:
    """What reading the first set once costs."""

    tokens: int
    batches: int
    fill: float
    """How full batches are in the mean."""


class Size:
    """The length of every row, special tokens included, before anything is cut: 8 bytes of each."""

    def __init__(self, wanted: Wanted, vocabulary: Vocabulary | None) -> None:
        self._wanted, self._vocabulary = wanted, vocabulary
        self.unit = "tokens" if vocabulary else "words"
        self._read, self._written = array("I"), array("I")
        self._alone = False

    def read(self, rows: Sequence[Numbered]) -> None:
        """Measure these."""
        for one, counts in zip(rows, self._counts(rows), strict=True):
            self._alone = self._alone or not one.plain
            self._read.append(sum(count for side, count in counts.items() if side != "target"))
            self._written.append(counts.get("target", 0))

    def _counts(self, rows: Sequence[Numbered]) -> Sequence[dict[str, int]]:
        """The length of each row's texts, by side."""
        if self._vocabulary:
            return self._vocabulary.counts(rows)
        return [{side: len(text.split()) for side, text in one.texts} for one in rows]

    @property
    def lengths(self) -> Lengths:
        """The length of every row, all its texts together."""
        return np.sum(self._sides, axis=0)

    @property
    def _sides(self) -> tuple[Lengths, Lengths]:
        """What is read of every row, and what is written."""
        read, written = (np.array(side, np.int64) for side in (self._read, self._written))
        return read, written

    @property
    def _taken(self) -> Lengths:
        """How much every row takes of a batch, once it is cut where the policy is to cut."""
        limit = self._wanted.limit
        if not limit or not self._alone or limit.policy not in ("truncate", "head-tail"):
            return self.lengths
        return np.sum([np.minimum(side, limit.length) for side in self._sides], axis=0)

    @property
    def _divided(self) -> bool:
        """Whether rows are divided as batches need it: documents, and what is read in windows."""
        return not self._alone or bool(self._wanted.limit and self._wanted.limit.policy == "window")

    def epoch(self, kept: Kept) -> EpochFacts | None:
        """What the first set costs, where there are tokens and it is known how many make a batch."""
        batch = self._wanted.batch
        if not self._vocabulary or not batch:
            return None
        lengths = self._taken[: kept.ends[0]]
        if not self._divided:
            lengths = np.minimum(lengths, batch)
        tokens = int(lengths.sum())
        pools = (lengths[start : start + POOL] for start in range(0, len(lengths), POOL))
        batches = -(-tokens // batch) if self._divided else sum(len(cut(pool, batch)) for pool in pools)
        return EpochFacts(tokens, batches, tokens / (batches * batch) if batches else 0.0)

    def longest(self, kept: Kept, count: int) -> list[tuple[str, int]]:
        """The longest rows by place, with their lengths."""
        lengths = self.lengths
        order = np.argsort(-lengths, kind="stable")[:count].tolist()
        return [(str(kept.place(number)), int(lengths[number])) for number in order]

    def found(self, kept: Kept) -> list[Finding]:
        """Rows that are far longer than others, that are cut, or that fit in no batch; and a set that fills none."""
        findings = [*self._far(kept), *self._cut(kept), *self._fit(kept)]
        return findings + (self._vocabulary.found(kept) if self._vocabulary else [])

    def _far(self, kept: Kept) -> Iterator[Finding]:
        lengths = self.lengths
        usual = max(1, int(np.quantile(lengths, 0.99))) if len(lengths) else 1
        hits = self._hits(lengths > FAR * usual)
        says = f"more than {FAR} times as long as 99% of all, which have {usual:,} {self.unit} at most"
        yield from hits.rows("warning", "long", says, kept)

    def _cut(self, kept: Kept) -> Iterator[Finding]:
        limit = self._wanted.limit
        if not limit or not self._vocabulary or not self._alone:  # documents are cut into blocks, and nothing is lost
            return
        over = [np.maximum(side - limit.length, 0) for side in self._sides]
        hits = self._hits(np.maximum(*over) > 0)
        lost = int(np.sum(over)) / max(1, int(self.lengths.sum()))
        share = len(hits) / max(1, len(kept))
        match limit.policy:
            case "error":
                says = f"longer than {limit.length:,} tokens, at which the policy is to stop"
                yield from hits.rows("error", "cut", says, kept)
            case "window":
                yield from hits.rows("note", "cut", f"read in several windows of {limit.length:,} tokens", kept)
            case _:
                says = f"cut to {limit.length:,} tokens, {share:.2%} of all; {lost:.2%} of the tokens are lost"
                yield from hits.rows("warning" if share >= MUCH else "note", "cut", says, kept)

    def _fit(self, kept: Kept) -> Iterator[Finding]:
        epoch, batch = self.epoch(kept), self._wanted.batch
        if not epoch or not batch:
            return
        if epoch.tokens < batch:
            says = f"{kept.sets[0]} has {epoch.tokens:,} tokens and does not fill one batch of {batch:,}"
            yield Finding("error", "small", says, (), epoch.tokens)
        if not self._divided:
            says = f"longer than a batch of {batch:,} tokens"
            yield from self._hits(self._taken > batch).rows("error", "large", says, kept)

    def _hits(self, which: NDArray[Any]) -> Hits:
        """These rows, each shown with its length."""
        hits, lengths = Hits(self._wanted.places), self.lengths
        for number in np.flatnonzero(which).tolist():
            hits.add(number, f"{lengths[number]:,} {self.unit}")
        return hits
