"""Recur: words scored behind ever longer contexts, with a memory of them, and by reading them again for every word."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from bough.bench.work import Effort, Sweep, Trial, Way, words
from bough.core import Net, build
from bough.core.memory import Nothing, Recurrence
from bough.core.net import FORGETFUL
from bough.families import preset
from bough.packed import Packed
from bough.spec import Causal, Spec

CONTEXTS = (64, 128, 256, 512, 1024, 2048, 4096)
QUICK = (64, 256, 1024)
STRETCHES = (1, 16, 128)
"""How many words are read at once behind a memory."""
STEPS, AGAIN = 16, 2
"""How many words at least are scored in a run: with a memory, and without one."""

NOTES = (
    "Read again, a word takes a forward of all before it. A memory holds what every layer read of that, and grows.",
    "Answers are compared with those of the whole text, read at once.",
)


def small() -> Spec:
    """Transformer-XL in small, each of whose tokens sees all that is remembered, and is moved by it."""
    return preset("transformer-xl-tiny").but(**{"attention.mask": Causal(), "initial.std": 0.1})


@contextmanager
def recur(effort: Effort) -> Generator[Sweep]:
    """The work."""
    yield sweep(small(), QUICK if effort.quick else CONTEXTS, STRETCHES, effort.device)


def sweep(spec: Spec, contexts: tuple[int, ...], stretches: tuple[int, ...], device: str = "cpu") -> Sweep:
    """What is behind a text's first so many words, which are the context, scored; nothing before it is forgotten."""
    net = build(spec).eval().to(device)
    text = functools.cache(functools.partial(Text.of, net, spec.vocabulary, max(STEPS, *stretches)))
    return Sweep(
        says=(
            "the words behind a context scored, each with all before it, which a memory holds or which is read again; "
            f"Transformer-XL, {spec.depth} layers of width {spec.width}, {spec.vocabulary:,} words"
        ),
        along="words of context",
        lengths=contexts,
        notes=NOTES,
        ways=(
            Way("read again", lambda context: text(context).again()),
            *(Way(f"memory, {stretch} at once", _remembering(text, stretch)) for stretch in stretches),
        ),
    )


@dataclass(frozen=True, eq=False)
class Text:
    """A text whose first words are the context, and what has to come of the others."""

    net: Net
    ids: list[int]
    context: int
    held: list[Tensor]
    """What each layer read of the context."""
    scores: Tensor
    """Those of the words behind it, when all of the text is read at once."""

    @classmethod
    def of(cls, net: Net, vocabulary: int, more: int, context: int) -> Text:
        """So many words of context, and more behind it, drawn the same on every run."""
        ids = words(vocabulary, context + more)
        memory = Recurrence(context)
        _scored(net, ids[:context], 1, memory)
        held = [states[None] for states in memory.states.values()]
        return cls(net, ids, context, held, _scored(net, ids, more))

    def again(self) -> Trial:
        """For every word all before it is read."""
        ends = range(self.context + 1, self.context + AGAIN + 1)
        return self._trial(AGAIN, lambda: [_scored(self.net, self.ids[:end], 1) for end in ends])

    def remembered(self, stretch: int) -> Trial:
        """Stretch by stretch, behind a memory that has room for them all."""
        first, behind = self.context, len(self.ids)
        count = max(STEPS // stretch, 1) * stretch

        def run() -> list[Tensor]:
            memory = Recurrence(behind).filled(self.held)
            starts = range(first, first + count, stretch)
            return [_scored(self.net, self.ids[start : start + stretch], stretch, memory) for start in starts]

        return self._trial(count, run)

    def _trial(self, count: int, run: Callable[[], list[Tensor]]) -> Trial:
        return Trial(count, lambda: [torch.cat(run())], expected=[self.scores[:count]])


def _remembering(text: Callable[[int], Text], stretch: int) -> Callable[[int], Trial]:
    return lambda context: text(context).remembered(stretch)


def _scored(net: Net, ids: list[int], last: int, memory: Nothing = FORGETFUL) -> Tensor:
    """Scores of all words for what follows each of the last so many."""
    batch = Packed.of([ids], device=next(net.parameters()).device)
    with torch.inference_mode():
        states = net(batch, memory=memory)
        return net.outputs["words"](states[-last:], batch)
