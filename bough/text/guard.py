"""Calls into the tokenizers library, which may fail in words of its own, or panic; either becomes one clear error."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from bough.errors import BoughError
from bough.record import brief

T = TypeVar("T")

EXPLAINED = {
    "retry-limit-in-match over": "one of its regular expressions tries more than ten million ways at one place",
}
"""What the library means, where its own words do not say it."""

OPENING = "Cannot instantiate Tokenizer from buffer: "
"""What it says in front of all that is wrong with a file."""

ALONE = threading.Lock()
"""A process has one stderr, which one thread at a time may take away."""


def guarded(call: Callable[[], T], where: str, kind: type[BoughError], remedy: str = "") -> T:
    """What the call gives; a panic in the library is no Exception, so that only this catches it."""
    try:
        return call()
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit, BoughError)):
            raise
        said = str(error).strip() or type(error).__name__
        said = next((ours for theirs, ours in EXPLAINED.items() if theirs in said), said)
        said = said.removeprefix(OPENING)
        raise kind(f"{where}: the tokenizers library refuses it ({said}){remedy and f'; {remedy}'}") from None


@contextlib.contextmanager
def hushed() -> Generator[None]:
    """Keep from stderr the trace that a panic prints there before it becomes an error; all else comes out behind."""
    with ALONE, contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # of a process that has no stderr, or no room for a file
            stderr = os.dup(2)
            stack.callback(os.close, stderr)
            kept = stack.enter_context(tempfile.TemporaryFile())
            os.dup2(kept.fileno(), 2)

            def put_back(error: type[BaseException] | None, *_: object) -> None:
                os.dup2(stderr, 2)
                if not error:
                    kept.seek(0)
                    os.write(stderr, kept.read())

            stack.push(put_back)
        yield


def check_texts(rows: Iterable[tuple[Any, ...]]) -> None:
    """Raise where what was given is no text, which is not the tokenizer's fault."""
    for number, row in enumerate(rows):
        for text in row:
            if not isinstance(text, str):
                raise BoughError(f"text {number}: must be text, not {brief(text)}")
            half = next((place for place, letter in enumerate(text) if "\ud800" <= letter <= "\udfff"), None)
            if half is not None:
                raise BoughError(
                    f"text {number}: letter {half + 1} is half a character, U+{ord(text[half]):04X} (a lone "
                    "surrogate), which no vocabulary has; replace it"
                )
