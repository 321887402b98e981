"""How long a text may be in tokens, and what happens to one that is longer; what comes in are lengths, never texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from bough.errors import BoughError, FieldError
from bough.record import Range, Record

Spans = tuple[range, ...]
"""The tokens of one body that are kept, by their numbers in it."""
MOST = 2**31 - 1


@dataclass(frozen=True)
class Limit(Record):
    """At most so many tokens, special ones included, and what is done about a text that has more."""

    length: Annotated[int, Range(1, MOST)]
    policy: Literal["error", "truncate", "head-tail", "window"] = "truncate"
    """Complain; keep the start; keep the start and the end, half each; or read all of it, a window at a time."""
    stride: Annotated[int, Range(0, MOST)] = 0
    """How many tokens of its text a window shares with the one before."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stride and self.policy != "window":
            raise FieldError("stride", f"is for the policy 'window' alone, not {self.policy!r}; leave it out")

    def room(self, special: int, texts: int) -> int:
        """How many tokens of the texts fit beside the special ones; an error where that is none for some text."""
        room = self.length - special
        if room < texts:
            what = "a text" if texts == 1 else "each text of a pair"
            raise BoughError(
                f"limit: {self.length} leaves no token for {what} beside the {special} special ones; "
                f"give at least {special + texts}"
            )
        return room

    def kept(self, lengths: tuple[int, ...], room: int, what: str) -> list[tuple[Spans, ...]]:
        """What is kept of bodies of these lengths that are too long together: for each window, the spans of each."""
        if self.policy == "window":
            return _windows(lengths, room, self.stride, what)
        shares = shared(lengths, room)
        cut = _ends if self.policy == "head-tail" else _start
        return [tuple(cut(length, share) for length, share in zip(lengths, shares, strict=True))]


def shared(lengths: tuple[int, ...], room: int) -> tuple[int, ...]:
    """How many tokens each body keeps: the longer of two gives first, then both are halved; as other tools do it."""
    if sum(lengths) <= room:
        return lengths
    if len(lengths) == 1:
        return (room,)
    shorter = min(lengths)
    longer = max(shorter, room - shorter)
    if shorter + longer > room:
        shorter, longer = room // 2, room - room // 2
    return (longer, shorter) if lengths[0] > lengths[1] else (shorter, longer)


def places(spans: Sequence[Spans], lengths: Sequence[int], gaps: Sequence[int]) -> list[range]:
    """What stays of a whole, by number: the spans of each body, and all special tokens, which stand in the gaps."""
    kept, at = [range(gaps[0])], gaps[0]
    for body, length, gap in zip(spans, lengths, gaps[1:], strict=True):
        kept += [range(at + one.start, at + one.stop) for one in body]
        at += length
        kept += [range(at, at + gap)]
        at += gap
    return kept


def _start(length: int, share: int) -> Spans:
    return (range(min(length, share)),)


def _ends(length: int, share: int) -> Spans:
    if length <= share:
        return (range(length),)
    tail = share // 2
    return range(share - tail), range(length - tail, length)


def _windows(lengths: tuple[int, ...], room: int, stride: int, what: str) -> list[tuple[Spans, ...]]:
    """The longer body a window at a time, the second of two alike; the other is whole in each."""
    slid = 0 if len(lengths) == 1 or lengths[0] > lengths[1] else 1
    whole = sum(lengths) - lengths[slid]
    each = room - whole
    if each <= stride:
        beside = f" beside the {whole} tokens of the other text" if len(lengths) > 1 else ""
        raise BoughError(
            f"{what}: a window has room for {max(each, 0)} tokens{beside}, and with a stride of {stride} would never "
            "get on; give a greater length or a smaller stride"
        )
    found: list[tuple[Spans, ...]] = []
    for start in range(0, lengths[slid], each - stride):
        end = min(start + each, lengths[slid])
        spans: list[Spans] = [(range(length),) for length in lengths]
        spans[slid] = (range(start, end),)
        found.append(tuple(spans))
        if end == lengths[slid]:
            break
    return found
