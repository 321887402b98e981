"""A tokenizer as tokenizer.json describes it, run by the tokenizers library; its own padding and cutting left out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise

import tokenizers

from bough.errors import ArtefactError, BoughError
from bough.text.encoding import Encoding, Found
from bough.text.fingerprint import fingerprint
from bough.text.guard import guarded
from bough.text.limits import Limit
from bough.text.specials import Specials, Template

FIRST, SECOND = 2**32 - 1, 2**32 - 2
"""Ids that no vocabulary has, so that they can stand for the bodies of texts."""


class Tokenizer:
    """Text to ids and back."""

    def __init__(
        self, inner: tokenizers.Tokenizer, specials: Specials | None = None, target: Tokenizer | None = None
    ) -> None:
        # Cutting is done here, by rules that can be read and told; padding nowhere.
        inner.no_padding()
        inner.no_truncation()
        self._inner = inner
        self.specials = specials or Specials.guessed(inner.token_to_id)
        """The ids of the special tokens, by role."""
        self.target = target or self
        """What is written in, where that is another vocabulary than what is read."""

    @classmethod
    def from_json(cls, content: bytes, where: str) -> Tokenizer:
        """Read the content of a tokenizer.json; `where` names it in complaints."""
        return cls(guarded(lambda: tokenizers.Tokenizer.from_buffer(content), where, ArtefactError))

    def to_json(self) -> str:
        """What a tokenizer.json holds."""
        return guarded(lambda: self._inner.to_str(pretty=True), "tokenizer", BoughError)

    def __len__(self) -> int:
        """How many ids there are, added tokens included."""
        return self._inner.get_vocab_size(with_added_tokens=True)

    @functools.cached_property
    def vocabulary(self) -> dict[str, int]:
        """The id of each token, added ones included."""
        return self._inner.get_vocab(with_added_tokens=True)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the vocabulary and of what certain texts become: equal for tokenizers that do the same."""
        return fingerprint(self.vocabulary, self.ids, self._templates)

    def token(self, number: int) -> str:
        """The token of an id."""
        found = guarded(lambda: self._inner.id_to_token(number), "tokenizer", BoughError)
        if found is None:
            raise BoughError(f"id {number}: the vocabulary has no such token; it has {len(self):,}")
        return found

    def id(self, token: str) -> int | None:
        """The id of a token; None where the vocabulary does not have it."""
        return guarded(lambda: self._inner.token_to_id(token), "tokenizer", BoughError)

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
        return [one for (one,) in self._read(texts, limit, pairs)]

    def windows(
        self, texts: Sequence[str], limit: Limit | int, pairs: Sequence[str] | None = None
    ) -> list[list[Encoding]]:
        """Each text, or each pair, as the windows it takes; one where it fits, or where the policy cuts it."""
        return self._read(texts, Limit(limit) if isinstance(limit, int) else limit, pairs)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text's body: no special tokens, and nothing else is worked out."""
        run = functools.partial(self._inner.encode_batch_fast, list(texts), add_special_tokens=False)
        return [one.ids for one in self._run(run, texts)]

    def decode(self, ids: Sequence[int], keep_special: bool = False) -> str:
        """Ids as text."""
        decode = functools.partial(self._inner.decode, list(ids), skip_special_tokens=not keep_special)
        return guarded(decode, "tokenizer", BoughError)

    def template(self, pair: bool = False) -> Template:
        """The special tokens that stand around one text, or around two."""
        return self._templates[pair]

    def wrap(
        self, first: Sequence[int], second: Sequence[int] | None = None
    ) -> tuple[list[int], list[int], list[bool]]:
        """Bodies of ids as the model reads them: ids, segments, and which of them are special."""
        return self.template(second is not None).wrap([first] if second is None else [first, second])

    def _read(self, texts: Sequence[str], limit: Limit | None, pairs: Sequence[str] | None) -> list[list[Encoding]]:
        if pairs is not None and len(pairs) != len(texts):
            raise BoughError(f"pairs: there are {len(pairs)} for {len(texts)} texts; give one for each")
        given = list(texts) if pairs is None else list(zip(texts, pairs, strict=True))
        found = self._run(lambda: self._inner.encode_batch(given), texts, pairs)
        kept = [Found(one) for one in found]
        if limit is None:
            return [[Encoding(one)] for one in kept]
        count = 1 if pairs is None else 2
        room = limit.room(self._inner.num_special_tokens_to_add(count > 1), count)
        return [_limited(one, number, limit, room, count) for number, one in enumerate(kept)]

    def _run(
        self, run: Callable[[], list[tokenizers.Encoding]], texts: Sequence[str], pairs: Sequence[str] | None = None
    ) -> list[tokenizers.Encoding]:
        return guarded(run, "tokenizer", BoughError)

    @functools.cached_property
    def _templates(self) -> tuple[Template, Template]:
        return self._template(False), self._template(True)

    def _template(self, pair: bool) -> Template:
        second = _body(SECOND, 1) if pair else None
        whole = guarded(lambda: self._inner.post_process(_body(FIRST, 0), second), "tokenizer", BoughError)
        marks = (FIRST, SECOND) if pair else (FIRST,)
        ids, segments = whole.ids, whole.type_ids
        if [one for one in ids if one in marks] != list(marks):
            raise BoughError(
                "tokenizer: its template does not hold each text once and in order, so none can be wrapped"
            )
        places = [-1, *(ids.index(one) for one in marks), len(ids)]
        gaps = [slice(before + 1, after) for before, after in pairwise(places)]
        return Template(
            tuple(tuple(ids[gap]) for gap in gaps),
            tuple(tuple(segments[gap]) for gap in gaps),
            tuple(segments[place] for place in places[1:-1]),
        )


def _body(number: int, segment: int) -> tokenizers.Encoding:
    """A body of one token that needs no text: what pads an empty one."""
    body = tokenizers.Encoding.merge([])
    body.pad(1, pad_id=number, pad_type_id=segment)
    return body


def _limited(found: Found, number: int, limit: Limit, room: int, texts: int) -> list[Encoding]:
    """What the limit leaves of a text or a pair."""
    if len(found) <= limit.length:
        return [Encoding(found)]
    if limit.policy == "error":
        what = "text" if texts == 1 else "pair"
        raise BoughError(
            f"{what} {number}: has {len(found):,} tokens, special ones included, and the limit is {limit.length:,}; "
            "shorten it, or let the policy be truncate, head-tail or window"
        )
    windows: list[Encoding] = []
    for spans in limit.kept(found.lengths(texts), room):
        keep = [number for run in found.runs for number in run.kept(spans)]
        windows.append(Encoding(found, keep, 0 if limit.policy == "window" else len(found) - len(keep)))
    return windows
