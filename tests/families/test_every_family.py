"""Every family, through every promise that needs no other tool: a new one is tested by being registered."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from small import another
from torch import Tensor

import bough
from bough.checkpoints import own
from bough.checkpoints.load import spec_of
from bough.checkpoints.save import config_of, layout
from bough.core import empty
from bough.core.kernels import Grouped, Planner, Ragged, Reference, plan
from bough.families import FAMILIES, Family
from bough.model import Model
from bough.packed import Inputs, Packed
from bough.record import MISSING, get
from bough.spec import UNTRAINED, Outputs, Spec

ON_GPU = (
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors"),
)
SmallSpec = Callable[..., Spec]
SmallModel = Callable[..., Model]

CLASSES = [(one, name, heads) for one in FAMILIES.values() for name, heads in one.architectures]
PRESETS = [(one, name) for one in FAMILIES.values() for name in one.presets]
ASKS: dict[str, Callable[..., list[Tensor]]] = {
    "words": Model.logits,
    "pair": lambda model, ids: list(model.pair_scores(ids)),
    "classify": lambda model, ids: list(model.scores(ids)),
    "tag": Model.token_scores,
    "span": Model.span_scores,
}
"""How a user asks each head."""
RATES = (
    "embedding.dropout", "attention.weights_dropout", "attention.dropout", "feed.inner_dropout", "feed.dropout",
    "dropout", "outputs.pair.dropout", "outputs.classify.hidden_dropout", "outputs.classify.dropout",
    "outputs.tag.dropout", "outputs.span.dropout",
)  # fmt: skip
STRETCHES = (0, 1, 8, 20, 64)
FIRST_LAYER = {
    "embedding.dropout": 0, "attention.weights_dropout": 1, "attention.dropout": 1, "feed.inner_dropout": 1,
    "feed.dropout": 1, "dropout": -1,
}  # fmt: skip
"""The first layer whose states a rate touches, from the end where negative; those of heads touch none."""


@pytest.fixture(params=FAMILIES.values(), ids=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    return request.param


@pytest.fixture(params=[one for one in FAMILIES.values() if one.outputs.classify], ids=lambda one: one.name)
def labelled(request: pytest.FixtureRequest) -> Family:
    return request.param


def plainest(family: Family) -> str:
    """The head that a family's files have most often."""
    return next(iter(name for name in ("words", *family.outputs.present()) if getattr(family.outputs, name)))


