"""Two texts that belong together: side by side in one sequence (XLM), or one to be read and one to be written."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data.feeding.batch import Lengths
from bough.data.goals.laid import Given, Laid
from bough.data.goals.runs import Numbers, Runs
from bough.data.goals.wrap import TARGET, Wrap
from bough.text import Limit, Template, Tokenizer


@dataclass(frozen=True)
class SideBySide:
    """Two texts in one sequence: each wrapped by itself, in its own language, and with positions that begin again.

    So XLM was shown translations, to tell hidden words of either from both. Which of them lies first is all one to a
    net whose tokens see all others.
    """

    first: Wrap
    second: Wrap

    @classmethod
    def of(cls, tokenizer: Tokenizer, languages: tuple[int, int], limit: Limit | int | None = None) -> SideBySide:
        """A source and its target, in these languages; the limit is of each side."""
        first = Wrap.of(tokenizer, limit)
        sides = ((first.columns, languages[0]), ((TARGET,), languages[1]))
        return cls(*(dataclasses.replace(first, columns=columns, language=one) for columns, one in sides))

    def length(self, lengths: Lengths) -> Numbers:
        """How many tokens each example takes."""
        return self.first.length(lengths) + self.second.length(lengths)

    def __call__(self, given: Given) -> Laid:
        """The sequences of these examples."""
        first, second = self.first(given), self.second(given)
        order = np.concatenate((first.runs.owners, second.runs.owners)).argsort(kind="stable")

        def both(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate((one, other))[order]

        def told(one: NDArray[Any] | None, other: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if one is None or other is None else both(one, other)

        return Laid(
            both(first.ids, second.ids),
            Runs(first.runs.lengths + second.runs.lengths),
            both(first.segments, second.segments),
            both(first.bodies, np.where(second.bodies < 0, -1, second.bodies + 1)),
            both(first.places, second.places),
            told(first.starts, second.starts),
            told(first.languages, second.languages),
            both(first.runs.places, second.runs.places),
        )


@dataclass(frozen=True)
class Written:
    """One text to be read, and another to be written: word for word, to its end."""

    source: Wrap
    target: Wrap
    start: int | None
    """What the decoder reads before the first word it has to say; None is the last word of each target (mBART)."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, start: int | None, limit: Limit | int | None = None) -> Written:
        """As this tokenizer wraps what is read, and its other half, where it has one, what is written."""
        source, target = Wrap.of(tokenizer, limit), Wrap.of(tokenizer.target, limit)
        return cls(source, dataclasses.replace(target, columns=(TARGET,)), start)

    def length(self, lengths: Lengths) -> Numbers:
        """How many tokens each example takes, read and written."""
        return self.source.length(lengths) + self.target.length(lengths)

    def __call__(self, given: Given) -> Laid:
        """What is read and what is said, with every word as a goal."""
        return written(self.source(given), self.target(given), self.start)


def written(source: Laid, target: Laid, start: int | None) -> Laid:
    """What a decoder reads to say the target, from a source; each of its words is a goal, at its own row."""
    firsts = target.runs.starts[target.runs.lengths > 0]
    lasts = target.runs.bounds[1:][target.runs.lengths > 0] - 1
    read = np.roll(target.ids, 1)
    read[firsts] = target.ids[lasts] if start is None else start
    return dataclasses.replace(target, ids=read, source=source).aiming(at=np.arange(len(read)), words=target.ids)


def ending(template: Template, *words: int) -> Template:
    """A template with these words behind the last text in place of its own: another language's, say."""
    around = (*template.around[:-1], words)
    segments = (*template.segments[:-1], (template.bodies[-1],) * len(words))
    return Template(around, segments, template.bodies)
