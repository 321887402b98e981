"""The tokens that are no text: which id plays which role, and which of them stand around the bodies of texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

SPELLINGS = {
    "unk": ("[UNK]", "<unk>"),
    "pad": ("[PAD]", "<pad>"),
    "cls": ("[CLS]", "<cls>"),
    "sep": ("[SEP]", "<sep>"),
    "mask": ("[MASK]", "<mask>"),
    "bos": ("<s>", "[BOS]", "<bos>", "<|endoftext|>"),
    "eos": ("</s>", "[EOS]", "<eos>", "<|endoftext|>"),
}
"""How published vocabularies spell each role, the likelier first."""


@dataclass(frozen=True)
class Specials:
    """The id of each role; None where the vocabulary has none."""

    unk: int | None = None
    pad: int | None = None
    cls: int | None = None
    sep: int | None = None
    mask: int | None = None
    bos: int | None = None
    eos: int | None = None

    @classmethod
    def named(cls, tokens: Mapping[str, str], id_of: Callable[[str], int | None]) -> Specials:
        """The ids of the tokens that play these roles; of a token that the vocabulary has not, none."""
        roles = [field.name for field in dataclasses.fields(cls)]
        return cls(**{role: id_of(tokens[role]) for role in roles if role in tokens})

    @classmethod
    def guessed(cls, id_of: Callable[[str], int | None]) -> Specials:
        """The ids that well-known spellings have in a vocabulary of which nobody said more."""
        found = {role: _first(spellings, id_of) for role, spellings in SPELLINGS.items()}
        if found["mask"] is not None:
            # Those of RoBERTa's line, and no others with these spellings, begin and end a text with them as BERT does.
            for role, same in (("cls", "bos"), ("sep", "eos")):
                found[role] = found[same] if found[role] is None else found[role]
        return cls(**found)


def _first(spellings: Sequence[str], id_of: Callable[[str], int | None]) -> int | None:
    return next((number for one in spellings if (number := id_of(one)) is not None), None)


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
        places = zip(bodies, self.bodies, self.around[1:], self.segments[1:], strict=True)
        for body, number, behind, their_segments in places:
            ids += [*body, *behind]
            segments += [*[number] * len(body), *their_segments]
            special += [*[False] * len(body), *[True] * len(behind)]
        return ids, segments, special