def every_class(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test for each class of each family."""
    ids = [f"{one.name}-{name}-{'-'.join(heads) or 'bare'}" for one, name, heads in CLASSES]
    return pytest.mark.parametrize(("family", "heads"), [(one, heads) for one, _, heads in CLASSES], ids=ids)(test)


# Architectures as data


@pytest.mark.parametrize(("family", "name"), PRESETS, ids=[name for _, name in PRESETS])
def test_a_preset_counts_its_parameters_without_building_them(family: Family, name: str) -> None:
    spec = family.preset(name)
    stated = family.presets[name].parameters
    built = {key: tuple(tensor.shape) for key, tensor in empty(spec).state_dict().items()}
    assert spec.parameters == stated
    assert built == spec.tensors()
    assert sum(math.prod(shape) for name, shape in built.items() if not name.endswith(UNTRAINED)) == stated


def test_every_size_says_who_published_it_and_those_for_trials_that_nobody_did(family: Family) -> None:
    trial = "made here, for trials"
    assert all((preset.source == trial) == name.endswith("-tiny") for name, preset in family.presets.items())


def test_its_tiny_preset_builds_the_tensors_it_counts(family: Family) -> None:
    name = next(name for name in family.presets if name.endswith("-tiny"))
    net = bough.build(family.preset(name))
    tensors = {name: tensor for name, tensor in net.state_dict().items() if not name.endswith(UNTRAINED)}
    assert sum(tensor.numel() for tensor in tensors.values()) == family.presets[name].parameters


def test_the_same_seed_builds_the_same_net(family: Family, small_spec: SmallSpec) -> None:
    one, same, other = (bough.build(small_spec(family), seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    drawn = next(name for name, tensor in one.items() if tensor.dim() > 1)
    assert not torch.equal(one[drawn], other[drawn])


@pytest.mark.parametrize(("family", "name"), PRESETS, ids=[name for _, name in PRESETS])
def test_a_preset_goes_through_json_and_through_its_config_unchanged(family: Family, name: str) -> None:
    spec = family.preset(name)
    assert Spec.from_json(spec.to_json()) == spec
    assert _through_config(spec) == spec


@every_class
def test_every_head_goes_through_json_and_config_unchanged(
    family: Family, heads: tuple[str, ...], small_spec: SmallSpec
) -> None:
    spec = small_spec(family).but(outputs=family.outputs.only(*heads))
    assert Spec.from_json(spec.to_json()) == spec
    assert _through_config(spec) == spec


# Files


@every_class
def test_save_load_save_gives_the_same_bytes(
    family: Family, heads: tuple[str, ...], small_spec: SmallSpec, tmp_path: Path
) -> None:
    model = _model(small_spec(family).but(outputs=family.outputs.only(*heads)))
    model.save(tmp_path / "once")
    again = bough.load(tmp_path / "once")
    again.save(tmp_path / "twice")
    assert again.spec == model.spec
    once, twice = (_bytes(tmp_path / name) for name in ("once", "twice"))
    assert once == twice


def test_a_heads_setting_is_not_lost_where_the_family_has_no_word_for_it(
    labelled: Family, small_spec: SmallSpec, tmp_path: Path
) -> None:
    spec = small_spec(labelled, "classify").but(**{"outputs.classify.dropout": 0.37})
    _model(spec).save(tmp_path)
    assert bough.load(tmp_path).spec == spec


@every_class
def test_a_config_that_names_no_family_or_class_is_recognised_or_said(
    family: Family, heads: tuple[str, ...], small_spec: SmallSpec, tmp_path: Path
) -> None:
    model = _model(small_spec(family).but(outputs=family.outputs.only(*heads)))
    model.save(tmp_path)
    _without(tmp_path, "model_type", "architectures")
    said = bough.load(tmp_path, family=family.name)
    told = _told(tmp_path)
    if isinstance(told, Model):
        # Of families that read a file alike, the elder stands for both.
        assert told.spec.but(family=family.name) == said.spec
    else:
        assert re.search(rf"\b{family.name}\b.*; say which with family=", told)
    # A wholly tied head leaves no name in a file: there the words are taken to be meant.
    assert set(model.spec.outputs.present()) <= set(said.spec.outputs.present()) <= {*heads, "words"}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_recognised_by_what_only_it_has(name: str, small_model: SmallModel, tmp_path: Path) -> None:
    elder = {"xlm-roberta": "roberta"}
    small_model(FAMILIES[name], plainest(FAMILIES[name])).save(tmp_path)
    _without(tmp_path, "model_type", "architectures")
    assert bough.load(tmp_path).spec.family == elder.get(name, name)


def test_all_tensors_that_do_not_fit_are_named_in_one_error(
    family: Family, small_model: SmallModel, tmp_path: Path
) -> None:
    small_model(family, plainest(family)).save(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    missing = [name for name in tensors if re.search(r"\b1\.", name) or "albert_layers.0.ffn." in name][:2]
    misshaped = next(name for name, tensor in tensors.items() if tensor.dim() == 2 and name not in missing)
    left = {name: tensor for name, tensor in tensors.items() if name not in missing}
    save_file({**left, misshaped: torch.zeros(3, 5), "stranger": torch.zeros(1), "other": torch.zeros(1)}, file)
    with pytest.raises(bough.ArtefactError) as refused:
        bough.load(tmp_path)
    assert refused.value.exit_code == 3
    misfit = f"{misshaped} is (3, 5) and should be {tuple(tensors[misshaped].shape)}"
    for part in (
        "2 missing: ",
        *missing,
        "2 unexpected: other, stranger",
        misfit,
    ):
        assert part in str(refused.value)


def test_a_head_that_the_file_lacks_is_had_by_asking_for_it(
    labelled: Family, small_model: SmallModel, sequences: list[Any], tmp_path: Path
) -> None:
    small_model(labelled, plainest(labelled)).save(tmp_path)
    with pytest.raises(bough.BoughError, match="new_head='classify'"):
        bough.load(tmp_path).scores(sequences)
    new = bough.load(tmp_path, new_head="classify", labels=("no", "maybe", "yes"))
    assert new.spec.outputs.classify is not None
    assert new.spec.outputs.classify.labels == ("no", "maybe", "yes")
    assert new.scores(sequences).shape == (len(sequences), 3)
    same, other = (bough.load(tmp_path, new_head="classify", seed=seed).scores(sequences) for seed in (0, 1))
    assert torch.equal(same, bough.load(tmp_path, new_head="classify").scores(sequences))
    assert not torch.equal(same, other)


def test_a_class_whose_head_is_not_in_the_file_is_refused(
    labelled: Family, small_model: SmallModel, tmp_path: Path
) -> None:
    small_model(labelled, plainest(labelled)).save(tmp_path)
    claimed = next(name for name, heads in labelled.architectures if "classify" in heads)
    text = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(re.sub(r'("architectures": \[\s*)"\w+"', rf'\1"{claimed}"', text))
    with pytest.raises(bough.ArtefactError, match=r"missing: .*new_head="):
        bough.load(tmp_path)
    assert bough.load(tmp_path, ignore=["classify"]).spec.outputs.classify is None
    assert bough.load(tmp_path, new_head="classify").spec.outputs.classify is not None


def test_a_new_head_follows_the_settings_of_its_trunk(family: Family, small_spec: SmallSpec, tmp_path: Path) -> None:
    _model(small_spec(family).but(outputs=Outputs(), **{"feed.activation": "relu"})).save(tmp_path / "trunk")
    for head in set(family.outputs.present()) - {"pooler"}:
        new = bough.load(tmp_path / "trunk", new_head=head, labels=("no", "yes") if head in ("classify", "tag") else ())
        new.save(tmp_path / head)
        assert bough.load(tmp_path / head).spec == new.spec


def test_a_new_head_with_other_labels_takes_the_old_ones_place(
    labelled: Family, small_model: SmallModel, sequences: list[Any], tmp_path: Path
) -> None:
    old = small_model(labelled, "classify")
    old.save(tmp_path)
    new = bough.load(tmp_path, new_head="classify", labels=tuple("abcde"))
    assert new.scores(sequences).shape == (len(sequences), 5)
    without = bough.load(tmp_path, ignore=["classify"])
    assert without.spec.outputs.classify is None
    trunk = [name for name in old.net.state_dict() if not name.startswith("outputs.classify")]
    assert set(without.net.state_dict()) == set(trunk)
    assert all(torch.equal(old.net.state_dict()[name], new.net.state_dict()[name]) for name in trunk)


# Numbers


def test_a_batch_gives_each_sequence_what_it_gets_alone(
    family: Family, small_model: SmallModel, sequences: list[Any]
) -> None:
    for model in _with_all_heads(family, small_model):
        for ask in _asks(model):
            together = ask(sequences)
            for number, one in enumerate(sequences):
                torch.testing.assert_close(together[number], ask([one])[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", [one.name for one in FAMILIES.values() if one.outputs.words])
def test_an_empty_sequence_has_empty_answers(name: str, small_model: SmallModel) -> None:
    model = small_model(FAMILIES[name], "words")
    for ask in (model.hidden, model.logits):
        for ids in ([[]], [[], []], [[], [6, 7]]):
            assert [len(answer) for answer in ask(ids)] == [len(one) for one in ids]


def test_the_order_of_a_batch_changes_nothing(family: Family, small_model: SmallModel, sequences: list[Any]) -> None:
    order = [3, 0, 5, 1, 4, 2]
    for model in _with_all_heads(family, small_model):
        for ask in _asks(model):
            straight, mixed = ask(sequences), ask([sequences[number] for number in order])
            for place, number in enumerate(order):
                torch.testing.assert_close(mixed[place], straight[number], rtol=0, atol=1e-5)


def test_another_sequence_does_not_move_a_bit_of_ones_own(
    family: Family, small_model: SmallModel, sequences: list[Any]
) -> None:
    changed = [sequences[0], sequences[1], another(sequences[2]), *sequences[3:]]
    for model in _with_all_heads(family, small_model):
        for ask in _asks(model):
            before, after = ask(sequences), ask(changed)
            assert not torch.equal(before[2], after[2])
            others = [number for number in range(len(sequences)) if number != 2]
            assert all(torch.equal(before[number], after[number]) for number in others)


@pytest.mark.parametrize("planner", [plan, Grouped, pytest.param(Ragged, marks=ON_GPU)], ids=lambda one: one.__name__)
def test_every_kernel_equals_the_plain_reference_forwards_and_in_gradient(
    family: Family, planner: Planner, small_model: SmallModel, sequences: list[Any]
) -> None:
    device = "cuda" if planner is Ragged else "cpu"
    net = small_model(family).net.to(device)
    batch = laid_out(small_model(family).spec, sequences, device)
    fast, fast_gradients = _with_gradients(net, batch, planner)
    slow, slow_gradients = _with_gradients(net, batch, Reference)
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
    for one, other in zip(fast_gradients, slow_gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [one.name for one in FAMILIES.values() if one.branch != "encoder"])
@pytest.mark.parametrize("kind", ["cache", "recurrence"])
def test_a_sequence_read_in_stretches_with_a_memory_is_the_whole(
    name: str, kind: Any, small_model: SmallModel, sequences: list[Any]
) -> None:
    model = small_model(FAMILIES[name])
    net, whole = model.net, Inputs(model.spec, sequences, targets=sequences if model.spec.encoder else None)
    if kind == "recurrence" and model.spec.encoder:
        pytest.skip("what looks at an encoder keeps keys and values")
    memory = net.memory(kind, length=64 if kind == "recurrence" else None)
    everything = whole.batch(range(len(sequences)), torch.device("cpu"))
    read: list[list[Tensor]] = [[] for _ in sequences]
    with torch.inference_mode():
        for part in range(len(STRETCHES) - 1):
            # Stretches of unequal lengths, of which the short sequences' are empty.
            start, end = STRETCHES[part : part + 2]
            cut = [one[start:end] for one in sequences]
            batch = dataclasses.replace(Packed.of(cut), source=everything.source)
            for parts, new in zip(read, batch.split(net(batch, memory=memory)), strict=True):
                parts.append(new)
        expected = everything.split(net(everything))
    assert memory.lengths == everything.lengths
    assert memory.bytes > 0
    for parts, one in zip(read, expected, strict=True):
        torch.testing.assert_close(torch.cat(parts), one, rtol=0, atol=1e-5)


# Dropout


def test_dropout_is_dead_when_a_model_answers(family: Family, small_model: SmallModel, sequences: list[Any]) -> None:
    model = small_model(family)
    without, everywhere = (_loaded(_rated(model.spec, *paths), model.net) for paths in ((), RATES))
    plain = _answers(model.spec, without.train(), sequences)
    dead = _answers(model.spec, Model(model.spec, everywhere).net, sequences)
    assert all(torch.equal(plain[name], dead[name]) for name in plain)


@pytest.mark.parametrize("path", RATES)
def test_each_rate_drops_where_it_is_said_and_nowhere_else(
    family: Family, path: str, small_model: SmallModel, sequences: list[Any]
) -> None:
    for model in _with_all_heads(family, small_model):
        layers, heads = len(model.spec.order) + 1, set(model.spec.outputs.present())
        said = get(model.spec, path) is not MISSING
        if path == "outputs.classify.hidden_dropout":
            said = get(model.spec, "outputs.classify.hidden") not in (MISSING, None)
        touched = {path.split(".")[1]} if said and path not in FIRST_LAYER else set()
        if path in FIRST_LAYER:
            # What an encoder's last states lose, every layer that looks at them feels.
            first = 1 if path == "dropout" and model.spec.encoder else FIRST_LAYER[path]
            touched = {f"layer {number}" for number in range(layers)[first:]} | heads
        net = _loaded(_rated(model.spec, path), model.net)
        still, dropping = (_answers(model.spec, one, sequences) for one in (net.eval(), net.train()))
        assert {name for name in still if not torch.equal(still[name], dropping[name])} == touched


def laid_out(spec: Spec, sequences: list[Any], device: str = "cpu") -> Packed:
    """A batch, with an empty sequence in front where sequences can be empty."""
    given = sequences if spec.embedding.patches else [[], *sequences]
    return Inputs(spec, given).batch(range(len(given)), torch.device(device))


def _model(spec: Spec) -> Model:
    return Model(spec, bough.build(spec))


def _loaded(spec: Spec, net: bough.Net) -> bough.Net:
    """The same weights in a net of another spec."""
    other = bough.build(spec)
    other.load_state_dict(net.state_dict())
    return other


def _with_all_heads(family: Family, small_model: SmallModel) -> Iterator[Model]:
    """Models that have every head of the family between them."""
    yield small_model(family)
    if family.outputs.tag:
        yield small_model(family, "tag")


def _asks(model: Model) -> list[Callable[[list[list[int]]], list[Tensor]]]:
    """Every question the model can answer: its states after each layer, and what its heads say."""
    layers = [functools.partial(model.hidden, layer=layer) for layer in range(len(model.net.reader.order) + 1)]
    return layers + [functools.partial(ASKS[head], model) for head in model.net.outputs if head in ASKS]


def _answers(spec: Spec, net: bough.Net, sequences: list[Any]) -> dict[str, Tensor]:
    """The states after each layer and every head's output, in the mode that the net is in."""
    batch = Inputs(spec, sequences).batch(range(len(sequences)), torch.device("cpu"))
    with torch.no_grad():
        states = list(net.states(batch))
        heads = {name: head(states[-1], batch) for name, head in net.outputs.items()}
    return {**{f"layer {number}": state for number, state in enumerate(states)}, **heads}


def _with_gradients(net: bough.Net, batch: Packed, planner: Planner) -> tuple[Tensor, list[Tensor]]:
    """The last states, and the gradient of a sum in which each of them has its own weight."""
    last = net(batch, planner)
    weighed = last * torch.randn(last.shape, generator=torch.Generator().manual_seed(0)).to(last)
    trunk = [weight for name, weight in net.named_parameters() if weight.requires_grad and "outputs" not in name]
    return last, list(torch.autograd.grad(weighed.sum(), trunk, materialize_grads=True))


def _rated(spec: Spec, *paths: str) -> Spec:
    """The spec with these rates at a half and no other."""
    rates = {path: 0.5 if path in paths else 0.0 for path in RATES if get(spec, path) is not MISSING}
    return spec.but(**rates)


def _through_config(spec: Spec) -> Spec:
    """The architecture as its config.json says it."""
    kin = layout(spec)
    config = json.loads(json.dumps(config_of(kin, spec)))
    return spec_of(own.read(config, "config.json") or kin, config, spec.outputs)


def _told(folder: Path) -> Model | str:
    """The model that a folder is taken for by itself, or what is said where it cannot be."""
    try:
        return bough.load(folder)
    except bough.ArtefactError as error:
        return str(error)


def _bytes(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _without(folder: Path, *keys: str) -> None:
    """Take keys out of a folder's config."""
    file = folder / "config.json"
    file.write_text(json.dumps({key: value for key, value in json.loads(file.read_text()).items() if key not in keys}))
