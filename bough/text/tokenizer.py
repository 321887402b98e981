"""A tokenizer as tokenizer.json describes it, run by the tokenizers library; padding and its other habits left out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import tokenizers

from bough.errors import ArtefactError, BoughError

T = TypeVar("T")


@dataclass(frozen=True)
class Encoding:
    """A text as tokens, special ones included."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    """Where each token stands in the text; (0, 0) for the special ones."""
    segments: list[int]
    cut: bool
    """Whether the text was longer than the limit."""


class Tokenizer:
    """Text to ids and back."""

    def __init__(self, inner: tokenizers.Tokenizer) -> None:
        inner.no_padding()
        self._inner = inner

    @classmethod
    def from_json(cls, content: bytes, where: str) -> Tokenizer:
        """Read the content of a tokenizer.json; `where` names it in complaints."""
        return cls(_guarded(lambda: tokenizers.Tokenizer.from_buffer(content), where))

    def __len__(self) -> int:
        """How many ids there are, added tokens included."""
        return self._inner.get_vocab_size(with_added_tokens=True)

    def encode(self, text: str, limit: int | None = None) -> Encoding:
        """One text as tokens, at most `limit` of them."""
        return self.encode_all([text], limit)[0]

    def encode_all(self, texts: Sequence[str], limit: int | None = None) -> list[Encoding]:
        """Texts as tokens, at most `limit` each."""
        if limit is None:
            self._inner.no_truncation()
        else:
            self._inner.enable_truncation(limit)
        found = _guarded(lambda: self._inner.encode_batch(list(texts)), "tokenizer", BoughError)
        return [Encoding(one.ids, one.tokens, one.offsets, one.type_ids, bool(one.overflowing)) for one in found]

    def decode(self, ids: Sequence[int], keep_special: bool = False) -> str:
        """Ids as text."""
        decode = functools.partial(self._inner.decode, list(ids), skip_special_tokens=not keep_special)
        return _guarded(decode, "tokenizer", BoughError)


def _guarded(call: Callable[[], T], where: str, kind: type[BoughError] = ArtefactError) -> T:
    """Run the library; a panic in it is no Exception, so that only this catches it."""
    try:
        return call()
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit)):
            raise
        raise kind(
            f"{where}: the tokenizers library refuses it ({str(error).strip() or type(error).__name__})"
        ) from None
