"""Feed: batches of masked words made from a store, beside what a small model takes to learn from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
import torch.nn.functional as F

from bough.bench.encode import sentences
from bough.bench.work import Answers, Case, Effort, Run, Runner, Task
from bough.core import build
from bough.data.feeding.batch import Batch
from bough.data.feeding.feed import Feed
from bough.data.feeding.items import Rows
from bough.data.goals.collate import Collation
from bough.data.goals.masking import Masking
from bough.data.goals.wrap import Wrap
from bough.data.storing.store import Store, writing
from bough.families import family, preset
from bough.spec import Spec
from bough.text import Template

SEQUENCES, QUICK = 512, 128
BUDGET = 2048
CLS, SEP, MASK = 101, 102, 103
"""Where BERT's vocabulary has them."""


def small() -> Spec:
    """BERT in small, with the vocabulary that it was published with."""
    kin = family("bert")
    return preset("bert-base").but(width=256, depth=4, heads=4, outputs=kin.outputs.only("words"))


@contextmanager
def feed(effort: Effort) -> Generator[Task]:
    """The work, its store in a folder of its own."""
    with TemporaryDirectory(prefix="bough-bench-") as folder:
        yield task(Path(folder) / "store", QUICK if effort.quick else SEQUENCES, small(), effort.device)


def task(folder: Path, count: int, spec: Spec, device: str) -> Task:
    """So many sequences given once, and learned from."""
    store = _stored(folder, count, spec)
    batches = list(_feed(store, spec))
    return Task(
        says=(
            f"masked words of {count:,} sequences in batches of {BUDGET:,} tokens; "
            f"BERT, {spec.depth} layers of width {spec.width}, {spec.vocabulary:,} words"
        ),
        unit="tokens",
        amount=sum(batch.tokens for batch in batches),
        cases=(
            Case(
                "one process",
                Runner("given", lambda: _giving(store, spec)),
                (Runner("learned from", lambda: _learning(batches, spec, device), needs="torch", note=NOTE),),
            ),
        ),
    )


NOTE = "forward, backward and a step of AdamW on the same batches, so that the ratio is how far the feed is ahead"


def _stored(folder: Path, count: int, spec: Spec) -> Store:
    with writing(folder) as writer:
        for ids in sentences(count, spec):
            writer.add({"ids": ids, "starts": [1] * len(ids)})
    return Store(folder)


def _feed(store: Store, spec: Spec) -> Feed:
    """Every sequence once, as BERT reads it."""
    wrap = Wrap(Template(((CLS,), (SEP,)), ((0,), (0,)), (0,)))
    masking = Masking(MASK, np.arange(MASK + 1, spec.vocabulary))
    return Feed(Rows(store), Collation(wrap, (masking,)), BUDGET, epochs=1)


def _giving(store: Store, spec: Spec) -> Run:
    source = _feed(store, spec)

    def run() -> Answers:
        source.begin()
        return [_asked(batch) for batch in source]

    return run


def _learning(batches: list[Batch], spec: Spec, device: str) -> Run:
    net = build(spec).train().to(device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4)
    moved = [_moved(batch, device) for batch in batches]

    def run() -> Answers:
        for batch in moved:
            at, words = batch.goals["at"], batch.goals["words"]
            states = net(batch.inputs)
            loss = F.cross_entropy(net.outputs["words"](states[at], batch.inputs), words)
            optimiser.zero_grad()
            loss.backward()  # pyright: ignore[reportUnknownMemberType]  # torch leaves it untyped
            optimiser.step()  # pyright: ignore[reportUnknownMemberType]  # likewise
        return [_asked(batch) for batch in batches]

    return run


def _asked(batch: Batch) -> torch.Tensor:
    """What the batch asks: the words to say, by their numbers."""
    return batch.goals["words"].float()


def _moved(batch: Batch, device: str) -> Batch:
    inputs = dataclasses.replace(
        batch.inputs, ids=batch.inputs.ids.to(device), segments=batch.inputs.segments.to(device)
    )
    return dataclasses.replace(
        batch, inputs=inputs, goals={name: goal.to(device) for name, goal in batch.goals.items()}
    )
