"""Words as XLM and Transformer-XL were given them, by sacremoses, each letter traced to its place in the text.

What sacremoses does to marks is a list of substitutions, made here one by one; what it cuts is followed by letter.
"""

from __future__ import annotations

import functools
import importlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tokenizers import models

from bough.errors import MissingError
from bough.families.words import MosesWords, XlmWords
from bough.text.encoding import Word
from bough.text.reading.apart import Apart
from bough.text.reading.traced import Span, Traced

END = "</w>"
"""How BPE marks the last piece of a word."""
UNKNOWN = " "
"""No word has one, so that it can stand for the letters that no merge has."""
DOTS = re.compile("(?:DOT)+MULTI")
"""What sacremoses writes for several dots meanwhile; in a text that says so itself, it becomes dots as well."""
IN_NUMBERS = re.compile(r"(?<=\d)[,.](?=\d)")
MISSING = 'these words are found by sacremoses, which is not installed; run `pip install "bough[moses]"`'


class Moses:
    """What sacremoses does for one language."""

    def __init__(self, language: str) -> None:
        try:
            self._library: Any = importlib.import_module("sacremoses")
        except ImportError:
            raise MissingError(f"tokenizer: {MISSING}") from None
        normalizer = self._library.MosesPunctNormalizer
        self._marks = _rules(normalizer(language).substitutions)
        self._latin = _rules(normalizer.REPLACE_UNICODE_PUNCTUATION)
        self._cutter = self._library.MosesTokenizer(language)

    def latin(self, text: Traced) -> Traced:
        """A text with the marks of Asian scripts written as Latin ones."""
        return _rewritten(text, self._latin)

    def marked(self, text: Traced) -> Traced:
        """A text with each mark written in one way."""
        return _rewritten(text, self._marks).stripped()

    def cut(self, text: Traced, **options: Any) -> Iterator[Traced]:
        """The words of a text, and its marks as words of their own."""
        source = text.replaced(DOTS, lambda match: "." * (len(match[0]) // 3 - 1))
        at = 0
        for word in self._cutter.tokenize(text.text, return_str=False, escape=False, **options):
            spans, at = _followed(word, source, at)
            yield Traced(word, spans)


def moses_finder(words: MosesWords, specials: Sequence[str]) -> Callable[[str], list[Word]]:
    """What finds the words of a text as Transformer-XL was given them."""
    apart, kept = Apart(specials), list(specials)

    def find(text: str) -> list[Word]:
        moses, whole = _moses(words.language), Traced.of(text)
        if words.lowercase:
            parts = [(whole.part(start, end), special) for start, end, special in apart(text)]
            whole = Traced.joined(part if special else part.mapped(str.lower) for part, special in parts)
        found: list[Word] = []
        for start, end, special in apart(whole.text):
            part = whole.part(start, end)
            cut = moses.cut(moses.marked(part.stripped()), aggressive_dash_splits=True, protected_patterns=kept)
            found += map(_word, [part] if special else (piece for word in cut for piece in _numbers(word)))
        return found

    return find


def xlm_finder(
    words: XlmWords, specials: Sequence[str], merges: Sequence[tuple[str, str]]
) -> Callable[[str], list[Word]]:
    """What finds the pieces of a text's words as XLM was given them."""
    apart, pieces = Apart(specials), _merger(merges)

    def find(text: str) -> list[Word]:
        moses, whole = _moses(words.language), Traced.of(text)
        found: list[Word] = []
        for start, end, special in apart(text):
            part = whole.part(start, end)
            if special:
                found.append(_word(part))
                continue
            for word in moses.cut(moses.marked(moses.latin(part)).mapped(_printable)):
                found += pieces(_bare(word) if words.bare else word)
        return found

    return find


@functools.cache
def _moses(language: str) -> Moses:
    return Moses(language)


def _rules(pairs: Sequence[tuple[str, str]]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), new) for pattern, new in pairs]


def _rewritten(text: Traced, rules: Sequence[tuple[re.Pattern[str], str]]) -> Traced:
    for pattern, new in rules:
        text = text.replaced(pattern, lambda match, new=new: match.expand(new))
    return text


def _followed(word: str, source: Traced, at: int) -> tuple[list[Span], int]:
    """Where each letter of a word that was cut out of a text from this place on comes from, and where the next may."""
    spans: list[Span] = []
    letters = source.text
    for letter in word:
        while at < len(letters) and (letters[at].isspace() or letters[at] < " "):
            at += 1
        spans.append(source.spans[min(at, len(letters) - 1)])
        if len(word) == 3 and word == f"@{letters[at : at + 1]}@":  # a hyphen that was cut out between two words
            return spans * 3, at + 1
        at += letters[at : at + 1] == letter
    return spans, at


def _numbers(word: Traced) -> Iterator[Traced]:
    """A word, or its numbers and the marks between them."""
    done = 0
    for match in IN_NUMBERS.finditer(word.text):
        yield word.part(done, match.start())
        done = match.end()
        yield Traced(f"@{match[0]}@", [*word.spans[match.start() : done]] * 3)
    yield word.part(done, len(word.text))


def _printable(letter: str) -> str:
    return "" if unicodedata.category(letter).startswith("C") else letter


def _bare(word: Traced) -> Traced:
    """A word without capitals and accents; as a whole, for a letter's small form may depend on its place."""
    if word.text.isascii():
        return Traced(word.text.lower(), word.spans)
    for change in (str.lower, functools.partial(unicodedata.normalize, "NFD"), _unmarked, str.lower):
        word = Traced(change(word.text), word.mapped(change).spans)
    return word


def _unmarked(text: str) -> str:
    return "".join(letter for letter in text if unicodedata.category(letter) != "Mn")


def _word(text: Traced, end: str = "", begins: bool = True) -> Word:
    """Letters that were found together, as one to look up; all of it stands for all of their place."""
    spelling = text.text + end
    return Word(spelling, [text.span(0, len(text.text))] * len(spelling), begins)


def _merger(merges: Sequence[tuple[str, str]]) -> Callable[[Traced], Iterator[Word]]:
    """What merges the letters of a word into pieces; they may be more than a vocabulary has, and are then unknown."""
    symbols = dict.fromkeys([UNKNOWN, *(one for a, b in merges for one in (a, b, a + b))])
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    model = models.BPE(vocab=numbers, merges=list(merges), unk_token=UNKNOWN, end_of_word_suffix=END, fuse_unk=False)

    def pieces(word: Traced) -> Iterator[Word]:
        at = 0
        tokens = model.tokenize(word.text) if word.text else []
        for number, token in enumerate(tokens, start=1):
            end = END if number == len(tokens) else ""
            length = len(token.value) - len(end) if token.id else 1
            yield _word(word.part(at, at + length), end, begins=at == 0)
            at += length

    return pieces
