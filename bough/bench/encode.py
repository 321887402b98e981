"""Encode: the last hidden states of a ragged batch, by a net of random weights that all tools load from one folder."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from bough import checkpoints
from bough.bench.work import Answers, Case, Effort, Run, Runner, Task
from bough.core import fresh
from bough.families import family, preset
from bough.model import Precision, load
from bough.packed import Ids, Packed
from bough.spec import Spec

MEAN, SPREAD, LONGEST = 37, 0.7, 256
"""Lengths as sentences and paragraphs have them: log-normal, many short and a few long."""
FIRST_WORD = 5
"""Ids below it are some family's padding, which a peer may count out of the positions."""
BATCH = 32
"""How many sequences a peer pads together, as is its users' habit."""
PRECISIONS: tuple[Precision, ...] = ("fp32", "bf16")


@contextmanager
def encode(effort: Effort) -> Generator[Task]:
    """The work, its weights in a folder of their own."""
    spec = effort.spec or preset("bert-base")
    kin = family(spec.family)
    # The pooler costs next to nothing, and a peer that has one draws it afresh and complains where the file has none.
    spec = spec.but(outputs=kin.outputs.only("pooler"))
    ids = sentences(effort.sequences, spec)
    lengths = [len(one) for one in ids]
    size = f"{kin.title}, {spec.parameters / 1e6:,.0f} million parameters"
    with TemporaryDirectory(prefix="bough-bench-") as folder:
        checkpoints.save(folder, spec, fresh(spec))
        yield Task(
            says=(
                f"hidden states of {len(ids):,} sequences of {min(lengths)} to {max(lengths)} tokens, "
                f"{sum(lengths) / len(ids):.0f} in the mean; {size}"
            ),
            unit="tokens",
            amount=sum(lengths),
            cases=tuple(_case(folder, ids, precision, effort.device) for precision in PRECISIONS),
        )


def sentences(count: int, spec: Spec, seed: int = 0) -> list[list[int]]:
    """Random ids in sequences of log-normal lengths, the same for every tool and on every run."""
    generator = torch.Generator().manual_seed(seed)
    middle = math.log(MEAN) - SPREAD**2 / 2
    drawn = (torch.randn(count, generator=generator) * SPREAD + middle).exp().round()
    lengths = drawn.clamp(1, min(LONGEST, spec.limit or LONGEST)).int()
    return [torch.randint(FIRST_WORD, spec.vocabulary, (int(one),), generator=generator).tolist() for one in lengths]


def _case(folder: str, ids: Sequence[Ids], precision: Precision, device: str) -> Case:
    as_given, by_length = list(range(len(ids))), sorted(range(len(ids)), key=lambda one: len(ids[one]))
    peers = (
        Runner(
            f"transformers, {way}",
            functools.partial(_transformers, folder, ids, order, precision, device),
            needs="transformers",
            note=f"padded to {_cells(ids, order):.2f} cells for each token",
        )
        for way, order in (("as given", as_given), ("sorted", by_length))
    )
    return Case(precision, Runner("bough", functools.partial(_bough, folder, ids, precision, device)), tuple(peers))


def _bough(folder: str, ids: Sequence[Ids], precision: Precision, device: str) -> Run:
    model = load(folder, precision=precision, device=device)
    return lambda: model.hidden(ids)


def _transformers(folder: str, ids: Sequence[Ids], order: Sequence[int], precision: Precision, device: str) -> Run:
    """The reference library as its users run it: batches padded to their longest sequence, and masked."""
    transformers = importlib.import_module("transformers")
    transformers.utils.logging.disable_progress_bar()
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
    net = transformers.AutoModel.from_pretrained(folder, dtype=dtype).eval().to(device)

    def run() -> Answers:
        answers: list[Tensor] = [torch.empty(0)] * len(ids)
        with torch.inference_mode():
            for numbers in _batches(order):
                batch = Packed.of([ids[n] for n in numbers], device=device)
                padded, cells = batch.padded()
                states = net(input_ids=padded, attention_mask=cells.long()).last_hidden_state
                for number, length, state in zip(numbers, batch.lengths, states, strict=True):
                    answers[number] = state[:length]
        return answers

    return run


def _batches(order: Sequence[int]) -> list[Sequence[int]]:
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


def _cells(ids: Sequence[Ids], order: Sequence[int]) -> float:
    """How many cells a peer computes for each token when it takes the sequences in this order."""
    cells = sum(len(numbers) * max(len(ids[n]) for n in numbers) for numbers in _batches(order))
    return cells / sum(len(one) for one in ids)
