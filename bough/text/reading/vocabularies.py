"""Vocabularies and merges as plain files, each complaint with its line: what comes in are bytes, what goes out data."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from bough.errors import ArtefactError
from bough.record import brief

MOST = 2**32 - 16
"""More than any number of a token: the library counts in 32 bits."""


def lines(content: bytes, where: str) -> Iterator[tuple[int, str]]:
    """The lines of a text file and their numbers; only line feeds end lines, since tokens may hold the other ends."""
    rows = content.split(b"\n")
    for number, row in enumerate(rows[:-1] if not rows[-1] else rows, start=1):
        try:
            yield number, row.decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            raise ArtefactError(f"{where}:{number}: not UTF-8 ({error.reason}); fetch or write it again") from None


def listed(content: bytes, where: str, counted: bool = False) -> dict[str, int]:
    """A token on each line, numbered from 0; where they are counted, a count may stand behind it."""
    found: dict[str, int] = {}
    for number, line in lines(content, where):
        words = line.split()
        token = (words[0] if words else "") if counted else line.rstrip()
        if token and token in found:
            raise ArtefactError(f"{where}:{number}: {brief(token)} stands on line {found[token] + 1} as well")
        if counted and not token:
            raise ArtefactError(f"{where}:{number}: is blank; each line needs a word")
        found[token] = number - 1
    if not found:
        raise ArtefactError(f"{where}: is empty; it needs a token on each line")
    return found


def numbered(content: bytes, where: str) -> dict[str, int]:
    """A JSON object that gives each token its number."""
    text = "\n".join(line for _, line in lines(content, where))
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except json.JSONDecodeError as error:
        raise ArtefactError(f"{where}:{error.lineno}:{error.colno}: not JSON ({error.msg}); fetch it again") from None
    except (ValueError, RecursionError):
        raise ArtefactError(f"{where}: refused, because a number in it is too long or it is nested too deep") from None
    if not text.lstrip().startswith("{") or not pairs:
        raise ArtefactError(f"{where}: must be a JSON object that gives each token its number")
    found: dict[str, int] = {}
    holders: dict[int, str] = {}
    for token, number in pairs:
        problem = (
            f"must have a whole number from 0 up, not {brief(number)}"
            if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < MOST
            else "is there twice" if token in found
            else f"has the number {number}, which {brief(holders[number])} has" if number in holders
            else ""
        )  # fmt: skip
        if problem:
            raise ArtefactError(f"{where}:{_line(text, token)}: {brief(token)} {problem}")
        found[token] = number
        holders[number] = token
    return found


def merges(
    content: bytes, where: str, known: Collection[str] | None = None, counted: bool = False
) -> list[tuple[str, str]]:
    """Two parts on each line, in the order they are merged.

    Parts and what they make have to be `known`, where that is given. Where they are counted, a count may stand behind.
    """
    found: list[tuple[str, str]] = []
    for number, line in lines(content, where):
        if line.startswith("#version"):
            continue
        parts = line.split() if counted else line.split(" ")
        if len(parts) < 2 or (len(parts) > 2 and not counted) or not all(parts[:2]):
            raise ArtefactError(f"{where}:{number}: must be two parts with a space between them, not {brief(line)}")
        first, second = parts[:2]
        unknown = [one for one in (first, second, first + second) if known is not None and one not in known]
        if unknown:
            raise ArtefactError(f"{where}:{number}: {brief(unknown[0])} is not in the vocabulary beside it")
        found.append((first, second))
    return found


def _line(text: str, token: str) -> int:
    """The line on which a key of a JSON object stands last, however it is spelt."""
    places = [text.rfind(spelt) for spelt in (json.dumps(token), json.dumps(token, ensure_ascii=False))]
    return text.count("\n", 0, max(0, *places)) + 1
