"""Which tensors a file must hold: all that do not fit are named in one error, and nothing is drawn in silence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from crafted import complaint
from safetensors.torch import load_file, save_file
from torch import Tensor

import bough
from bough import ArtefactError
from bough.model import Model

TABLE = "bert.embeddings.word_embeddings.weight"
TIED = "cls.predictions.decoder.weight"


@pytest.fixture
def weights(folder: Path) -> dict[str, Tensor]:
    return load_file(folder / "model.safetensors")


def refusal(folder: Path, weights: dict[str, Tensor]) -> str:
    """How a folder with these weights is refused, without the parts that every refusal has."""
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert error.value.exit_code == 3
    said = complaint(error)
    start = f"{folder}: its tensors are not those of BERT as its config has it: "
    end = "; ask for a head that it lacks with new_head= (--new-head), pass over a tensor with ignore= (--ignore)"
    assert said.startswith(start)
    assert said.endswith(end)
    return said.removeprefix(start).removesuffix(end)


def test_all_that_is_wrong_is_one_error(folder: Path, weights: dict[str, Tensor]) -> None:
    del weights["bert.embeddings.LayerNorm.bias"]
    del weights["bert.encoder.layer.0.attention.self.key.weight"]
    weights["bert.encoder.layer.0.output.dense.weight"] = torch.zeros(8, 31)
    weights["bert.embeddings.position_embeddings.weight"] = torch.zeros(512, 8, dtype=torch.int32)
    weights["bert.encoder.layer.1.output.dense.bias"] = torch.zeros(8)
    weights["wings"] = torch.zeros(2)
    weights[TIED] = weights[TABLE] + 1
    assert refusal(folder, weights) == (
        "2 missing: bert.embeddings.LayerNorm.bias, bert.encoder.layer.0.attention.self.key.weight; "
        "2 unexpected: bert.encoder.layer.1.output.dense.bias, wings; "
        "2 misshaped: bert.embeddings.position_embeddings.weight is torch.int32 and should be floating-point, "
        "bert.encoder.layer.0.output.dense.weight is (8, 31) and should be (8, 32); "
        f"1 disagreeing: {TIED} is tied to another tensor and has other numbers"
    )


def test_a_lone_tensor_of_a_fused_three_is_missing_by_its_own_name(folder: Path, weights: dict[str, Tensor]) -> None:
    del weights["bert.encoder.layer.0.attention.self.value.bias"]
    assert refusal(folder, weights) == "1 missing: bert.encoder.layer.0.attention.self.value.bias"


def test_a_tied_table_may_be_there_twice_or_under_either_name(folder: Path, weights: dict[str, Tensor]) -> None:
    ids = [[1, 2, 3]]
    once = bough.load(folder).logits(ids)[0]
    for names in ([TABLE, TIED], [TIED]):
        copies = {name: weights[TABLE].clone() for name in names}
        rest = {name: one for name, one in weights.items() if name != TABLE}
        save_file({**rest, **copies}, folder / "model.safetensors")
        assert torch.equal(bough.load(folder).logits(ids)[0], once)


def test_a_name_in_two_spellings_is_unexpected_once(folder: Path, weights: dict[str, Tensor]) -> None:
    weights["bert.embeddings.LayerNorm.gamma"] = weights["bert.embeddings.LayerNorm.weight"].clone()
    said = refusal(folder, weights)
    assert re.fullmatch(r"1 unexpected: bert\.embeddings\.LayerNorm\.(gamma|weight)", said)


def test_a_tensor_is_passed_over_when_asked(folder: Path, weights: dict[str, Tensor], model: Model) -> None:
    save_file({**weights, "wings": torch.zeros(2)}, folder / "model.safetensors")
    ids = [[1, 2, 3]]
    assert torch.equal(bough.load(folder, ignore=["wings"]).logits(ids)[0], model.logits(ids)[0])


def test_a_new_head_is_drawn_from_the_seed_only_when_asked(folder: Path) -> None:
    with pytest.raises(bough.BoughError) as error:
        bough.load(folder).scores([[1, 2]])
    assert complaint(error) == (
        "classify: the model has no such head (it has words); load it with new_head='classify' and train it"
    )
    one, same, other = (bough.load(folder, new_head="classify", seed=seed).scores([[1, 2]]) for seed in (3, 3, 4))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
