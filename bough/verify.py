"""The room of proof: what is promised of every model, measured on one. Each check is data; the command shows it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import math
import os
import random
import tempfile
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bough.checkpoints import own
from bough.checkpoints.sentences import trunk_folder
from bough.core.kernels import Planner, Reference, plan
from bough.core.masks import everything
from bough.families import family as family_of
from bough.files.folder import find
from bough.model import Model, load
from bough.packed import Inputs, Packed, behind_start
from bough.spec import Patches, Span, Spec, Tag, Words

LENGTHS = (1, 17, 2, 3, 64, 17, 5, 33)
"""Short and long, and one length twice, since equal ones are computed together."""
GRIDS = ((1, 1, 1), (2, 4, 3), (1, 1, 2), (3, 2, 1), (4, 4, 4), (2, 4, 3), (1, 7, 1), (2, 3, 3))
"""Pieces of a video over frames, rows and columns, of which a picture has the last two; one is there twice again."""
EXACT, CLOSE = 0.0, 1e-5
PARITY = {"hidden states": 2e-5, "scores": 1e-4}
PEER = "transformers"


@dataclass(frozen=True)
class Check:
    """One promise, measured."""

    name: str
    figure: float | None
    """The greatest difference found; relative where values exceed one. None where it was not measured."""
    tolerance: float
    passed: bool | None
    """None where it could not be tried; the note says why."""
    note: str = ""


@dataclass(frozen=True)
class Sample:
    """A sequence to try, or a picture."""

    ids: list[int]
    segments: list[int]
    language: int
    picture: Tensor | None = None


Answers = Mapping[str, Tensor]
"""All that a net says about one sequence: its states after each layer, and each head's scores."""
LAYER = "layer "
OF_SOURCE = " of the source"
STRETCHES = (0, 1, 9, 20, 64)
"""Where the stretches end that sequences are read in with a memory."""


def verify(
    source: str | os.PathLike[str],
    *,
    family: str | None = None,
    allow_pickle: bool = False,
    ignore: Collection[str] = (),
    seed: int = 0,
) -> list[Check]:
    """Check a checkpoint: what is promised of every model, then parity with transformers where that is installed."""
    model = load(source, "fp32", "cpu", allow_pickle, family=family, ignore=ignore)
    folder = trunk_folder(find(source, allow_pickle), ignore)
    return [*promises(model, seed), *parity(model, folder.path, seed)]


@torch.inference_mode()
def promises(model: Model, seed: int = 0) -> list[Check]:
    """What is promised of every model, measured on this one."""
    samples, others = draw(model.spec, seed), draw(model.spec, seed + 1)
    together = answers(model, samples)
    alone = [answers(model, [one])[0] for one in samples]
    turned = answers(model, samples[::-1])[::-1]
    plain = answers(model, samples, Reference)
    return [
        _check("batch = single", CLOSE, together, alone),
        _check("order changes nothing", CLOSE, together, turned),
        _check("neighbours do not leak", EXACT, together, _in_other_company(model, samples, others)),
        _saved(model, samples, together),
        _check("fast kernels = plain reference", CLOSE, together, plain),
        *_in_stretches(model, samples, together),
    ]


@torch.inference_mode()
def parity(model: Model, folder: Path, seed: int = 0) -> list[Check]:
    """The same numbers from transformers' own classes, reading the same folder."""
    if importlib.util.find_spec(PEER) is None:
        return [Check(f"parity with {PEER}", None, PARITY["hidden states"], None, f"skipped: {PEER} is not installed")]
    said = folder / "config.json"
    if said.exists() and json.loads(said.read_text()).get("model_type") == own.MODEL_TYPE:
        note = "skipped: it is in Bough's own layout, which no other tool reads"
        return [Check(f"parity with {PEER}", None, PARITY["hidden states"], None, note)]
    library = importlib.import_module(PEER)
    checks: list[Check] = []
    for name, heads in _classes(model.spec).items():
        if not hasattr(library, name):
            note = f"skipped: {PEER} has no {name}"
            checks.append(Check(f"{name} agrees", None, PARITY["hidden states"], None, note))
            continue
        try:
            with _quiet(library):
                peer = getattr(library, name).from_pretrained(folder, dtype=torch.float32)
        except Exception as error:  # noqa: BLE001  # whatever keeps it from reading the folder says nothing about ours
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            checks.append(Check(f"{name} agrees", None, PARITY["hidden states"], None, f"skipped: it says {reason}"))
            continue
        samples = _for_peer(model.spec, seed, peer.config)
        ours, theirs = answers(model, samples), [_asked(peer, heads, one, model.spec) for one in samples]
        for what, tolerance in PARITY.items():
            said = [
                {k: v for k, v in one.items() if k.startswith(LAYER) == (what == "hidden states")} for one in theirs
            ]
            if any(said):
                checks.append(_check(f"{what} = {PEER}", tolerance, ours, said, name))
    return checks


