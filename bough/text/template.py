"""What stands around texts: special tokens before, between and behind them; asked of the library without any text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import tokenizers

from bough.errors import ArtefactError
from bough.text.guard import guarded

FIRST, SECOND = 2**32 - 1, 2**32 - 2
"""Ids that no vocabulary has, so that they can stand for the bodies of texts."""


@dataclass(frozen=True)
class Template:
    """What stands before, between and behind the bodies of one text or two, with the segment number of each token."""

    around: tuple[tuple[int, ...], ...]
    """The ids of the special tokens, in one place more than there are bodies."""
    segments: tuple[tuple[int, ...], ...]
    """Their segment numbers."""
    bodies: tuple[int, ...]
    """The segment number of each body."""

    @property
    def length(self) -> int:
        """How many special tokens there are."""
        return sum(map(len, self.around))

    def wrap(self, bodies: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[bool]]:
        """Bodies of ids with what stands around them: ids, segments, and which of them are special."""
        ids, segments, special = list(self.around[0]), list(self.segments[0]), [True] * len(self.around[0])
        behind = zip(bodies, self.bodies, self.around[1:], self.segments[1:], strict=True)
        for body, segment, tokens, their_segments in behind:
            ids += [*body, *tokens]
            segments += [*[segment] * len(body), *their_segments]
            special += [*[False] * len(body), *[True] * len(tokens)]
        return ids, segments, special


@dataclass(frozen=True)
class Framed:
    """One body or two, of a token each that is none, as the library frames them."""

    ids: list[int]
    segments: list[int]
    pair: bool

    @classmethod
    def of(cls, inner: tokenizers.Tokenizer, pair: bool, where: str) -> Framed:
        """Frame them; `where` names the tokenizer in complaints."""
        second = _body(SECOND, 1) if pair else None
        whole = guarded(lambda: inner.post_process(_body(FIRST, 0), second), where, ArtefactError)
        return cls(whole.ids, whole.type_ids, pair)

    @property
    def special(self) -> set[int]:
        """The ids of the special tokens."""
        return set(self.ids) - {FIRST, SECOND}

    def template(self, where: str) -> Template:
        """What stands around the bodies; an error where they are not both there, once and in order."""
        bodies = [place for place, one in enumerate(self.ids) if one in (FIRST, SECOND)]
        if [self.ids[place] for place in bodies] != [FIRST, SECOND][: 1 + self.pair]:
            what = "both texts" if self.pair else "the text"
            raise ArtefactError(f"{where}: its template does not hold {what} once and in order; mend it there")
        gaps = [slice(before + 1, after) for before, after in pairwise([-1, *bodies, len(self.ids)])]
        return Template(
            tuple(tuple(self.ids[gap]) for gap in gaps),
            tuple(tuple(self.segments[gap]) for gap in gaps),
            tuple(self.segments[place] for place in bodies),
        )


def _body(number: int, segment: int) -> tokenizers.Encoding:
    """A body of one token that needs no text: what pads an empty one."""
    body = tokenizers.Encoding.merge([])
    body.pad(1, pad_id=number, pad_type_id=segment)
    return body
