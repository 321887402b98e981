"""A text while it is rewritten, each letter with the place it has in the original; nothing of the library comes in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Traced:
    """A text and, for each of its letters, the span of the original that it stands for."""

    text: str
    spans: Sequence[Span]

    @classmethod
    def of(cls, text: str, start: int = 0) -> Traced:
        """A text as it is, from this place in the original on."""
        return cls(text, [(place, place + 1) for place in range(start, start + len(text))])

    @classmethod
    def joined(cls, parts: Iterable[Traced]) -> Traced:
        """Parts laid end to end."""
        kept = list(parts)
        return cls("".join(part.text for part in kept), [span for part in kept for span in part.spans])

    def span(self, start: int, end: int) -> Span:
        """What the letters from here to there stand for, taken together."""
        spans = self.spans[start:end]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def part(self, start: int, end: int) -> Traced:
        """The letters from here to there."""
        return Traced(self.text[start:end], self.spans[start:end])

    def stripped(self) -> Traced:
        """Without white space around it."""
        start = len(self.text) - len(self.text.lstrip())
        return self.part(start, max(start, len(self.text.rstrip())))

    def mapped(self, change: Callable[[str], str]) -> Traced:
        """Each letter changed into others, or into none."""
        changed = [change(letter) for letter in self.text]
        spans = [span for new, span in zip(changed, self.spans, strict=True) for _ in new]
        return Traced("".join(changed), spans)

    def replaced(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> Traced:
        """What `re.sub` makes of it."""
        texts: list[str] = []
        spans: list[Span] = []
        done = 0
        for match in pattern.finditer(self.text):
            written = new(match)
            texts += [self.text[done : match.start()], written]
            spans += self.spans[done : match.start()]
            spans += _followed(written, self.part(*match.span()))
            done = match.end()
        if not texts:
            return self
        return Traced("".join([*texts, self.text[done:]]), [*spans, *self.spans[done:]])


def _followed(written: str, over: Traced) -> list[Span]:
    """Where each letter of what is written over a stretch comes from: the next one like it, or any, or all of it."""
    spans: list[Span] = []
    at = 0
    for letter in written:
        found = over.text.find(letter, at)
        place = found if found >= 0 else over.text.find(letter)
        at = found + 1 if found >= 0 else at
        spans.append(over.spans[place] if place >= 0 else over.span(0, len(over.text)))
    return spans
