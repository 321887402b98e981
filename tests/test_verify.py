"""The proof itself: sound models pass, and each check fails when what it promises is broken."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor

from bough.core.kernels import Grouped
from bough.families import FAMILIES, Family
from bough.model import Model
from bough.packed import Packed
from bough.spec import BatchNorm, Groups
from bough.verify import Check, draw, parity, promises, verify

SmallModel = Callable[..., Model]
CLASSES = [(one, heads) for one in FAMILIES.values() for heads in dict.fromkeys(own for _, own in one.architectures)]


def failed(checks: list[Check]) -> set[str]:
    return {one.name for one in checks if one.passed is False}


@pytest.mark.parametrize(("family", "heads"), CLASSES, ids=[f"{one.name}-{'-'.join(heads)}" for one, heads in CLASSES])
def test_a_sound_model_of_any_family_and_head_passes_every_check(
    small_model: SmallModel, tmp_path: Path, family: Family, heads: tuple[str, ...]
) -> None:
    model = small_model(family, *heads) if heads else bare(small_model(family))
    model.save(tmp_path / "model")
    checks = verify(tmp_path / "model")
    assert not failed(checks)
    writes = family.branch != "encoder"
    assert ("cache = no cache" in {one.name for one in checks}) == writes
    skipped = [one.note for one in checks if one.passed is None]
    if hasattr(transformers, family.architectures[0][0]):
        assert not skipped
        assert len(checks) == 5 + writes + (2 if heads else 1)
    else:
        assert skipped
        assert all(
            re.fullmatch(r"skipped: transformers has no \w+|skipped: it is in Bough's own.*", n) for n in skipped
        )


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("albert", {"sharing": Groups(groups=2, inner=2), "depth": 4}),
        ("xlm", {"embedding.languages": 3}),
        ("bert", {"embedding.segments": 5, "embedding.positions.size": 9}),
    ],
)
def test_settings_that_change_what_goes_in_or_comes_out_pass_too(
    small_model: SmallModel, tmp_path: Path, family: str, changes: dict[str, object]
) -> None:
    from bough.core import build

    spec = small_model(FAMILIES[family]).spec.but(**changes)
    Model(spec, build(spec, seed=1)).save(tmp_path / "model")
    checks = verify(tmp_path / "model")
    assert all(one.passed for one in checks), checks


CORRUPTIONS: dict[str, Callable[[Tensor, Packed], Tensor]] = {
    "batch = single": lambda x, batch: x * len(batch.lengths),
    "order changes nothing": lambda x, batch: x * (1 + batch.sequences[:, None]),
    "neighbours do not leak": lambda x, batch: x + 1e-4 * x.flip(0),
    "save = load": lambda x, batch: x * 1.001,
    "hidden states = transformers": lambda x, batch: x * 1.001,
    "scores = transformers": lambda x, batch: x * 1.5,
}
"""What each check is there to find, done to the embedding of a net that is otherwise sound."""


@pytest.mark.parametrize("name", CORRUPTIONS)
@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_each_check_fails_when_its_promise_is_broken(
    small_model: SmallModel, tmp_path: Path, family: str, name: str
) -> None:
    model = small_model(FAMILIES[family])
    model.save(tmp_path / "model")
    assert not failed([*promises(model), *parity(model, tmp_path / "model")])
    model.net.embed.register_forward_hook(lambda module, given, x: CORRUPTIONS[name](x, given[0]))
    assert name in failed([*promises(model), *parity(model, tmp_path / "model")])


def test_a_wrong_kernel_is_found(small_model: SmallModel, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Grouped.attend
    monkeypatch.setattr(Grouped, "attend", lambda self, *given: 1.01 * sound(self, *given))
    assert failed(promises(small_model(FAMILIES["bert"]))) == {"fast kernels = plain reference"}


def test_one_wrong_weight_is_found(small_model: SmallModel, tmp_path: Path) -> None:
    model = small_model(FAMILIES["roberta"])
    model.save(tmp_path / "model")
    model.net.blocks[1].feed.up.weight.data[3, 5] += 0.5
    assert "hidden states = transformers" in failed(parity(model, tmp_path / "model"))


def test_a_net_that_says_nan_does_not_pass(small_model: SmallModel) -> None:
    model = small_model(FAMILIES["gpt"])
    model.net.embed.positions.weight.data[40] = torch.nan
    assert "batch = single" in failed(promises(model))


def test_without_transformers_parity_is_skipped_and_said_to_be(
    small_model: SmallModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    small_model(FAMILIES["bert"]).save(tmp_path / "model")
    last = verify(tmp_path / "model")[-1]
    assert (last.passed, last.note) == (None, "skipped: transformers is not installed")


def test_a_folder_that_transformers_cannot_read_is_skipped_with_its_reason(
    small_model: SmallModel, tmp_path: Path
) -> None:
    model = small_model(FAMILIES["bert"])
    (tmp_path / "empty").mkdir()
    checks = parity(model, tmp_path / "empty")
    assert {one.passed for one in checks} == {None}
    assert all(one.note.startswith("skipped: it says ") for one in checks)


def test_a_folder_in_our_own_layout_is_not_shown_to_the_peer(small_model: SmallModel, tmp_path: Path) -> None:
    from bough.core import build

    spec = small_model(FAMILIES["bert"], "words").spec.but(norm=BatchNorm())
    Model(spec, build(spec)).save(tmp_path / "study")
    checks = verify(tmp_path / "study")
    assert not failed(checks)
    assert [one.note for one in checks if one.passed is None] == [
        "skipped: it is in Bough's own layout, which no other tool reads"
    ]


def test_sequences_are_never_longer_than_the_architecture_reads(small_model: SmallModel) -> None:
    spec = small_model(FAMILIES["bert"]).spec
    assert [len(one.ids) for one in draw(spec, 0)] == [1, 17, 2, 3, 64, 17, 5, 33]
    short = spec.but(**{"embedding.positions.size": 4})
    assert max(len(one.ids) for one in draw(short, 0)) == 4
    assert draw(spec, 0) == draw(spec, 0) != draw(spec, 1)


def bare(model: Model) -> Model:
    """The same trunk without a head."""
    outputs = type(model.spec.outputs)()
    spec = model.spec.but(outputs=outputs)
    model.net.outputs.clear()
    return Model(spec, model.net)
