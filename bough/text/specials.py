"""The tokens that are no text: which id plays which role, as files name them or as they are commonly spelt."""

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