def draw(spec: Spec, seed: int) -> list[Sample]:
    """Sequences over the vocabulary, as long as the architecture reads and no longer than 64 tokens; or pictures."""
    chance, embedding = random.Random(seed), spec.embedding
    if embedding.patches:
        return _pictures(embedding.patches, [grid[-len(embedding.patches.grid) :] for grid in GRIDS], seed)
    lengths = [min(length, spec.limit or length) for length in LENGTHS]
    return [
        Sample(
            [chance.randrange(spec.vocabulary) for _ in range(length)],
            [chance.randrange(embedding.segments or 1) for _ in range(length)],
            chance.randrange(embedding.languages or 1),
        )
        for length in lengths
    ]


def answers(model: Model, samples: Sequence[Sample], planner: Planner = plan) -> list[Answers]:
    """All that the net says about each sequence, computed as one batch in this order; a decoder says it again."""
    spec, net, batch = model.spec, model.net, _batch(model.spec, samples)
    states = list(net.states(batch, planner))
    said = {f"{LAYER}{number}": batch.split(x_TW) for number, x_TW in enumerate(states)}
    for number, x_SW in enumerate(net.reader.states(batch.read, planner) if spec.encoder else ()):
        said[f"{LAYER}{number}{OF_SOURCE}"] = batch.read.split(x_SW)
    for head, part in spec.outputs.present().items():
        scores = net.outputs[head](states[-1], batch)
        said[head] = batch.split(scores) if isinstance(part, Words | Tag | Span) else scores.unbind()
    return [{key: values[number] for key, values in said.items()} for number in range(len(samples))]


def _batch(spec: Spec, samples: Sequence[Sample]) -> Packed:
    given = Inputs(
        spec,
        [one.ids if one.picture is None else one.picture for one in samples],
        [one.segments for one in samples] if spec.embedding.segments else None,
        [one.language for one in samples] if spec.embedding.languages else None,
        behind_start(spec, [one.ids for one in samples]) if spec.encoder else None,
    )
    return given.batch(range(len(samples)), torch.device("cpu"))


def _in_stretches(model: Model, samples: Sequence[Sample], together: Sequence[Answers]) -> list[Check]:
    """Read stretch by stretch with a cache, a sequence is what it is at once; nothing of those that see all at once."""
    net, whole = model.net, _batch(model.spec, samples)
    if everything in net.seeing:
        return []
    memory, last = net.memory("cache"), f"{LAYER}{len(net.order)}"
    read: list[list[Tensor]] = [[] for _ in samples]
    for start, end in pairwise(STRETCHES):
        parts = {name: [one[start:end] for one in whole.split(getattr(whole, name))] for name in ("ids", "segments")}
        lengths = tuple(len(one) for one in parts["ids"])
        tongues = whole.languages
        own_tongues = None if tongues is None else torch.cat([one[start:end] for one in whole.split(tongues)])
        batch = Packed(torch.cat(parts["ids"]), lengths, torch.cat(parts["segments"]), own_tongues, whole.source)
        for states, new in zip(read, batch.split(net(batch, memory=memory)), strict=True):
            states.append(new)
    said = [{last: torch.cat(states)} for states in read]
    return [_check("cache = no cache", CLOSE, together, said)]


def difference(ours: Sequence[Answers], theirs: Sequence[Answers]) -> float:
    """The greatest difference between two sets of answers in what both speak of; relative where values exceed one."""
    worst = [
        (a[key] - b[key]).abs().max() / b[key].abs().max().clamp(min=1) if a[key].shape == b[key].shape else math.inf
        for a, b in zip(ours, theirs, strict=True)
        for key in a.keys() & b.keys()
    ]
    # A NaN among them is the greatest for torch, as it should be here.
    return float(torch.tensor(worst).max())


def _check(name: str, tolerance: float, ours: Sequence[Answers], theirs: Sequence[Answers], note: str = "") -> Check:
    figure = difference(ours, theirs)
    return Check(name, figure, tolerance, figure <= tolerance, note)


def _in_other_company(model: Model, samples: Sequence[Sample], others: Sequence[Sample]) -> list[Answers]:
    """What the net says about each sequence when its neighbours are others of the same lengths."""
    pairs = list(enumerate(zip(samples, others, strict=True)))
    even = answers(model, [other if number % 2 else own for number, (own, other) in pairs])
    odd = answers(model, [own if number % 2 else other for number, (own, other) in pairs])
    return [(odd if number % 2 else even)[number] for number, _ in pairs]


def _saved(model: Model, samples: Sequence[Sample], together: Sequence[Answers]) -> Check:
    """What was saved and loaded again has the same weights and says the same, to the bit."""
    with tempfile.TemporaryDirectory() as place:
        model.save(Path(place) / "model")
        again = load(Path(place) / "model", "fp32", "cpu")
        ours, theirs = model.net.state_dict(), again.net.state_dict()
        said = [theirs, *answers(again, samples)]
        return _check(
            "save = load", EXACT, [ours, *together], said, "" if ours.keys() == theirs.keys() else "names differ"
        )


