"""Transformer-XL against numbers of the last release of `transformers` that had it: see `transformer_xl.py` here."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

import bough
from bough.checkpoints.keys import fit
from bough.families import FAMILIES
from bough.packed import Packed

FOLDERS = sorted(path for path in (Path(__file__).parent / "transformer_xl").iterdir() if path.is_dir())
HIDDEN, SCORES, GRADIENT = 2e-5, 1e-4, 1e-4


def stretches(numbers: dict[str, Tensor]) -> list[Tensor]:
    """The ids of each stretch, (rows, tokens)."""
    return [numbers[f"ids.{s}"] for s in range(3)]


def remembered(numbers: dict[str, Tensor], stretch: int, layers: int) -> list[Tensor]:
    """What each layer was given of the stretches before, (rows, tokens, width)."""
    return [
        numbers[f"memory.{stretch}.{k}"].transpose(0, 1) for k in range(layers) if f"memory.{stretch}.{k}" in numbers
    ]


@pytest.fixture(params=FOLDERS, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_every_stretch_has_their_states_and_scores(folder: Path) -> None:
    model, numbers = bough.load(folder), load_file(folder / "expected.safetensors")
    net, depth = model.net, len(model.net.order)
    memory = net.memory()
    first = remembered(numbers, 0, depth)
    if first:
        memory.filled(first)
    for number, ids in enumerate(stretches(numbers)):
        with torch.no_grad():
            batch = Packed.of(ids.tolist())
            states = list(net.states(batch, memory=memory))
            scores = net.outputs["words"](states[-1], batch)
        for layer, state in enumerate(states):
            torch.testing.assert_close(state, numbers[f"hidden.{number}.{layer}"].flatten(0, 1), rtol=0, atol=HIDDEN)
        torch.testing.assert_close(scores, numbers[f"scores.{number}"].flatten(0, 1), rtol=0, atol=SCORES)


def test_the_last_stretch_has_their_gradients(folder: Path) -> None:
    model, numbers = bough.load(folder), load_file(folder / "expected.safetensors")
    given = remembered(numbers, 2, len(model.net.order))
    memory = model.net.memory().filled(given) if given else model.net.memory()
    batch = Packed.of(stretches(numbers)[2].tolist())
    scores = model.net.outputs["words"](model.net(batch, memory=memory), batch)
    (scores * numbers["weighting"].flatten(0, 1)).sum().backward()
    theirs = {name.removeprefix("gradient."): one for name, one in numbers.items() if name.startswith("gradient.")}
    expected = fit(FAMILIES[model.spec.family], model.spec, theirs)
    assert not expected.complaint()
    for name, weight in model.net.named_parameters():
        assert weight.grad is not None, name
        error = (weight.grad - expected.tensors[name]).abs() / expected.tensors[name].abs().clamp(min=1)
        assert error.max() < GRADIENT, name


def test_the_folder_goes_back_as_it_came(folder: Path, tmp_path: Path) -> None:
    bough.load(folder).save(tmp_path)
    came, went = load_file(folder / "model.safetensors"), load_file(tmp_path / "model.safetensors")
    constant = "transformer.pos_emb.inv_freq"
    assert went.keys() == came.keys() - {constant}
    assert all(torch.equal(came[name], one) for name, one in went.items())
    assert bough.load(tmp_path).spec == bough.load(folder).spec
