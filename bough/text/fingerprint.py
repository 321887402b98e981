"""What a tokenizer does, as a hash: equal for two that do the same, whichever files they were read from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bough.errors import BoughError, MissingError

SPELT = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "\n"})
"""What vocabularies write for a space or a line's end."""
MARKS = ("##", "</w>")
"""What they mark pieces of words with."""
SAMPLED = 2000
"""As many tokens are read again, to see that its rules still make them; of a larger vocabulary, every so many."""
PROBES = (
    "Hello, world! The quick brown foxes aren't jumping over 1,234.5 lazy dogs...",
    "  HÉLLO\u00a0 Ünïcode e\u0301a\u0308 ﬁne ½ ² Ⅷ ™ \uff26\uff55ll\t tab\r\n\n new   line  ",
    "``quotes'' “so” — don't @-@ foo_bar a/b x=1;#tag me@example.org http://a.b/c?d=e",
    "Быстрая лиса ΑΒΓ ςσ İıſß Straße naïve Đặng łódź",
    "שלום עולם مرحبا بالعالم नमस्ते दुनिया สวัสดีชาวโลก გამარჯობა Բարեւ",
    "你好\uff0c世界。東京都 こんにちは カタカナ ｶﾀｶﾅ 안녕하세요 各 한",
    "👍🏽 👩\u200d👩\u200d👧 ❤️ 🇫🇷 a\u200bb c\u00add \ufeff \u0000 \u0007 x\u0300\u0301\u0302",
    "1 22 333 4444 55555 666666 3.14 1e-5 0x1F",
    "[CLS] [SEP] [MASK] <s> </s> <mask> <unk> <pad> <|endoftext|> <extra_id_0>",
    " ",
    "",
)
"""Texts in which normalisers, ways to find words, merges and special tokens show what they do."""


def of(
    vocabulary: Mapping[str, int],
    read: Callable[[Sequence[str]], list[list[int]]],
    around: Sequence[tuple[list[int], list[int]]],
) -> str:
    """The sha256 of a vocabulary, of what certain texts become, and of what stands around texts, with its segments."""
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    numbers = [vocabulary[token] for token in tokens]
    every = -(-len(tokens) // SAMPLED) or 1
    sampled = [_spelt(token) for token in tokens[::every]]
    bodies = _bodies([*PROBES, *sampled, "".join(sampled)], read)
    return _hash([tokens, numbers, bodies, around])


def both(source: str, target: str) -> str:
    """The fingerprint of two that belong together."""
    return _hash([source, target])


def _bodies(texts: Sequence[str], read: Callable[[Sequence[str]], list[list[int]]]) -> list[list[int] | None]:
    """What each text becomes; None where that is an error, as of a letter that a vocabulary has nothing for."""
    try:
        return list(read(texts))
    except MissingError:
        raise
    except BoughError:
        return [_body(text, read) for text in texts]


def _body(text: str, read: Callable[[Sequence[str]], list[list[int]]]) -> list[int] | None:
    try:
        return read([text])[0]
    except BoughError:
        return None


def _spelt(token: str) -> str:
    """About the text that a token is made of."""
    for mark in MARKS:
        token = token.replace(mark, "")
    return token.translate(SPELT)


def _hash(data: Any) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()
