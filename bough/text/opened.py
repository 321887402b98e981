"""Opening a tokenizer.json that nobody vouches for: it is tried on a few texts before it is trusted with any."""

from __future__ import annotations

import contextlib
import json
import re
import string
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import tokenizers

from bough.errors import ArtefactError
from bough.record import brief
from bough.text.guard import guarded, hushed

LETTERS = string.printable + "\0éß東\u0301"
TIMES = 64
"""How often each is repeated in a text: an expression that tries every way to share them out would never end.

Behind them stand all of them, for the library looks no further where a letter that an expression needs is missing.
"""
PATIENCE = 0.5
"""Seconds of the processor for such a text, which takes a ten thousandth of that."""
ADDED = re.compile(rb'"added_tokens"\s*:\s*')
MOST_ADDED = 4 * 2**20
"""Bytes of the list of added tokens, which is parsed here."""
REMEDY = "fetch the file again, or write it again with the tool that made it"


def opened(content: bytes, where: str) -> tokenizers.Tokenizer:
    """The tokenizer of such a file; whatever makes it unfit for every text is an error that names the file."""
    with hushed():
        inner = guarded(lambda: tokenizers.Tokenizer.from_buffer(content), where, ArtefactError, REMEDY)
        inner.no_padding()
        inner.no_truncation()
        _check_ids(inner, content, where)
        _try(lambda: inner.encode("a", "a"), where)
        for letter in LETTERS:
            start = time.thread_time()
            _try(lambda letter=letter: inner.encode(letter * TIMES + "\0" + LETTERS), where)
            took = time.thread_time() - start
            if took > PATIENCE:
                raise ArtefactError(
                    f"{where}: refused, because a text of {TIMES} times {letter!r} costs it {took:.1f} s; "
                    "mend its regular expressions"
                )
    return inner


def _try(call: Callable[[], object], where: str) -> None:
    """Call it for its panics alone: an error in good order, as of a letter that it does not have, may never matter."""

    def tried() -> None:
        with contextlib.suppress(Exception):
            call()

    guarded(tried, where, ArtefactError, REMEDY)


def _check_ids(inner: tokenizers.Tokenizer, content: bytes, where: str) -> None:
    """Raise where two tokens have one id, or an added one not the id that the file says; the library lets both pass."""
    vocabulary = inner.get_vocab(with_added_tokens=True)
    if len(set(vocabulary.values())) < len(vocabulary):
        number, _ = Counter(vocabulary.values()).most_common(1)[0]
        both = " and ".join(brief(token) for token in sorted(vocabulary) if vocabulary[token] == number)
        raise ArtefactError(f"{where}: {both} have the same id, {number}; {REMEDY}")
    for token, number in _declared(content, where):
        found = inner.token_to_id(token)
        if found != number:
            raise ArtefactError(
                f"{where}: gives {brief(token)} the id {number}, where it can only be {found}; {REMEDY}"
            )


def _declared(content: bytes, where: str) -> list[tuple[str, int]]:
    """The ids that the file says its added tokens have; it is known to be well formed."""
    start = ADDED.search(content)
    if not start:
        return []
    text = content[start.end() : start.end() + MOST_ADDED].decode(errors="ignore")
    try:
        added = json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        raise ArtefactError(
            f"{where}: refused, because it has more than {MOST_ADDED >> 20} MiB of added tokens"
        ) from None
    if not isinstance(added, list):
        return []
    rows = cast("list[dict[str, Any]]", added)
    return [(row["content"], row["id"]) for row in rows if row["content"]]
