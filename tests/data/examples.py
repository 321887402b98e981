"""Examples as a store holds them, and batches taken apart again, so that tests can compare item with item."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import tokenizers
import torch
from tokenizers import models, pre_tokenizers, processors

from bough.data.draw import Draw
from bough.data.feeding.batch import Batch, Collate, Example
from bough.text import Template, Tokenizer

WORDS = 200
PAD, UNK, CLS, SEP, MASK = range(5)
FIRST_WORD = 5
ORDINARY = np.arange(FIRST_WORD, WORDS)
ONE = Template(((CLS,), (SEP,)), ((0,), (0,)), (0,))
TWO = Template(((CLS,), (SEP,), (SEP,)), ((0,), (0,), (1,)), (0, 1))
END = Template(((), (SEP,)), ((), (0,)), (0,))
BARE = Template(((), ()), ((), ()), (0,))


def tokenizer(*more: str, mask: bool = True) -> Tokenizer:
    """A tokenizer of the words w5, w6 …, with BERT's special tokens and others, such as `<extra_id_0>`."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]" if mask else "w4"]
    vocabulary = {word: number for number, word in enumerate(special)}
    vocabulary |= {f"w{number}": number for number in range(FIRST_WORD, WORDS)}
    inner = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.add_special_tokens([*special[: 5 if mask else 4], *more])
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return Tokenizer(inner)


def text(ids: Sequence[int]) -> str:
    """What that tokenizer makes these ids of."""
    return " ".join(f"w{one}" for one in ids)


def examples(lengths: Sequence[int], seed: int = 0) -> list[Example]:
    """Examples with every column there is, their texts of these lengths; no id is special."""
    draw = np.random.default_rng(seed)

    def ids(length: int) -> Any:
        return draw.integers(FIRST_WORD, WORDS, length).astype(np.uint8)

    def starts(length: int) -> Any:
        return np.append(1, draw.random(length - 1) < 0.6).astype(np.uint8) if length else np.zeros(0, np.uint8)

    made: list[Example] = []
    for number, length in enumerate(lengths):
        other, third = (int(one) for one in draw.integers(0, length + 4, 2))
        made.append({
            "ids": ids(length), "starts": starts(length),
            "ids_pair": ids(other), "starts_pair": starts(other),
            "target": ids(third), "starts_target": starts(third),
            "begins": starts(length), "label": number % 3, "pair": number % 2,
        })  # fmt: skip
    return made


def some(count: int = 24, most: int = 40, seed: int = 0) -> list[Example]:
    """Examples of many lengths, among them none, one and two tokens."""
    lengths = np.random.default_rng(seed).integers(0, most, count)
    lengths[:3] = 0, 1, 2
    return examples(lengths.tolist(), seed)


def sizes(given: Sequence[Example]) -> dict[str, Any]:
    """How long each column of sequences is in each example, as a store knows it."""
    names = [name for name, value in given[0].items() if isinstance(value, np.ndarray)]
    return {name: np.array([len(one[name]) for one in given], np.int64) for name in names}


def batch_of(collate: Collate, given: Sequence[Example], seed: int = 0, first: int = 0) -> Batch:
    """A batch of all of them, numbered on from the first."""
    return collate(given, range(first, first + len(given)), Draw(seed))


def apart(batch: Batch) -> list[dict[str, Any]]:
    """What a batch says of each item, rows counted from the item's first."""
    read = batch.inputs
    each = {"ids": read.ids, "segments": read.segments, "positions": read.positions}
    each |= {} if read.languages is None else {"languages": read.languages}
    columns = {name: [part.tolist() for part in read.split(values)] for name, values in each.items()}
    if read.source is not None:
        columns["source"] = [part.tolist() for part in read.source.split(read.source.ids)]
    bounds = read.offsets
    by_row = {"at", "words"} if "words" in batch.goals else {"at", "labels"} if "at" in batch.goals else set[str]()
    cuts = torch.searchsorted(batch.goals["at"], bounds).tolist() if by_row else []
    for name, goal in batch.goals.items():
        parts = [goal[start:end] for start, end in pairwise(cuts)] if name in by_row else list(goal)
        firsts = bounds.tolist() if name in ("at", "starts", "ends") else [0] * len(parts)
        columns[name] = [(part - first).tolist() for part, first in zip(parts, firsts, strict=False)]
    return [dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True)]
