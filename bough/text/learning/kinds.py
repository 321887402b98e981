"""The kinds of vocabulary that can be learnt, what can be asked of one, and the form that comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from bough.errors import FieldError
from bough.families.forms import Bytes, Form, Letters, Pieces, Suffixed, TwoSides, Whole, WordPiece
from bough.families.words import Cleaned
from bough.record import MISSING, Range, Record, get

Kind: TypeAlias = Literal["word", "character", "bpe", "bytes", "wordpiece", "unigram"]
Vocabulary: TypeAlias = WordPiece | Bytes | Suffixed | Pieces | TwoSides | Whole | Letters
Count: TypeAlias = Annotated[int, Range(1, 2**40)]

KINDS: dict[type[Vocabulary], tuple[Kind, ...]] = {
    Whole: ("word",),
    Letters: ("character",),
    Suffixed: ("bpe",),
    Bytes: ("bytes",),
    WordPiece: ("wordpiece",),
    Pieces: ("unigram", "bpe"),
    TwoSides: ("unigram", "bpe"),
}
"""What can be learnt of words that are found in each way, its own kind first."""
AS_WRITTEN = Cleaned(lowercase=False)
PLAIN: dict[Kind, Vocabulary] = {
    "word": Whole(AS_WRITTEN),
    "character": Letters(),
    "bpe": Suffixed(AS_WRITTEN),
    "bytes": Bytes(),
    "wordpiece": WordPiece(AS_WRITTEN),
    "unigram": Pieces(),
}
"""How words are found for each kind where no family says it; capitals and accents stay."""
SPELLINGS = {"pad": "<pad>", "unk": "<unk>", "bos": "<s>", "eos": "</s>", "mask": "<mask>"}
"""The special tokens where no family says them."""
LOWERCASE = ("vocabulary.words.lowercase", "vocabulary.words.bare", "vocabulary.lowercase")
"""Where a form says whether capitals go."""


@dataclass(frozen=True)
class Plan(Record):
    """What is asked of a vocabulary that is to be learnt."""

    kind: Kind
    size: Annotated[int, Range(1, 2**31 - 1)]
    """How many tokens there are to be at most, special ones included."""
    byte_fallback: bool = False
    """Whether a letter that is not known becomes its bytes, which all are."""
    lowercase: bool | None = None
    """Whether capitals go; as the form has it where it is not said."""
    min_count: Count = 1
    """How often a word, merge or piece, or a character by itself, has to occur."""
    alphabet: Count | None = None
    """How many letters are known, the most frequent ones; all that occur where it is not said."""
    memory: Annotated[int, Range(0, 2**60)] | None = None
    """How many bytes a process may take that does nothing else; rare words are forgotten for it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alphabet is not None and self.kind in ("word", "bytes"):
            raise FieldError("alphabet", f"a vocabulary of kind {self.kind} chooses no letters; leave it out")
        if self.byte_fallback and self.kind in ("word", "wordpiece"):
            raise FieldError("byte_fallback", f"the kind {self.kind} has no pieces for bytes; try bpe or unigram")

    @property
    def falls_back(self) -> bool:
        """Whether bytes have to be in the vocabulary for the letters that are not."""
        return self.byte_fallback and self.kind != "bytes"

    def fitted(self, form: Form | None) -> Form:
        """The form to learn in: a family's, as far as it is of this kind, changed as is asked here."""
        if form is None:
            roles: dict[str, Any] = {
                role: SPELLINGS[role] for role in SPELLINGS if (role, self.kind) != ("unk", "bytes")
            }
            form = Form(self._plain, first=tuple(roles), **roles)
        elif self.kind not in KINDS[type(form.vocabulary)]:
            form = form.but(vocabulary=self._plain)
        if self.kind != "bytes" and form.unk is None:
            form = form.but(unk=SPELLINGS["unk"], first=("unk", *form.first))
        if self.falls_back and isinstance(form.vocabulary, Suffixed):
            raise FieldError("byte_fallback", "pieces that are marked </w> cannot be bytes; leave the family out")
        return form if self.lowercase is None else self._cased(form)

    @property
    def _plain(self) -> Vocabulary:
        """How words are found where no family says it."""
        exact = self.falls_back and not self.lowercase
        return Pieces(exact=exact) if self.falls_back and self.kind in ("bpe", "unigram") else PLAIN[self.kind]

    def _cased(self, form: Form) -> Form:
        place = next((path for path in LOWERCASE if get(form, path) is not MISSING), None)
        if place is None and self.lowercase:
            raise FieldError("lowercase", f"a vocabulary of kind {self.kind} takes letters as they are; leave it out")
        return form.but(**{place: self.lowercase}) if place else form
