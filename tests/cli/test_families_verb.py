"""`bough families`: the tree, a branch, a size."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from running import Run

from bough.cli import terminal
from bough.cli.families import _parts, tree
from bough.families import FAMILIES
from bough.spec import BatchNorm, Causal, Encoder, Outputs, PreNorm, RelativeBias, Spec, Tied, Words

PRESETS = [(one, name) for one in FAMILIES.values() for name in one.presets]


def places(drawn: str) -> dict[str, tuple[int, int]]:
    """The row and the column at which each family is drawn, by title."""
    rows = enumerate(drawn.splitlines())
    found = ((number, re.search(r"[├└]── (.+?)  \d{4}  ", row)) for number, row in rows)
    return {one[1]: (number, one.start()) for number, one in found if one}


def test_the_tree_draws_every_family_below_the_one_it_grew_from(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    drawn = run("families").out
    place = places(drawn)
    assert sorted(place) == sorted(one.title for one in FAMILIES.values())
    for one in FAMILIES.values():
        parent = FAMILIES.get(one.parent or "")
        if parent and parent.branch == one.branch:
            (row, column), (earlier, above) = place[one.title], place[parent.title]
            assert (row > earlier, column > above) == (True, True)
        elif parent:
            assert f"{one.title}  {one.year}  {one.name}  grew from {parent.title}" in drawn


GROWTH = (
    ("vivit", "ViViT", 2021, "vit", "encoder"),
    ("vit", "ViT", 2020, "bert", "encoder"),
    ("bert", "BERT", 2018, "transformer", "encoder"),
    ("roberta", "RoBERTa", 2019, "bert", "encoder"),
    ("t5", "T5", 2019, "transformer", "encoder-decoder"),
    ("sparse", "Sparse Transformer", 2019, "transformer", "decoder"),
    ("gpt2", "GPT-2", 2019, "gpt", "decoder"),
    ("gpt", "GPT", 2018, "transformer", "decoder"),
    ("returned", "Returned", 2022, "vivit", "encoder-decoder"),
    ("transformer", "Transformer", 2017, None, "encoder-decoder"),
)
"""A tree whose limbs grew from each other, in no order."""
MADE_UP = {
    name: dataclasses.replace(
        FAMILIES["bert"], name=name, title=title, year=year, parent=parent, branch=branch, adds=f"what {title} adds"
    )
    for name, title, year, parent, branch in GROWTH
}
DRAWN = """\
The transformer tree of life  10 families, 30 presets
├── encoder-decoder
│   ├── Transformer  2017  transformer
│   │   what Transformer adds
│   │   bert-tiny 4.42M  bert-base 110M  bert-large 335M
│   │   └── T5  2019  t5
│   │       what T5 adds
│   │       bert-tiny 4.42M  bert-base 110M  bert-large 335M
│   └── Returned  2022  returned  grew from ViViT
│       what Returned adds
│       bert-tiny 4.42M  bert-base 110M  bert-large 335M
├── encoder
│   └── BERT  2018  bert  grew from Transformer
│       what BERT adds
│       bert-tiny 4.42M  bert-base 110M  bert-large 335M
│       ├── RoBERTa  2019  roberta
│       │   what RoBERTa adds
│       │   bert-tiny 4.42M  bert-base 110M  bert-large 335M
│       └── ViT  2020  vit
│           what ViT adds
│           bert-tiny 4.42M  bert-base 110M  bert-large 335M
│           └── ViViT  2021  vivit
│               what ViViT adds
│               bert-tiny 4.42M  bert-base 110M  bert-large 335M
└── decoder
    ├── GPT  2018  gpt  grew from Transformer
    │   what GPT adds
    │   bert-tiny 4.42M  bert-base 110M  bert-large 335M
    │   └── GPT-2  2019  gpt2
    │       what GPT-2 adds
    │       bert-tiny 4.42M  bert-base 110M  bert-large 335M
    └── Sparse Transformer  2019  sparse  grew from Transformer
        what Sparse Transformer adds
        bert-tiny 4.42M  bert-base 110M  bert-large 335M
"""


@pytest.mark.usefixtures("run")
def test_limbs_come_by_age_and_what_grew_from_another_limb_stands_on_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal.show(tree(MADE_UP))
    assert capsys.readouterr().out.replace("\u00a0", " ") == DRAWN


def test_a_family_whose_parent_is_not_known_is_drawn_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show(tree({"vivit": MADE_UP["vivit"]}))
    assert list(places(capsys.readouterr().out)) == ["ViViT"]


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


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"embedding", "12 blocks", "words"}),
        (
            {"placement": PreNorm(), "attention.relative": RelativeBias()},
            {"embedding", "12 blocks", "words", "distances", "last norm"},
        ),
        (
            {"encoder": Encoder(depth=1), "attention.mask": Causal(), "attention.relative": RelativeBias()},
            {
                *("embedding", "12 blocks", "words", "distances"),
                *("encoder's embedding", "encoder's 1 block", "encoder's distances"),
            },
        ),
        (
            {"norm": BatchNorm(), "outputs": Outputs(words=Words(projection=Tied(shift=True)))},
            {"embedding", "12 blocks"},
        ),
    ],
)
def test_the_parts_of_an_architecture_add_up_to_all_of_it(changes: dict[str, object], expected: set[str]) -> None:
    spec = FAMILIES["bert"].published.but(**changes)
    parts = _parts(spec)
    assert set(parts) == expected
    assert sum(parts.values()) == spec.parameters


def test_a_name_that_is_a_family_and_a_preset_shows_both(run: Run) -> None:
    page = run("families", "gpt2").out
    assert "Language Models are Unsupervised Multitask Learners" in page
    assert "puts the norms in front of each sublayer" in page
