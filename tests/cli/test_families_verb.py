"""`bough families`: the tree, a branch, a size."""

from __future__ import annotations

import json
import re

import pytest
from running import Run

from bough.families import FAMILIES
from bough.spec import Spec

PRESETS = [(one, name) for one in FAMILIES.values() for name in one.presets]


def test_the_tree_draws_every_family_below_the_one_it_grew_from(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    rows = run("families").out.splitlines()
    place = {
        one.name: next(
            (row.index(f" {one.title}  "), number) for number, row in enumerate(rows) if f" {one.title}  " in row
        )
        for one in FAMILIES.values()
    }
    for one in FAMILIES.values():
        if one.parent:
            (column, row), (above, earlier) = place[one.name], place[one.parent]
            assert column > above
            assert row > earlier


def test_the_tree_names_every_preset_with_its_size(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    tree = run("families").out.replace("\u00a0", " ")
    assert all(f"{name} " in tree for _, name in PRESETS)
    assert "bert-base 110M" in tree
    assert "gpt2-xl 1.56B" in tree
    assert "bert-tiny 4.42M" in tree


def test_the_tree_as_json_lists_every_family_and_preset(run: Run) -> None:
    tree = run("families", "--json").document
    assert [one["name"] for one in tree] == list(FAMILIES)
    assert [size["preset"] for one in tree for size in one["presets"]] == [name for _, name in PRESETS]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_family_shows_its_paper_its_sizes_and_its_settings(
    run: Run, monkeypatch: pytest.MonkeyPatch, family: object
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    page = run("families", family.name).out
    assert family.paper in page
    assert all(f"{size.parameters:,}" in page for size in family.presets.values())
    assert all(rule.key in page for rule in family.settings)
    assert all(head in page for head in family.outputs.present())


@pytest.mark.parametrize(("family", "name"), PRESETS, ids=[name for _, name in PRESETS])
def test_a_preset_as_json_reads_back_as_its_spec(run: Run, family: object, name: str) -> None:
    document = run("families", name, "--json").document
    shown = document if "spec" in document else next(one for one in document["presets"] if one["preset"] == name)
    assert Spec.from_json(json.dumps(shown["spec"])) == family.preset(name)
    assert shown["parameters"] == family.presets[name].parameters


def test_a_preset_shows_every_field_and_where_its_parameters_are(run: Run) -> None:
    page = run("families", "albert-base").out
    assert "11,221,680 parameters" in page
    assert "embeds in tables 128 wide" in page
    for field in Spec.__dataclass_fields__:
        assert re.search(f"^{field}( |$)", page, re.MULTILINE)


def test_a_name_that_is_a_family_and_a_preset_shows_both(run: Run) -> None:
    page = run("families", "gpt2").out
    assert "Language Models are Unsupervised Multitask Learners" in page
    assert "puts the norms in front of each sublayer" in page
