"""What a corpus is wanted for, as far as that is said: the task, the labels, the tokenizer, the limit, the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bough.data.check.findings import Finding
from bough.data.check.kept import Kept, Numbered
from bough.data.recipe import Tasks
from bough.text.limits import Limit
from bough.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Wanted:
    """What is said of the job."""

    task: Tasks | None = None
    labels: tuple[str, ...] = ()
    """Their names, where they are given."""
    separator: str | None = None
    """What stands between several labels of a row."""
    tokenizer: Tokenizer | None = None
    limit: Limit | None = None
    batch: int | None = None
    """Tokens of a step of training."""
    places: int = 20
    """As many places of each finding are kept."""


class Check(Protocol):
    """One group of checks: it reads rows as they come, and says what it found when they have all come."""

    def read(self, rows: Sequence[Numbered]) -> None:
        """Take in some rows, in order."""
        ...

    def found(self, kept: Kept) -> list[Finding]:
        """What there is to say."""
        ...
