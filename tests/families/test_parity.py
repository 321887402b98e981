"""Every family against `transformers`: the same files give the same states, scores and gradients, both ways."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import peers
import pytest
import torch
import transformers
from peers import Answers, Case
from safetensors.torch import load_file, save_file
from torch import Tensor

import bough
from bough import settings
from bough.checkpoints.keys import fit
from bough.checkpoints.save import config_of
from bough.families import FAMILIES, Family
from bough.keymap import Drop, expand, spelled
from bough.packed import Packed
from bough.record import get
from bough.settings import Setting
from bough.spec import Untied

HIDDEN, SCORES, GRADIENT = 2e-5, 1e-4, 1e-4

Tensors = dict[str, Tensor]


@pytest.fixture(params=peers.PEERED.values(), ids=peers.PEERED)
def family(request: pytest.FixtureRequest) -> Family:
    return request.param


@pytest.mark.parametrize("case", peers.cases(), ids=str)
def test_a_file_of_theirs_gives_their_states_scores_and_gradients_and_goes_back(case: Case, tmp_path: Path) -> None:
    net = peers.model(case.architecture, case.settings, case.number)
    model = bough.load(peers.written(net, tmp_path / "theirs"))
    batch, heads = peers.batch(net, case.number, model.spec), list(model.net.outputs)
    mine, theirs = ours(model, batch), peers.answers(net, batch, heads)
    agree(mine, theirs)
    gradients_agree(mine, theirs, model, net)
    model.save(tmp_path / "ours")
    back, notes = type(net).from_pretrained(tmp_path / "ours", output_loading_info=True)
    assert not any(notes.values()), notes
    assert back.config.architectures == [case.architecture]
    agree(mine, peers.answers(back.eval(), batch, heads))


@pytest.mark.parametrize("case", peers.headed_cases(), ids=str)
def test_a_config_that_says_only_what_is_unusual_is_of_the_same_architecture(case: Case, tmp_path: Path) -> None:
    net = peers.model(case.architecture, case.settings, case.number)
    full = bough.load(peers.written(net, tmp_path))
    words = {"vocab_size": peers.VOCABULARY} if hasattr(net.config, "vocab_size") else {}
    says = {"model_type": net.config.model_type, "architectures": [case.architecture], **words, **case.settings}
    (tmp_path / "config.json").write_text(json.dumps(says))
    assert bough.load(tmp_path).spec == full.spec


@pytest.mark.parametrize(("family", "rule"), peers.rates(), ids=peers.named)
def test_dropout_is_where_theirs_is_and_follows_its_own_setting(family: Family, rule: Setting, tmp_path: Path) -> None:
    # At a rate of one nothing is left to chance, so that two nets in training can be compared.
    rates: dict[str, float | None] = {other.key: float(other is rule) for of, other in peers.rates() if of is family}
    if rule.key == "hidden_dropout_prob" and "classifier_dropout" in rates:
        rates["classifier_dropout"] = None  # which means the same as that one
    in_heads = any(path.startswith("outputs.") for path in rule.paths)
    classes = {name for name, _ in family.architectures} if in_heads else {family.architectures[0][0]}
    for architecture in classes:
        net = peers.dropping_as_published(peers.model(architecture, {**peers.PLAIN[family.name], **rates}).train())
        model = bough.load(peers.written(net, tmp_path / architecture))
        model.net.train()
        batch = peers.batch(net, 0, model.spec)
        agree(ours(model, batch), peers.answers(net, batch, list(model.net.outputs)))


def old_norms(family: Family, theirs: Tensors, net: transformers.PreTrainedModel) -> Tensors:
    """Norms as the first converted files spell them."""
    old = {"weight": "gamma", "bias": "beta"}
    norm = re.compile(r"(.*(?:norm|ln_).*)\.(weight|bias)", re.IGNORECASE)
    return {norm.sub(lambda found: f"{found[1]}.{old[found[2]]}", name): tensor for name, tensor in theirs.items()}


def without_prefix(family: Family, theirs: Tensors, net: transformers.PreTrainedModel) -> Tensors:
    """The trunk's names as in a file that has no head."""
    return {name.removeprefix(family.prefix): tensor for name, tensor in theirs.items()}


def with_second_names(family: Family, theirs: Tensors, net: transformers.PreTrainedModel) -> Tensors:
    """Tied tensors under each of their names."""
    return {name: tensor.clone() for name, tensor in net.state_dict().items()}


def with_constants(family: Family, theirs: Tensors, net: transformers.PreTrainedModel) -> Tensors:
    """With the tensors that only old files carry, and nobody needs."""
    dropped = [rule for rule in expand(family.trunk, family.base.but(depth=1)) if isinstance(rule, Drop)]
    return {**theirs, **{family.prefix + name: torch.zeros(3) for rule in dropped for name in spelled(rule)}}


@pytest.mark.parametrize("respelt", [old_norms, without_prefix, with_second_names, with_constants])
def test_an_older_spelling_of_a_file_is_the_same_model(
    family: Family, respelt: Callable[..., Tensors], tmp_path: Path
) -> None:
    net = peers.model(peers.headed(family), peers.PLAIN[family.name])
    plain = bough.load(peers.written(net, tmp_path))
    file = tmp_path / "model.safetensors"
    theirs = load_file(file)
    changed = respelt(family, theirs, net)
    if changed.keys() == theirs.keys():
        pytest.skip("its files have none")
    save_file(changed, file)
    again = bough.load(tmp_path)
    assert again.spec == plain.spec
    assert all(torch.equal(one, again.net.state_dict()[name]) for name, one in plain.net.state_dict().items())


