"""Pictures and videos: what a net that sees is asked and what it refuses, what a piece is, and what its files say."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from small import pictures
from torch import Tensor, nn

import bough
from bough import settings as rules
from bough.checkpoints.keys import spread
from bough.checkpoints.save import config_of
from bough.core import empty
from bough.core.embed import GridPositions
from bough.families import FAMILIES, Family
from bough.model import Model
from bough.packed import Packed
from bough.record import get, show
from bough.verify import parity, promises

SmallModel = Callable[..., Model]
SEEING = {name: one for name, one in FAMILIES.items() if one.base.embedding.patches}
READING = {one.branch: name for name, one in FAMILIES.items() if name not in SEEING}.values()
"""A family of each branch."""
NUMBERS = torch.zeros(3, 12, 12)
VIDEO = torch.zeros(4, 3, 12, 12)


@pytest.fixture(params=SEEING.values(), ids=SEEING)
def family(request: pytest.FixtureRequest) -> Family:
    return request.param


def of(directions: int) -> Family:
    """A family whose pieces have so many directions."""
    return next(one for one in SEEING.values() if len(one.base.embedding.patches.shape) == directions)


def written(family: Family, folder: Path, small_model: SmallModel, *left: str, **settings: Any) -> Path:
    """The folder of a small model with other settings, and without some."""
    small_model(family, "classify").save(folder)
    config = json.loads((folder / "config.json").read_text())
    config = {key: value for key, value in config.items() if key not in left}
    (folder / "config.json").write_text(json.dumps({**config, **settings}))
    return folder


def refused(ask: Callable[[], object]) -> str:
    with pytest.raises(bough.BoughError) as error:
        ask()
    return str(error.value)


# What is asked, and refused


@pytest.mark.parametrize(
    ("directions", "given", "said"),
    [
        (2, [5, 6], "picture 0: must be a tensor, (3, rows, columns), not [5, 6]; the model sees pictures, not words"),
        (3, 7, "video 0: must be a tensor, (frames, 3, rows, columns), not 7; the model sees videos, not words"),
        (2, torch.zeros(12, 12), "picture 0: has the shape (12, 12); it must be (3, rows, columns)"),
        (2, VIDEO, "picture 0: has the shape (4, 3, 12, 12); it must be (3, rows, columns)"),
        (2, torch.zeros(1, 12, 12), "picture 0: has the shape (1, 12, 12); it must be (3, rows, columns)"),
        (3, NUMBERS, "video 0: has the shape (3, 12, 12); it must be (frames, 3, rows, columns)"),
        (3, VIDEO.transpose(0, 1), "video 0: has the shape (3, 4, 12, 12); it must be (frames, 3, rows, columns)"),
        (2, torch.tensor(1.0), "picture 0: has the shape (); it must be (3, rows, columns)"),
        (
            2,
            NUMBERS.to(torch.uint8),
            "picture 0: is of torch.uint8; it must be floating-point, scaled as the model was trained",
        ),
        (3, VIDEO.long(), "video 0: is of torch.int64; it must be floating-point, scaled as the model was trained"),
        (
            2,
            torch.zeros(3, 12, 10),
            "picture 0: 12 by 10 cannot be cut into whole pieces of 4 by 4; resize it or cut off the rest",
        ),
        (
            2,
            torch.zeros(3, 0, 4),
            "picture 0: 0 by 4 cannot be cut into whole pieces of 4 by 4; resize it or cut off the rest",
        ),
        (
            3,
            torch.zeros(3, 3, 12, 12),
            "video 0: 3 by 12 by 12 cannot be cut into whole pieces of 2 by 4 by 4; resize it or cut off the rest",
        ),
    ],
)
def test_what_cannot_be_seen_is_an_error_that_says_what_can(
    directions: int, given: Any, said: str, small_model: SmallModel
) -> None:
    model = small_model(of(directions))
    for ask in (model.hidden, model.scores):
        assert refused(lambda ask=ask: ask([given])) == said


def test_the_picture_that_is_wrong_is_named_by_its_number(family: Family, small_model: SmallModel) -> None:
    seen = [*pictures(family), torch.zeros(2)]
    kind = "picture" if len(family.base.embedding.patches.shape) == 2 else "video"
    assert refused(lambda: small_model(family).hidden(seen)).startswith(f"{kind} {len(seen) - 1}: has the shape (2,)")


def test_a_net_that_sees_has_neither_segments_nor_languages_nor_a_text(family: Family, small_model: SmallModel) -> None:
    model, seen = small_model(family), pictures(family)
    for name, beside in (("segments", [[0]] * len(seen)), ("languages", [0] * len(seen))):
        said = f"{name}: the model sees pictures, which have none; leave them out"
        assert refused(lambda name=name, beside=beside: model.hidden(seen, **{name: beside})) == said
    assert refused(lambda: model.hidden(seen, targets=[[1]])).startswith("targets: this architecture has one side")
    said = "tokenizer: the model sees pictures and reads no text; ask for hidden or scores of pictures"
    assert refused(lambda: model.embed(["a tree"])) == said


@pytest.mark.parametrize("given", [NUMBERS, VIDEO, torch.zeros(3), torch.zeros(2, 3, dtype=torch.long)])
@pytest.mark.parametrize("name", READING)
def test_a_picture_given_to_a_net_that_reads_is_an_error(name: str, given: Tensor, small_model: SmallModel) -> None:
    said = "ids: sequence 1: must be whole numbers in a row; the model reads words, not pictures"
    assert refused(lambda: small_model(FAMILIES[name]).hidden([[5, 6], given])) == said


def test_no_pictures_have_no_answers(family: Family, small_model: SmallModel) -> None:
    model = small_model(family)
    assert model.hidden([]) == []
    assert len(model.scores([])) == 0


def test_a_picture_has_a_state_for_each_piece_and_one_before_them(family: Family, small_model: SmallModel) -> None:
    model = small_model(family)
    shape = model.spec.embedding.patches.shape
    for number, counts in enumerate([(1, 1, 1), (2, 1, 3), (1, 3, 2)]):
        grid = counts[-len(shape) :]
        size = [n * piece for n, piece in zip(grid, shape, strict=True)]
        (states,) = model.hidden([torch.randn(*size[:-2], 3, *size[-2:])], layer=number)
        assert states.shape == (1 + math.prod(grid), model.spec.width)


def test_pictures_of_one_size_may_be_one_tensor(family: Family, small_model: SmallModel) -> None:
    model = small_model(family)
    one, other = (pictures(family)[number] for number in (1, 3))
    assert torch.equal(model.scores(torch.stack((one, other))), model.scores([one, other]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_pictures_of_any_floating_type_are_seen_in_the_models_own(
    family: Family, dtype: torch.dtype, small_model: SmallModel
) -> None:
    model, seen = small_model(family), pictures(family)
    expected = model.scores([one.to(dtype).float() for one in seen])
    torch.testing.assert_close(model.scores([one.to(dtype) for one in seen]), expected, rtol=0, atol=1e-6)
    mixed = [one.to(dtype) if number % 2 else one.to(dtype).float() for number, one in enumerate(seen)]
    torch.testing.assert_close(model.scores(mixed), expected, rtol=0, atol=1e-6)


def test_a_model_in_bf16_sees_nearly_the_same(family: Family, small_model: SmallModel, tmp_path: Path) -> None:
    model, seen = small_model(family), pictures(family)
    model.save(tmp_path)
    coarse = bough.load(tmp_path, precision="bf16").scores(seen)
    assert coarse.dtype == torch.bfloat16
    torch.testing.assert_close(coarse.float(), model.scores(seen), rtol=0.1, atol=0.1)


# What a piece is


@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 5)])
def test_pieces_are_cut_and_projected_as_by_a_convolution(shape: tuple[int, ...]) -> None:
    convolve = (nn.Conv2d if len(shape) == 2 else nn.Conv3d)(3, 7, shape, stride=shape)
    picture = torch.randn(3, *(piece * (2 + n) for n, piece in enumerate(shape)))
    batch = Packed.of_pictures([picture if len(shape) == 2 else picture.transpose(0, 1)], shape)
    assert batch.grids == (tuple(range(2, 2 + len(shape))),)
    assert batch.pieces is not None
    ours = F.linear(batch.pieces, convolve.weight.flatten(1), convolve.bias)
    torch.testing.assert_close(ours, convolve(picture[None])[0].flatten(1).t(), rtol=0, atol=1e-5)


def stretched(table: Tensor, grid: tuple[int, ...], other: tuple[int, ...]) -> Tensor:
    """What positions add to nothing, without the first."""
    positions = GridPositions(grid, 1 + len(table), table.shape[1])
    with torch.no_grad():
        positions.weight.copy_(torch.cat((torch.zeros_like(table[:1]), table)))
    size = (other[0], 1, *other[1:]) if len(other) == 3 else (1, *other)
    batch = Packed.of_pictures([torch.zeros(size)], (1,) * len(other))
    return positions(torch.zeros(len(batch.ids), table.shape[1]), batch)[1:].detach()


def test_positions_of_another_size_lie_in_a_line_through_time_and_on_cubic_curves_through_space() -> None:
    space, frames = torch.randn(3, 3, 5), torch.tensor([1.0, 2.0, 4.0])
    table = (frames[:, None, None, None] * space).flatten(0, 2)
    ours = stretched(table, (3, 3, 3), (6, 2, 4)).view(6, 2, 4, 5)
    planes = F.interpolate(space.permute(2, 0, 1)[None], (2, 4), mode="bicubic")[0].permute(1, 2, 0)
    # Twice as many frames lie a quarter of the way from those that were learned, and none reach beyond them.
    weights = torch.tensor([1.0, 1.25, 1.75, 2.5, 3.5, 4.0])
    torch.testing.assert_close(ours, weights[:, None, None, None] * planes, rtol=0, atol=1e-5)
    flat = stretched(space.flatten(0, 1), (3, 3), (2, 4)).view(2, 4, 5)
    torch.testing.assert_close(flat, planes, rtol=0, atol=1e-5)


def test_positions_of_the_trained_size_are_those_learned_and_as_many_in_another_shape_are_not() -> None:
    table = torch.randn(12, 5)
    assert torch.equal(stretched(table, (3, 4), (3, 4)), table)
    assert torch.equal(stretched(table, (2, 2, 3), (2, 2, 3)), table)
    assert not torch.equal(stretched(table, (3, 4), (4, 3)), table)


def test_what_other_sizes_show_reaches_every_weight(family: Family, small_model: SmallModel) -> None:
    model = small_model(family)
    spec, net = model.spec, model.net
    trained = spec.embedding.patches.grid
    batch = Packed.of_pictures(pictures(family), spec.embedding.patches.shape)
    assert trained in batch.grids
    assert len(set(batch.grids)) > 3
    (net(batch) * torch.randn(len(batch.ids), spec.width)).sum().backward()
    gradients = {name: weight.grad for name, weight in net.named_parameters() if not name.startswith("outputs")}
    assert all(one is not None and bool(one.any()) for one in gradients.values())


# Files


def test_a_published_size_is_written_in_the_names_that_its_files_have(family: Family) -> None:
    spec, patches = family.published, family.base.embedding.patches
    file = spread(family, spec, empty(spec).state_dict())
    shapes = {name.removeprefix(family.prefix): tuple(tensor.shape) for name, tensor in file.items()}
    assert shapes["embeddings.cls_token"] == (1, 1, 768)
    assert shapes["embeddings.position_embeddings"] == (1, 1 + patches.count, 768)
    assert shapes["embeddings.patch_embeddings.projection.weight"] == (768, 3, *patches.shape)
    layer = {
        *(f"attention.attention.{one}" for one in ("query", "key", "value")), "attention.output.dense",
        "intermediate.dense", "output.dense", "layernorm_before", "layernorm_after",
    }  # fmt: skip
    parts = {f"encoder.layer.{number}.{one}" for number in range(12) for one in layer}
    parts |= {"embeddings.patch_embeddings.projection", "layernorm"}
    trunk = {f"{part}.{kind}" for part in parts for kind in ("weight", "bias")}
    trunk |= {"embeddings.cls_token", "embeddings.position_embeddings"}
    assert file.keys() == {*(family.prefix + name for name in trunk), "classifier.weight", "classifier.bias"}


def test_a_tensor_missing_from_a_file_in_newer_names_is_said_in_them(
    family: Family, small_model: SmallModel, tmp_path: Path
) -> None:
    small_model(family, "classify").save(tmp_path)
    file = tmp_path / "model.safetensors"
    # In this order, since one name is the end of another.
    newer = {
        "encoder.layer.": "layers.", "attention.attention.query": "attention.q_proj",
        "attention.attention.key": "attention.k_proj", "attention.attention.value": "attention.v_proj",
        "attention.output.dense": "attention.o_proj", "intermediate.dense": "mlp.fc1", "output.dense": "mlp.fc2",
    }  # fmt: skip
    tensors = load_file(file)
    for old, new in newer.items():
        tensors = {name.replace(old, new): tensor for name, tensor in tensors.items()}
    save_file(tensors, file)
    assert bough.load(tmp_path).spec == small_model(family, "classify").spec
    lost = f"{family.prefix}layers.1.attention.k_proj.weight"
    save_file({name: tensor for name, tensor in tensors.items() if name != lost}, file)
    assert f": 1 missing: {lost};" in refused(lambda: bough.load(tmp_path))


@pytest.mark.parametrize(
    ("directions", "settings", "shape", "grid"),
    [
        (2, {"patch_size": 16, "image_size": 224}, (16, 16), (14, 14)),
        (2, {"patch_size": [8, 4], "image_size": [32, 20]}, (8, 4), (4, 5)),
        (2, {"patch_size": [4, 8], "image_size": 16}, (4, 8), (4, 2)),
        (2, {"patch_size": 32}, (32, 32), (7, 7)),
        (3, {}, (2, 16, 16), (16, 14, 14)),
        (3, {"tubelet_size": [4, 8, 16], "image_size": [16, 32], "num_frames": 8}, (4, 8, 16), (2, 2, 2)),
        (3, {"tubelet_size": [4, 4, 4], "image_size": 12, "num_frames": 8}, (4, 4, 4), (2, 3, 3)),
    ],
)
def test_sizes_are_read_as_one_number_or_as_several_and_written_so(
    directions: int, settings: dict[str, Any], shape: tuple[int, ...], grid: tuple[int, ...]
) -> None:
    family = of(directions)
    spec = rules.read(family.rules, family.base, settings)
    assert spec.embedding.patches.shape == shape
    assert spec.embedding.patches.grid == grid
    assert spec.embedding.positions.size == spec.embedding.patches.count + 1
    config = config_of(family, spec)
    assert {key: config[key] for key in settings} == settings
    assert rules.read(family.rules, family.base, json.loads(json.dumps(config))) == spec


@pytest.mark.parametrize(
    ("directions", "settings", "said"),
    [
        (2, {"image_size": 30}, "image_size: 30 cannot be cut into pieces of (4, 4)"),
        (2, {"image_size": [12, 30]}, "image_size: [12, 30] cannot be cut into pieces of (4, 4)"),
        (2, {"image_size": [12]}, "image_size: must be a whole number or a list of 2, not [12]"),
        (2, {"image_size": "12"}, "image_size: must be a whole number or a list of 2, not '12'"),
        (2, {"image_size": True}, "image_size: must be a whole number or a list of 2, not True"),
        (2, {"image_size": 0}, "image_size: must be a whole number from 1 to 16,777,216, not 0"),
        (2, {"patch_size": 0}, "patch_size: must be a whole number from 1 to 16,777,216, not 0"),
        (3, {"num_frames": 3}, "num_frames: 3 cannot be cut into pieces of (2, 4, 4)"),
        (3, {"tubelet_size": [4, 4]}, "tubelet_size: must be a whole number or a list of 3, not [4, 4]"),
        (2, {"pooler_act": "relu"}, "pooler_act: 'relu' is refused: the pooler ends in tanh here"),
        (3, {"pooler_act": "relu"}, "pooler_act: 'relu' is refused: the pooler ends in tanh here"),
        (
            2,
            {"pooler_output_size": 31},
            "pooler_output_size: 31 is refused: the pooler is as wide as the trunk, 32",
        ),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(
    directions: int, settings: dict[str, Any], said: str, small_model: SmallModel, tmp_path: Path
) -> None:
    folder = written(of(directions), tmp_path, small_model, **settings)
    assert refused(lambda: bough.load(folder)) == f"{folder / 'config.json'}: {said}"


def test_what_changes_no_number_is_passed_over(family: Family, small_model: SmallModel, tmp_path: Path) -> None:
    folder = written(
        family, tmp_path, small_model, "pooler_output_size", pooler_act=None, **dict.fromkeys(family.harmless, 7)
    )
    assert bough.load(folder).spec == small_model(family, "classify").spec


def test_files_of_pictures_and_of_videos_are_told_apart_by_their_settings_alone(
    family: Family, small_model: SmallModel, tmp_path: Path
) -> None:
    # Without a head their tensors have the same names.
    small_model(family, "pooler").save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for said in ({}, {"model_type": family.model_type}, {"architectures": config["architectures"]}):
        left = {key: value for key, value in config.items() if key not in ("model_type", "architectures")}
        (tmp_path / "config.json").write_text(json.dumps({**left, **said}))
        assert bough.load(tmp_path).spec.family == family.name


# The rest


def test_a_preset_of_a_thousand_labels_is_made_in_no_time_and_shown_on_a_few_lines(family: Family) -> None:
    name, spec = list(family.presets)[1], family.published
    labels = get(spec, "outputs.classify.labels")
    assert (labels[0], labels[-1], len(set(labels))) == ("LABEL_0", f"LABEL_{len(labels) - 1}", len(labels))
    assert len(labels) >= 400
    start = time.perf_counter()
    for _ in range(10):
        bough.spec(name)
    assert time.perf_counter() - start < 0.5
    assert len(show(spec.outputs)) < 600


def test_the_proof_finds_one_wrong_weight_and_a_wrong_place(
    family: Family, small_model: SmallModel, tmp_path: Path
) -> None:
    model = small_model(family, "classify")
    model.save(tmp_path / "model")
    assert all(one.passed for one in [*promises(model), *parity(model, tmp_path / "model")])
    for weight in (model.net.embed.tokens.project.weight, model.net.embed.positions.weight):
        before = weight.detach().clone()
        weight.data[3, 5] += 0.5
        assert "hidden states = transformers" in {
            one.name for one in parity(model, tmp_path / "model") if not one.passed
        }
        weight.data.copy_(before)
