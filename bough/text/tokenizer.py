"""A tokenizer as tokenizer.json describes it, run by the tokenizers library; its own padding and cutting left out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import tokenizers
from tokenizers import models

from bough.errors import ArtefactError, BoughError
from bough.text import fingerprint
from bough.text.encoding import Encoding, Finder, Found, Word, cut
from bough.text.guard import check_texts, guarded
from bough.text.limits import Limit
from bough.text.opened import opened
from bough.text.specials import Specials
from bough.text.template import Framed, Template

T = TypeVar("T")

IDS = 2**32
"""The library counts ids in so many bits."""
LONGEST_WORD = 256
"""Letters of a word that WordPiece takes apart, which takes it their square; more make an unknown word.

Published files say 100, which stays; a file may say more, and be meant to cost time.
"""


class Tokenizer:
    """Text to ids and back. Nothing that is asked changes it, so that threads may share it."""

    def __init__(
        self,
        inner: tokenizers.Tokenizer,
        specials: Specials | None = None,
        *,
        target: Tokenizer | None = None,
        find: Finder | None = None,
        where: str = "tokenizer",
    ) -> None:
        # Cutting is done here, by rules that can be read and told; padding nowhere.
        inner.no_padding()
        inner.no_truncation()
        _tame(inner.model)
        self._inner = inner
        self._find = find
        self.where = where
        """What complaints call it: its file, where it was read from one."""
        self.specials = specials or Specials.guessed(inner.token_to_id)
        """The ids of the special tokens, by role."""
        self.target = target or self
        """What is written in, where that is another vocabulary than what is read."""

    @classmethod
    def from_json(cls, content: bytes, where: str, specials: Specials | None = None) -> Tokenizer:
        """Read the content of a tokenizer.json; `where` names it in complaints."""
        return cls(opened(content, where), specials, where=where)

    def to_json(self) -> str:
        """What a tokenizer.json holds."""
        if self._find:
            raise BoughError(f"{self.where}: its words are found by rules that no tokenizer.json holds; keep its files")
        return guarded(lambda: self._inner.to_str(pretty=True), self.where, BoughError)

    def __len__(self) -> int:
        """How many ids there are, added tokens included."""
        return self._inner.get_vocab_size(with_added_tokens=True)

    @functools.cached_property
    def vocabulary(self) -> dict[str, int]:
        """The id of each token, added ones included."""
        return self._inner.get_vocab(with_added_tokens=True)

    @functools.cached_property
    def rows(self) -> int:
        """How many rows a table needs to have one for each id; more than there are ids where some are left out."""
        special = set[int]().union(*(one.special for one in self._framed))
        return 1 + max(special.union(self.vocabulary.values()), default=-1)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the vocabulary and of what certain texts become: equal for tokenizers that do the same."""
        own = fingerprint.of(self.vocabulary, self.ids, [(one.ids, one.segments) for one in self._framed])
        return own if self.target is self else fingerprint.both(own, self.target.fingerprint)

    def check(self, rows: int, saved: str | None) -> None:
        """Raise where it is not that of a model with so many embeddings, saved with a tokenizer of this fingerprint."""
        remedy = (
            "put the tokenizer there that the model was trained with, "
            "or pass over it with ignore=['tokenizer'] (--ignore tokenizer)"
        )
        if self.rows > rows:
            last = self.rows - 1
            raise ArtefactError(f"{self.where}: has ids up to {last:,}, and the model {rows:,} embeddings; {remedy}")
        if saved and self.fingerprint != saved:
            found = f"fingerprint {self.fingerprint[:8]}, not {saved[:8]}"
            raise ArtefactError(f"{self.where}: is not the tokenizer that the model was saved with ({found}); {remedy}")

    def token(self, number: int) -> str:
        """The token of an id."""
        found = self._inner.id_to_token(number) if 0 <= number < IDS else None
        if found is None:
            raise BoughError(f"id {number}: the vocabulary has no such token; its ids end at {self.rows - 1:,}")
        return found

    def id(self, token: str) -> int | None:
        """The id of a token; None where the vocabulary does not have it."""
        return self._inner.token_to_id(token)

    def encode(self, text: str, pair: str | None = None, limit: Limit | int | None = None) -> Encoding:
        """One text, or a pair, as tokens."""
        return self.encode_all([text], limit, None if pair is None else [pair])[0]

    def encode_all(
        self, texts: Sequence[str], limit: Limit | int | None = None, pairs: Sequence[str] | None = None
    ) -> list[Encoding]:
        """Each text, or each pair, as tokens; a number for the limit means truncate."""
        limit = Limit(limit) if isinstance(limit, int) else limit
        if limit and limit.policy == "window":
            raise BoughError("limit: the policy 'window' makes several of one text; ask for windows")
        return [one for (one,) in self._limited(texts, limit, pairs)]

    def windows(
        self, texts: Sequence[str], limit: Limit | int, pairs: Sequence[str] | None = None
    ) -> list[list[Encoding]]:
        """Each text, or each pair, as the windows it takes; one where it fits, or where the policy cuts it."""
        return self._limited(texts, Limit(limit) if isinstance(limit, int) else limit, pairs)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text's body: no special tokens around it, and nothing else is worked out."""
        find, rows = self._find, [(text,) for text in texts]
        given = self._run(lambda: [_spellings(find(text)) for text in texts], rows) if find else texts
        run = functools.partial(
            self._inner.encode_batch_fast, list(given), is_pretokenized=find is not None, add_special_tokens=False
        )
        return [one.ids for one in self._run(run, rows)]

    def decode(self, ids: Sequence[int], keep_special: bool = False) -> str:
        """Ids as text; one that the vocabulary leaves out says nothing."""
        wrong = next((one for one in ids if not 0 <= one < IDS), None)
        if wrong is not None:
            raise BoughError(f"id {wrong}: no vocabulary has such a token")
        decode = functools.partial(self._inner.decode, list(ids), skip_special_tokens=not keep_special)
        return guarded(decode, self.where, ArtefactError)

    def template(self, pair: bool = False) -> Template:
        """The special tokens that stand around one text, or around two."""
        return self._templates[pair]

    def wrap(
        self, first: Sequence[int], second: Sequence[int] | None = None
    ) -> tuple[list[int], list[int], list[bool]]:
        """Bodies of ids as the model reads them: ids, segments, and which of them are special."""
        return self.template(second is not None).wrap([first] if second is None else [first, second])

    def _limited(self, texts: Sequence[str], limit: Limit | None, pairs: Sequence[str] | None) -> list[list[Encoding]]:
        if pairs is not None and len(pairs) != len(texts):
            raise BoughError(f"pairs: there are {len(pairs)} for {len(texts)} texts; give one for each")
        rows = [(text,) for text in texts] if pairs is None else list(zip(texts, pairs, strict=True))
        if not limit:
            return [[Encoding(one)] for one in self._found(rows, pairs is not None)]
        template = self.template(pairs is not None)
        room = limit.room(template.length, len(template.bodies))
        found = self._found(rows, pairs is not None)
        what = "text" if pairs is None else "pair"
        return [cut(one, limit, room, template, f"{what} {number}") for number, one in enumerate(found)]

    def _found(self, rows: Sequence[tuple[str, ...]], paired: bool) -> list[Found]:
        """All that there is in each text, or pair, before any cut."""
        find = self._find
        words = self._run(lambda: [tuple(map(find, row)) for row in rows], rows) if find else [()] * len(rows)
        given: Sequence[tuple[Any, ...]] = [tuple(map(_spellings, row)) for row in words] if find else rows
        run = functools.partial(
            self._inner.encode_batch,
            list(given) if paired else [row[0] for row in given],
            is_pretokenized=find is not None,
        )
        return [Found(one, row) for one, row in zip(self._run(run, rows), words, strict=True)]

    def _run(self, call: Callable[[], T], rows: Iterable[tuple[str, ...]]) -> T:
        try:
            return guarded(call, self.where, ArtefactError)
        except ArtefactError:
            check_texts(rows)
            raise

    @functools.cached_property
    def _framed(self) -> tuple[Framed, Framed]:
        """One text, and two."""
        return Framed.of(self._inner, False, self.where), Framed.of(self._inner, True, self.where)

    @functools.cached_property
    def _templates(self) -> tuple[Template, Template]:
        one, two = self._framed
        return one.template(self.where), two.template(self.where)


def _tame(model: models.Model) -> None:
    """Make the model do the same every time, and in bounded time, whatever its file says."""
    if isinstance(model, models.BPE) and model.dropout:
        model.dropout = None
    if isinstance(model, models.WordPiece) and model.max_input_chars_per_word > LONGEST_WORD:
        model.max_input_chars_per_word = LONGEST_WORD


def _spellings(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words]
