"""How a family writes text, as data: its kind of vocabulary, its special tokens, and its templates."""

from __future__ import annotations

from dataclasses import dataclass

from bough.errors import FieldError
from bough.families.words import Cleaned, MosesWords, XlmWords
from bough.record import Record

ROLES = ("unk", "pad", "cls", "sep", "mask", "bos", "eos", "language")


@dataclass(frozen=True)
class WordPiece(Record):
    """The longest known pieces of each word; those that do not begin one are marked ##."""

    words: Cleaned


@dataclass(frozen=True)
class Bytes(Record):
    """Merges of bytes: nothing is unknown, and what is read comes back to the byte."""

    space: bool = False
    """Whether a space is put in front of every text."""
    trimmed: bool = False
    """Whether offsets leave out the spaces in front of words."""


@dataclass(frozen=True)
class Suffixed(Record):
    """Merges of letters; the last piece of each word is marked </w>."""

    words: Cleaned | XlmWords


@dataclass(frozen=True)
class Pieces(Record):
    """SentencePiece's pieces, in which ▁ stands for a space; the model's file says how text is normalised."""

    quotes: bool = False
    """Whether quotes of two marks become one."""
    strip_accents: bool = False
    lowercase: bool = False
    space: bool = True
    """Whether a space is put in front of every text."""
    shifted: bool = False
    """Whether four special tokens stand in front in place of the file's three, so that every other id is one more."""
    exact: bool = False
    """Whether text is left as it is, runs of spaces and line ends too, so that it comes back as it was."""


@dataclass(frozen=True)
class TwoSides(Record):
    """SentencePiece's pieces of a source and of a target, with a list of their own of what number each piece has."""


@dataclass(frozen=True)
class Whole(Record):
    """Whole words; what is rare is unknown."""

    words: MosesWords | Cleaned


@dataclass(frozen=True)
class Letters(Record):
    """Each letter for itself, spaces and line ends too."""


@dataclass(frozen=True)
class Form(Record):
    """How a family writes text. Templates name roles, and A and B for the texts; what follows a colon is a segment."""

    vocabulary: WordPiece | Bytes | Suffixed | Pieces | TwoSides | Whole | Letters
    classes: tuple[str, ...] = ()
    """What a tokenizer_config.json calls it."""
    one: str = "A"
    """The template of one text."""
    pair: str = "A B"
    """The template of two."""
    first: tuple[str, ...] = ()
    """The roles whose tokens begin a vocabulary, in order; `further` stands for all further special tokens."""
    last: tuple[str, ...] = ()
    """The roles whose tokens end it."""
    further: tuple[str, ...] = ()
    """Special tokens without a role."""
    eager: tuple[str, ...] = ()
    """The roles whose tokens take the spaces in front of them."""
    unk: str | None = None
    pad: str | None = None
    cls: str | None = None
    sep: str | None = None
    mask: str | None = None
    bos: str | None = None
    eos: str | None = None
    language: str | None = None
    """The token of the language that a text is in."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("one", "pair"):
            for name, _ in self.template(field == "pair"):
                if name not in {"A", "B", *self.roles}:
                    raise FieldError(field, f"names {name!r}, which is no role that has a token")

    def template(self, pair: bool) -> tuple[tuple[str, int], ...]:
        """Each role or text of a template, with its segment number."""
        parts = [part.partition(":") for part in (self.pair if pair else self.one).split()]
        return tuple((name, int(number or 0)) for name, _, number in parts)

    @property
    def roles(self) -> dict[str, str]:
        """The token of each role that has one."""
        return {role: token for role in ROLES if (token := getattr(self, role)) is not None}

    @property
    def front(self) -> tuple[str, ...]:
        """The special tokens that begin a vocabulary, in order."""
        return self._tokens(self.first)

    @property
    def back(self) -> tuple[str, ...]:
        """The special tokens that end it."""
        return self._tokens(self.last)

    @property
    def specials(self) -> tuple[str, ...]:
        """Every special token, once."""
        return self._tokens((*ROLES, "further"))

    def _tokens(self, names: tuple[str, ...]) -> tuple[str, ...]:
        roles = self.roles
        found = [self.further if name == "further" else tuple(filter(None, [roles.get(name)])) for name in names]
        return tuple(dict.fromkeys(token for tokens in found for token in tokens))
