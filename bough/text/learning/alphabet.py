"""The letters that a vocabulary knows, chosen by how often they occur in words; what comes in are counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

BYTES: tuple[str, ...] = tuple(f"<0x{number:02X}>" for number in range(256))
"""How a vocabulary that falls back to bytes spells them."""


PLAIN = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)}
"""The bytes that stand for themselves as letters, where all text is bytes; each other has a letter behind them all."""
OTHERS = [byte for byte in range(256) if byte not in PLAIN]
BYTE_OF = {chr(byte): byte for byte in PLAIN} | {chr(256 + number): byte for number, byte in enumerate(OTHERS)}
"""The byte that each of those letters stands for."""


def from_bytes(token: str) -> str:
    """What a token of such letters says; bytes that are no letter by themselves by their numbers."""
    if not all(letter in BYTE_OF for letter in token):
        return token
    return bytes(BYTE_OF[letter] for letter in token).decode(errors="backslashreplace")


def chosen(words: Mapping[str, int], least: int, most: int | None) -> list[str]:
    """The letters that occur as often as `least`; of more than `most` the most frequent; in order."""
    seen: Counter[str] = Counter()
    for word, times in words.items():
        for letter in word:
            seen[letter] += times
    often = [letter for letter, times in seen.items() if times >= least]
    return sorted(sorted(often, key=lambda letter: (-seen[letter], letter))[:most])


def spelled(words: Mapping[str, int], letters: list[str]) -> Mapping[str, int]:
    """The words as far as these letters spell them: any other ends one."""
    others = set("".join(words)) - set(letters)
    if not others:
        return words
    apart = re.compile(f"[{''.join(map(re.escape, sorted(others)))}]+")
    parts: Counter[str] = Counter()
    for word, times in words.items():
        for part in filter(None, apart.split(word)):
            parts[part] += times
    return parts