def test_the_prefix_may_stand_in_a_file_without_a_head(family: Family, tmp_path: Path) -> None:
    net = peers.model(family.architectures[0][0], peers.PLAIN[family.name])
    plain = bough.load(peers.written(net, tmp_path))
    file = tmp_path / "model.safetensors"
    save_file({family.prefix + name: tensor for name, tensor in load_file(file).items()}, file)
    assert bough.load(tmp_path).spec == plain.spec


def test_a_tied_head_that_has_other_numbers_is_refused(family: Family, tmp_path: Path) -> None:
    net = peers.model(peers.headed(family), peers.PLAIN[family.name])
    file = peers.written(net, tmp_path) / "model.safetensors"
    theirs, state = load_file(file), net.state_dict()
    unsaid = sorted(name for name in state.keys() - theirs.keys() if name.endswith("weight"))
    # What is computed anew is not in the file either, under any name.
    second = next(name for name in unsaid if any(torch.equal(state[name], one) for one in theirs.values()))
    save_file({**theirs, second: torch.ones_like(state[second])}, file)
    with pytest.raises(bough.ArtefactError, match=rf"{second} is tied to another tensor and has other numbers"):
        bough.load(tmp_path)


@pytest.mark.parametrize("name", [name for one in peers.PEERED.values() for name in one.presets])
def test_a_preset_has_as_many_parameters_as_theirs_of_its_config(name: str) -> None:
    spec = bough.spec(name)
    family = FAMILIES[spec.family]
    kind = getattr(transformers, family.architecture(spec.outputs))
    with torch.device("meta"):
        net = kind(kind.config_class(**config_of(family, spec)))
    if isinstance(get(spec, "outputs.words.projection"), Untied):
        peers.untie(net)
    assert spec.parameters == net.num_parameters()


@pytest.mark.parametrize("name", peers.PUBLISHED)
def test_a_preset_is_the_published_config(name: str) -> None:
    spec = bough.spec(name)
    family = FAMILIES[spec.family]
    kind = getattr(transformers, family.architecture(spec.outputs))
    config = {**kind.config_class(**peers.PUBLISHED[name]).to_dict(), **peers.PUBLISHED[name]}
    rules = family.rules
    assert settings.read(rules, family.base.but(outputs=spec.outputs), config).diff(spec) == []


def test_what_a_config_leaves_unsaid_is_what_theirs_takes_it_for(family: Family) -> None:
    spec = family.preset(next(iter(family.presets)))
    outputs = family.outputs.only(*spec.outputs.present())
    kind, base = getattr(transformers, family.architecture(outputs)).config_class, family.base.but(outputs=outputs)
    said = {key: value for key, value in config_of(family, spec).items() if key in settings.keys(family.settings)}
    for key, value in said.items():
        try:
            whole = settings.read(family.rules, base, kind(**{key: value}).to_dict())
        except bough.BoughError:
            continue  # nothing by itself, such as a width that the usual number of heads does not divide
        assert settings.read(family.rules, base, {key: value}) == whole, key


def ours(model: bough.Model, batch: Packed) -> Answers:
    """What our net says of the batch, ready to be differentiated."""
    read = [batch.read.split(state) for state in model.net.reader.states(batch.read)] if batch.source else []
    states = list(model.net.states(batch))
    heads = {name: head(states[-1], batch) for name, head in model.net.outputs.items()}
    if len(heads) > 1:
        # Where another head reads the pooler, theirs keep its vector to themselves.
        heads.pop("pooler", None)
    by_token = {"words", "tag", "span"}
    split = {name: list(batch.split(value) if name in by_token else value) for name, value in heads.items()}
    return Answers([*map(list, read), *(list(batch.split(state)) for state in states)], split)


def agree(mine: Answers, theirs: Answers) -> None:
    """States at every layer, and all that the heads say."""
    assert len(mine.hidden) == len(theirs.hidden)
    for layer, (own, other) in enumerate(zip(mine.hidden, theirs.hidden, strict=True)):
        assert difference(own, other) < HIDDEN, f"layer {layer}"
    assert mine.heads.keys() == theirs.heads.keys()
    for name, own in mine.heads.items():
        assert difference(own, theirs.heads[name]) < SCORES, name


def difference(mine: list[Tensor], theirs: list[Tensor]) -> float:
    """The largest difference between two lists of tensors of the same shapes."""
    assert [one.shape for one in mine] == [one.shape for one in theirs]
    return max((own - other).abs().max().item() for own, other in zip(mine, theirs, strict=True))


def gradients_agree(mine: Answers, theirs: Answers, model: bough.Model, net: transformers.PreTrainedModel) -> None:
    """The gradient of one loss by every weight, theirs brought under our names by the family's own table."""
    mine.loss().backward()
    theirs.loss().backward()
    gradients = {name: weight.grad for name, weight in net.named_parameters() if weight.grad is not None}
    fitted = fit(FAMILIES[model.spec.family], model.spec, gradients)
    for name, weight in model.net.named_parameters():
        if not weight.requires_grad:
            continue  # a sinusoid, which they would train
        nothing = torch.zeros_like(weight)
        own = nothing if weight.grad is None else weight.grad
        other = fitted.tensors.get(name, nothing)
        error = ((own - other).abs() / other.abs().clamp(min=1)).max().item()
        assert error < GRADIENT, name