def _classes(spec: Spec) -> dict[str, tuple[str, ...]]:
    """As few of the peer's classes as have every head of the spec between them, with the heads that each one has."""
    family, present = family_of(spec.family), set(spec.outputs.present())
    first = family.architecture(spec.outputs)
    fits = sorted(
        ((name, heads) for name, heads in family.architectures if set(heads) <= present),
        key=lambda fit: (fit[0] != first, -len(fit[1])),
    )
    chosen: dict[str, tuple[str, ...]] = {}
    for name, heads in fits:
        covered = {head for own in chosen.values() for head in own}
        if not chosen or set(heads) - covered:
            chosen[name] = heads
    return chosen


def _pictures(patches: Patches, grids: Sequence[Sequence[int]], seed: int) -> list[Sample]:
    """A picture or video of so many pieces each."""
    chance = torch.Generator().manual_seed(seed)
    sizes = [[n * piece for n, piece in zip(grid, patches.shape, strict=True)] for grid in grids]
    # Channels stand before rows and columns, and behind frames.
    return [
        Sample([], [], 0, torch.randn(*size[:-2], patches.channels, *size[-2:], generator=chance)) for size in sizes
    ]


def _for_peer(spec: Spec, seed: int, config: Any) -> list[Sample]:
    """Samples with no id in them that the peer would take for padding; pictures of the size that it was trained on."""
    patches = spec.embedding.patches
    if patches:
        return _pictures(patches, [patches.grid] * 2, seed)
    samples = draw(spec, seed)
    # A classifier that has a decoder looks for the one word that ends a text.
    ends = [config.eos_token_id] if spec.encoder and spec.outputs.classify else []
    apart = {*ends, *(getattr(config, name, None) for name in ("pad_token_id", "pad_index"))}
    words = [word for word in range(min(spec.vocabulary, len(apart) + 1)) if word not in apart]
    known = [[words[0] if word in apart else word for word in one.ids] for one in samples]
    return [replace(one, ids=[*ids[: len(ids) - len(ends)], *ends]) for one, ids in zip(samples, known, strict=True)]


def _asked(peer: Any, heads: Sequence[str], sample: Sample, spec: Spec) -> Answers:
    """All that the peer says about one sequence."""
    more = {"token_type_ids": torch.tensor([sample.segments])} if spec.embedding.segments else {}
    more |= {"langs": torch.full((1, len(sample.ids)), sample.language)} if spec.embedding.languages else {}
    more |= {"decoder_input_ids": torch.tensor(behind_start(spec, [sample.ids]))} if spec.encoder else {}
    if sample.picture is None:
        out = peer(input_ids=torch.tensor([sample.ids]), output_hidden_states=True, **more)
        states = out.decoder_hidden_states if spec.encoder else out.hidden_states
    else:
        out, last = _seen(peer, sample.picture)
        states = (*out.hidden_states[:-1], last)
    # A few of its classes report states once for a run of blocks, ours after each block.
    step = len(spec.order) // (len(states) - 1)
    said: dict[str, Tensor] = {f"{LAYER}{number * step}": one[0] for number, one in enumerate(states)}
    for number, one in enumerate(out.encoder_hidden_states if spec.encoder else ()):
        said[f"{LAYER}{number}{OF_SOURCE}"] = one[0]
    match [head for head in heads if head != "pooler"]:
        case []:
            said |= {"pooler": out.pooler_output[0]} if heads else {}
        case ["span"]:
            said["span"] = torch.stack((out.start_logits[0], out.end_logits[0]), dim=-1)
        case [head]:
            said[head] = out.logits[0]
        case _:
            pair = out.sop_logits if "sop_logits" in out else out.seq_relationship_logits
            said |= {"words": out.prediction_logits[0], "pair": pair[0]}
    return said


def _seen(peer: Any, picture: Tensor) -> tuple[Any, Tensor]:
    """What the peer says about a picture, and its last states, which it reports without the norm behind them."""
    kept: list[Tensor] = []

    def keep(_net: Any, _given: Any, out: Any) -> None:
        kept.append(out.last_hidden_state)

    hook = peer.base_model.register_forward_hook(keep)
    try:
        return peer(pixel_values=picture[None], output_hidden_states=True), kept[0]
    finally:
        hook.remove()


@contextlib.contextmanager
def _quiet(library: Any) -> Generator[None]:
    """While this lasts, the peer neither warns nor draws."""
    talk = library.utils.logging
    before, drawing = talk.get_verbosity(), talk.is_progress_bar_enabled()
    talk.set_verbosity_error()
    talk.disable_progress_bar()
    try:
        yield
    finally:
        talk.set_verbosity(before)
        if drawing:
            talk.enable_progress_bar()
