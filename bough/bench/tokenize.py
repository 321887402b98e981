"""Tokenize: vocabularies learnt from a text, and the text written in ids; beside the library that does it, directly."""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import tokenizers
import torch
from tokenizers import models, pre_tokenizers, trainers
from torch import Tensor

from bough.bench.work import Case, Effort, Run, Runner, Task
from bough.data.samples.named import get
from bough.text.assemble import assembled
from bough.text.learning.kinds import Kind, Plan
from bough.text.learning.train import train
from bough.text.tokenizer import Tokenizer

SAMPLE, SIZE = "pydocs", 8000
LEARNT: tuple[Kind, ...] = ("word", "bpe", "bytes", "wordpiece", "unigram")
WRITTEN: tuple[Kind, ...] = ("bytes", "wordpiece")
HELD, GROUPS = 200, 10
"""So many lines that were not learnt from are what two vocabularies of a kind are compared on, in so many groups."""
DIRECTLY = "the library, directly"


@contextmanager
def tokenize(effort: Effort) -> Generator[Task]:
    """The work."""
    folder = get(SAMPLE)
    lines, held = (_lines((folder / name).read_text(encoding="utf-8")) for name in ("train.txt", "test.txt"))
    yield task(lines[:: 8 if effort.quick else 1], held[:HELD])


def task(lines: Sequence[str], held: Sequence[str], size: int = SIZE) -> Task:
    """Learning from lines, of which others are held back to compare what was learnt."""
    learn = [_learning(kind, lines, held, size) for kind in LEARNT]
    write = [_writing(kind, lines, size) for kind in WRITTEN]
    amount = sum(len(line.encode()) for line in lines)
    return Task(
        says=(
            f"vocabularies of {size:,} tokens learnt from {amount / 1e6:.1f} MB of {SAMPLE}, and its {len(lines):,} "
            "lines written as ids"
        ),
        unit="bytes",
        amount=amount,
        cases=(*learn, *write),
    )


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def _learning(kind: Kind, lines: Sequence[str], held: Sequence[str], size: int) -> Case:
    """A vocabulary learnt; an answer is how many pieces it makes of each group of the lines held back."""
    return Case(
        f"learn {kind}",
        Runner("bough", lambda: lambda: _counts(train(lines, kind, size).ids(held))),
        (Runner(DIRECTLY, lambda: lambda: _counts(_ids(direct(kind, lines, size), held)), "tokenizers"),),
        alone=True,
    )


def _writing(kind: Kind, lines: Sequence[str], size: int) -> Case:
    """Lines written as ids, which are the answers."""

    @functools.cache
    def learnt() -> Tokenizer:
        return train(lines, kind, size)

    def ours() -> Run:
        tokenizer = learnt()
        return lambda: _tensors(tokenizer.ids(lines))

    def theirs() -> Run:
        inner = tokenizers.Tokenizer.from_str(learnt().to_json())
        return lambda: _tensors(_ids(inner, lines))

    return Case(f"write {kind}", Runner("bough", ours), (Runner(DIRECTLY, theirs, "tokenizers"),), alone=True)


def direct(kind: Kind, lines: Sequence[str], size: int) -> tokenizers.Tokenizer:
    """A vocabulary learnt by the library, in the form that Bough gives the kind."""
    form = Plan(kind, size).fitted(None)
    said: dict[str, Any] = {"vocab_size": size, "special_tokens": list(form.front), "show_progress": False}
    match kind:
        case "word":
            model, trainer = models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(**said)  # noqa: S106
        case "wordpiece":
            model, trainer = models.WordPiece(unk_token="<unk>"), trainers.WordPieceTrainer(**said)  # noqa: S106
        case "unigram":
            model, trainer = models.Unigram(), trainers.UnigramTrainer(**said, unk_token="<unk>")  # noqa: S106
        case "bytes":
            letters = sorted(pre_tokenizers.ByteLevel.alphabet())
            model, trainer = models.BPE(), trainers.BpeTrainer(**said, initial_alphabet=letters)
        case _:
            marks: dict[str, Any] = {"end_of_word_suffix": "</w>"}
            model, trainer = models.BPE(unk_token="<unk>", **marks), trainers.BpeTrainer(**said, **marks)  # noqa: S106
    inner = assembled(form, model)
    inner.train_from_iterator(lines, trainer)
    return inner


def _ids(inner: tokenizers.Tokenizer, lines: Sequence[str]) -> list[list[int]]:
    return [one.ids for one in inner.encode_batch_fast(list(lines), add_special_tokens=False)]


def _counts(rows: Sequence[Sequence[int]]) -> list[Tensor]:
    return [torch.tensor([float(sum(map(len, rows[group::GROUPS]))) for group in range(GROUPS)])]


def _tensors(rows: Sequence[Sequence[int]]) -> list[Tensor]:
    return [torch.tensor([float(number) for row in rows for number in row])]
