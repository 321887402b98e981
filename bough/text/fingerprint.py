"""What a tokenizer does, as a hash: equal for two that do the same, whichever files they were read from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from bough.text.specials import Template

PROBES = ("Hello, world!", "  Ünïcode\u0301 123 l'été\t\n東京 Москва नमस्ते שלום 👩‍👩‍👧 ½ﬁ")
"""Texts in which normalisers, pre-tokenisers and merges show what they do."""


def fingerprint(
    vocabulary: Mapping[str, int], read: Callable[[Sequence[str]], list[list[int]]], templates: Sequence[Template]
) -> str:
    """The sha256 of a vocabulary, of what certain texts become when read with it, and of what stands around them."""
    tokens = sorted((number, token) for token, number in vocabulary.items())
    around = [(one.around, one.segments, one.bodies) for one in templates]
    return hashlib.sha256(json.dumps([tokens, read(PROBES), around]).encode()).hexdigest()
