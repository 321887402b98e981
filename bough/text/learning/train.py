"""Vocabularies learnt from texts, of every kind the literature names; what the tokenizers library does well it does.

Words are counted first and learnt from after, so that memory follows the distinct words and not the texts. The same
words make the same vocabulary to the byte, in whatever files or order they come and on any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tokenizers import models

from bough.errors import BoughError
from bough.families.forms import Bytes, Form, Letters, Pieces, Suffixed, TwoSides, Whole
from bough.families.words import MosesWords, XlmWords
from bough.text.assemble import assembled
from bough.text.encoding import Finder
from bough.text.guard import guarded
from bough.text.learning.alphabet import BYTE_OF, BYTES, chosen, spelled
from bough.text.learning.count import HELD, Cost, Words, counted
from bough.text.learning.cuts import AT_BLANKS, AT_MARKS, BETWEEN_WORDS, BY_RUNS, NOWHERE
from bough.text.learning.kinds import Kind, Plan
from bough.text.learning.lessons import Lesson, learn
from bough.text.learning.write import files
from bough.text.reading.moses import END, moses_finder, xlm_finder
from bough.text.reading.read import tokenizer_of
from bough.text.tokenizer import Tokenizer

BASE = 128 * 2**20
"""What the interpreter and the libraries take, and what is held of texts while words are counted."""
COSTS: dict[Kind, Cost] = {
    "word": HELD,
    "character": HELD,
    "bpe": Cost(150, 160),
    "bytes": Cost(150, 160),
    "wordpiece": Cost(150, 160),
    "unigram": Cost(150, 240),
}
"""What a word takes at most while a vocabulary is learnt, as measured."""
FEWEST = 10_000
"""So many words of ten letters must have room."""


@dataclass(frozen=True)
class Trained:
    """What comes of training."""

    tokenizer: Tokenizer
    files: Mapping[str, bytes]
    """Its folder, by the names of files."""
    texts: int
    """How many it was learnt from."""
    words: int
    """How many different ones they hold."""
    notes: tuple[str, ...]
    """What whoever asked should know of it."""


def train(
    texts: Iterable[str],
    kind: Kind,
    size: int,
    form: Form | None = None,
    *,
    byte_fallback: bool = False,
    lowercase: bool | None = None,
    min_count: int = 1,
    alphabet: int | None = None,
    memory: int | None = None,
) -> Tokenizer:
    """A tokenizer of at most `size` tokens, special ones included; `Plan` says what the options mean.

    The form, a family's, says how words are found, and which special tokens stand where; where it is of another kind,
    words are found as is plain for this one.
    """
    return trained(texts, Plan(kind, size, byte_fallback, lowercase, min_count, alphabet, memory), form).tokenizer


def trained(texts: Iterable[str], plan: Plan, form: Form | None = None) -> Trained:
    """The tokenizer that was planned, with its files and what there is to say of it.

    Memory is bounded so: a few million letters of the texts are held at once, whatever their length; and of words only
    the most frequent, no more than can be learnt from within the bound at what each is known to cost.
    """
    if isinstance(texts, str):
        raise BoughError("texts: this is one text; give a list of them")
    form = plan.fitted(form)
    count = counted(texts, words_of(form), _room(plan), COSTS[plan.kind])
    if not count.words:
        raise BoughError("texts: there is no word in them; give some to learn from")
    letters, words = _letters(plan, count.words)
    lesson = Lesson(plan, form, words, letters)
    lesson.check()
    learnt = learn(lesson)
    ids = {token: number for number, token in enumerate([*lesson.front, *learnt.tokens, *form.back])}
    made = files(form, ids, guarded(lambda: learnt.model(ids), "training", BoughError), learnt.pairs)
    tokenizer = tokenizer_of(made, "tokenizer", form)
    assert tokenizer
    notes = tuple(_notes(plan, len(tokenizer), count.forgotten))
    return Trained(tokenizer, made, count.texts, len(count.words), notes)


def _notes(plan: Plan, size: int, forgotten: int) -> Iterable[str]:
    if forgotten:
        yield f"{forgotten:,} of the rarest words were forgotten to keep within the memory; allow more for them"
    if size < plan.size:
        yield f"the vocabulary has {size:,} tokens, not {plan.size:,}: there is no more to learn from these texts"


def _room(plan: Plan) -> float:
    """How many bytes words may take together, so that the process keeps within its memory."""
    least = BASE + FEWEST * COSTS[plan.kind].of("ten letter")
    if plan.memory is not None and plan.memory < least:
        raise BoughError(f"memory: {plan.memory:,} bytes are too few to learn a vocabulary; allow at least {least:,}")
    return math.inf if plan.memory is None else plan.memory - BASE


def words_of(form: Form) -> Words:
    """How words are found as the tokenizer will find them."""
    match form.vocabulary:
        case Letters():
            return Words(list, NOWHERE)
        case Suffixed(XlmWords() as words):
            return Words(_spelled(xlm_finder(words, form.specials, [])), NOWHERE)
        case Whole(MosesWords() as words):
            return Words(_spelled(moses_finder(words, form.specials)), NOWHERE)
        case Bytes():
            cut, between = BY_RUNS, ""
        case Pieces(exact=True):
            cut, between = BETWEEN_WORDS, ""
        case Pieces() | TwoSides():
            cut, between = AT_BLANKS, " "
        case _:
            cut, between = AT_MARKS, " "
    inner = assembled(form, models.BPE())
    normal: Callable[[str], str] = inner.normalizer.normalize_str if inner.normalizer else str
    split = inner.pre_tokenizer.pre_tokenize_str
    return Words(
        lambda text: [word for word, _ in guarded(lambda: split(normal(text)), "texts", BoughError)], cut, between
    )


def _spelled(find: Finder) -> Callable[[str], list[str]]:
    """The words of which a finder finds the pieces."""

    def words(text: str) -> list[str]:
        found: list[str] = []
        for piece in find(text):
            if piece.begins or not found:
                found.append("")
            found[-1] += piece.text.removesuffix(END)
        return found

    return words


def _letters(plan: Plan, words: Mapping[str, int]) -> tuple[list[str], Mapping[str, int]]:
    """The letters to know, and the words as far as they are spelled with those."""
    if plan.kind == "word":
        return [], words
    if plan.kind == "bytes":
        return sorted(BYTE_OF), words
    letters = chosen(words, plan.min_count if plan.kind == "character" else 1, plan.alphabet)
    # A unigram takes the name of a byte in a text for that byte, unless it knows letters that spell it.
    names = "".join(BYTES) if plan.falls_back and plan.kind == "unigram" else ""
    return sorted({*letters, *names}), spelled(words, letters)
