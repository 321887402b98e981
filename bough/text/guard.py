"""Calls into the tokenizers library, which may fail in words of its own, or panic; either becomes one clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from bough.errors import BoughError

T = TypeVar("T")


def guarded(call: Callable[[], T], where: str, kind: type[BoughError]) -> T:
    """What the call gives; a panic in the library is no Exception, so that only this catches it."""
    try:
        return call()
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit, BoughError)):
            raise
        said = str(error).strip() or type(error).__name__
        raise kind(f"{where}: the tokenizers library refuses it ({said})") from None
