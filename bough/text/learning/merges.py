"""Merges learnt by the tokenizers library; what comes in are words and their counts, not texts.

The library numbers the letters that carry a mark in an order that changes from run to run, and lets numbers decide
between pairs of the same count. Here all letters are numbered before it begins, so that it always finds the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from bough.errors import BoughError
from bough.text.guard import guarded

LINE = 2**14
"""Letters in which words are told over and over; the library holds some hundred lines at once."""
MOST = 2**31 - 1
"""The library counts pairs up to here."""


def learn(
    counts: Mapping[str, int],
    size: int,
    known: Sequence[str],
    *,
    prefix: str | None = None,
    suffix: str | None = None,
    least: int = 1,
) -> tuple[list[str], list[tuple[str, str]]]:
    """Merge what stands side by side most often, until there are `size` tokens or no pair is as frequent as `least`.

    What is found are the tokens in the order of their ids, and the pairs that are merged, the first ones first.

    The `known` tokens come first, all letters among them; a letter that is not is passed over. A prefix marks what does
    not begin a word, a suffix what ends one; letters that carry it are known too.
    """
    inner = tokenizers.Tokenizer(models.BPE())
    letters = {letter for word in counts for letter in word}
    between = next(letter for letter in map(chr, range(32, len(letters) + 33)) if letter not in letters)
    inner.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(between)
    marks: dict[str, Any] = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=least,
        special_tokens=list(known),
        limit_alphabet=0,  # none but those known
        show_progress=False,
        **{name: mark for name, mark in marks.items() if mark},
    )
    guarded(lambda: inner.train_from_iterator(_told(counts, between), trainer), "training", BoughError)
    found = json.loads(inner.to_str())["model"]
    ids: dict[str, int] = found["vocab"]
    return sorted(ids, key=ids.__getitem__), [(first, second) for first, second in found["merges"]]


def _told(counts: Mapping[str, int], between: str) -> Iterator[str]:
    """Every word as often as it occurs; of words too many for the library to count, each that much less often."""
    share = max(1, sum(len(word) * count for word, count in counts.items()) / MOST)
    line: list[str] = []
    room = LINE
    for word, count in counts.items():
        if len(word) == 1:
            continue  # there is nothing to merge in it
        once, left = word + between, max(1, int(count / share))
        while left > 0:
            times = min(left, max(1, room // len(once)))
            line.append(once * times)
            left -= times
            room -= times * len(once)
            if room <= 0 or left:
                yield "".join(line)
                line, room = [], LINE
    yield "".join(line)
