"""How words are found in a text, as data: what a family's form says of them."""

from __future__ import annotations

from dataclasses import dataclass

from bough.record import Record


@dataclass(frozen=True)
class Cleaned(Record):
    """Words as BERT finds them: unprintable characters dropped, then cut at spaces and around punctuation."""

    lowercase: bool = True
    strip_accents: bool | None = None
    """Where it is not said, accents go where capitals go."""
    chinese: bool = True
    """Whether each Chinese character is a word."""


@dataclass(frozen=True)
class XlmWords(Record):
    """Words as XLM was given them: Asian punctuation written as Latin, unprintable characters dropped, then Moses."""

    bare: bool = True
    """Whether words lose capitals and accents once they are found."""
    language: str = "en"


@dataclass(frozen=True)
class MosesWords(Record):
    """Words as Transformer-XL was given them: by Moses, hyphens and the marks in numbers as words of their own."""

    lowercase: bool = False
    language: str = "en"
