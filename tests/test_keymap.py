"""Names: rules spell exact names, fit both ways, and reach no tensor that they do not spell."""

from __future__ import annotations

import dataclasses

import torch
from hypothesis import given
from hypothesis import strategies as st
from small import little
from torch import Tensor

import bough
from bough.checkpoints.keys import Fit, fit, spread
from bough.checkpoints.save import layout
from bough.families import FAMILIES, Family
from bough.keymap import Alias, Drop, Fuse, Rename, Shadow, Transpose, expand, spelled, their_shape
from bough.spec import Groups, Outputs, Pooler, Spec

SPEC = Spec("bert", vocabulary=11, width=8, depth=2, heads=2, outputs=Outputs(Pooler()))
RULES = (
    Rename("table.weight", "embed.tokens.weight"),
    Transpose("h.{i}.up.weight", "blocks.{i}.feed.up.weight"),
    Fuse(("h.{i}.q.{p}", "h.{i}.k.{p}", "h.{i}.v.{p}"), "blocks.{i}.attention.qkv.{p}"),
    Rename("wings.{p}", "outputs.wings.{p}"),
    Drop("h.{i}.mask"),
)


def test_a_rule_is_written_out_for_every_block_and_left_out_where_its_tensor_is() -> None:
    assert expand(RULES, SPEC) == [
        Rename("table.weight", "embed.tokens.weight"),
        *(Transpose(f"h.{i}.up.weight", f"blocks.{i}.feed.up.weight") for i in (0, 1)),
        *(
            Fuse(tuple(f"h.{i}.{one}.{part}" for one in "qkv"), f"blocks.{i}.attention.qkv.{part}")
            for i in (0, 1)
            for part in ("weight", "bias")
        ),
        *(Drop(f"h.{i}.mask") for i in (0, 1)),
    ]


def test_blocks_in_groups_are_named_by_group_and_place() -> None:
    spec = SPEC.but(depth=4, sharing=Groups(2, 2))
    rules = expand([Rename("g{g}.j{j}", "blocks.{i}.feed.up.weight")], spec)
    assert [spelled(rule) for rule in rules] == [("g0.j0",), ("g0.j1",), ("g1.j0",), ("g1.j1",)]


def test_a_second_name_yields_to_a_tensor_of_its_own() -> None:
    own, second = Rename("score", "outputs.pooler.dense.weight"), Alias("score", "embed.tokens.weight")
    assert expand([own, second], SPEC) == [own]
    assert expand([own, second], SPEC.but(outputs=Outputs())) == [second]


def test_shapes_are_known_on_their_side() -> None:
    assert their_shape(Transpose("a", "b"), (3, 5)) == (5, 3)
    assert their_shape(Fuse(("a", "b", "c"), "d"), (12, 5)) == (4, 5)
    assert their_shape(Rename("a", "b"), (3, 5)) == (3, 5)


def family(*rules: Rename | Transpose | Fuse | Alias | Shadow | Drop) -> Family:
    """BERT with names of its own."""
    return dataclasses.replace(FAMILIES["bert"], prefix="x.", trunk=rules, heads=())


def numbers(spec: Spec) -> dict[str, Tensor]:
    """A different number in every place of every tensor."""
    return {name: torch.rand(shape) for name, shape in spec.tensors().items()}


def test_what_is_spread_fits_again_to_the_bit() -> None:
    for one in FAMILIES.values():
        spec = one.base.but(width=32, depth=2, heads=2, outputs=Outputs(), **little(one.base))
        kin, tensors = layout(spec), numbers(spec)
        again = fit(kin, spec, spread(kin, spec, tensors))
        assert again.complaint() == ""
        assert again.tensors.keys() == tensors.keys()
        assert all(torch.equal(one, tensors[name]) for name, one in again.tensors.items())


def test_a_fused_tensor_may_stand_under_second_names_in_part_or_whole() -> None:
    ours = "blocks.0.attention.qkv.weight"
    kin = family(Rename("table", "embed.tokens.weight"), Fuse(("q", "k", "v"), ours), Alias(("q2", "k2", "v2"), ours))
    spec = SPEC.but(depth=1, outputs=Outputs())
    parts = {name: torch.rand(8, 8) for name in ("q", "k", "v")}
    second = {f"{name}2": part for name, part in parts.items()}

    def found(tensors: dict[str, Tensor]) -> Fit:
        return fit(kin, spec, {"table": torch.rand(11, 8), **tensors})

    for tensors in (parts, second, {**parts, **second}, {**parts, "k2": parts["k"]}, {**second, "k": parts["k"]}):
        assert torch.equal(found(tensors).tensors[ours], torch.cat(list(parts.values())))
        assert not found(tensors).disagreeing
        assert not {"q", "k", "v", "q2", "k2", "v2"} & set(found(tensors).missing)
    assert found({**parts, "k2": parts["q"]}).disagreeing == ["k2 is tied to another tensor and has other numbers"]
    assert {"q", "k", "v"} <= set(found({}).missing)
    assert "k2" in found({"q2": parts["q"], "v2": parts["v"]}).missing
    assert "q" in found({"k": parts["k"], "v": parts["v"], "q2": parts["q"]}).missing


@given(st.text("abc.01", min_size=1), st.text("abc.01", min_size=1))
def test_no_rule_reaches_a_name_that_it_does_not_spell(before: str, behind: str) -> None:
    kin = family(Rename("a", "embed.tokens.weight"))
    spec = SPEC.but(outputs=Outputs())
    name = f"{before}a{behind}"
    assert fit(kin, spec, {name: torch.zeros(11, 8)}).unexpected == [name]


def test_a_second_name_must_agree_and_a_shadow_is_read_where_the_first_is_absent() -> None:
    spec = bough.spec("bert-tiny").but(vocabulary=11, width=8, depth=1, heads=2, outputs=Outputs())
    kin = family(
        Rename("a", "embed.tokens.weight"), Alias("b", "embed.tokens.weight"), Shadow("c", "embed.tokens.weight")
    )
    table = torch.rand(11, 8)
    for names in ("a", "b", "c", "ab", "abc"):
        found = fit(kin, spec, dict.fromkeys(names, table))
        assert torch.equal(found.tensors["embed.tokens.weight"], table)
        assert not found.disagreeing
    assert fit(kin, spec, {"a": table, "b": table + 1}).disagreeing == [
        "b is tied to another tensor and has other numbers"
    ]
    assert fit(kin, spec, {}).missing == ["a"]
