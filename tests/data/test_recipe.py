"""Recipes: what they may say, what `--set` changes, and that every mistake is named with its line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from jaxtyping import config

from bough.data.reading.columns import Columns
from bough.data.reading.source import Source
from bough.data.recipe import Data, Recipe, Tasks, Text, changed, parsed, read
from bough.errors import BoughError
from bough.text.limits import Limit


@pytest.fixture
def as_for_users() -> Iterator[None]:
    """Without the check of annotations, which would complain of a wrong type before the record does."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


WHOLE = """\
# what a job may say
[data]
train = ["one.csv", "two.csv"]
valid = "valid.csv"
skip_bad = true
labels = ["no", "yes"]

[data.columns]
text = "review"

[tokenizer]
from = "bert-tiny"

[text]
limit = 128
policy = "head-tail"

[task]
kind = "classify"

[batch]
tokens = 2048
"""


def test_a_recipe_is_records_with_what_is_not_said_filled_in() -> None:
    recipe = parsed(WHOLE, "r.toml")
    assert recipe.data.sources() == {
        "train": Source(("one.csv", "two.csv"), columns=Columns(text="review"), skip_bad=True),
        "valid": Source(("valid.csv",), columns=Columns(text="review"), skip_bad=True),
    }
    assert (recipe.tokenizer.from_ if recipe.tokenizer else None) == "bert-tiny"
    assert recipe.text.limited() == Limit(128, "head-tail")
    assert (recipe.task.kind if recipe.task else None, recipe.batch.tokens) == ("classify", 2048)
    assert parsed('data.train = "x.txt"', "r.toml") == Recipe(Data("x.txt"))
    assert parsed('data.train = "x.txt"', "r.toml").text.limited() is None


def test_a_recipe_survives_json() -> None:
    recipe = parsed(WHOLE, "r.toml")
    assert Recipe.from_json(recipe.to_json()) == recipe


@pytest.mark.usefixtures("as_for_users")
@pytest.mark.parametrize(
    ("change", "path", "value"),
    [
        ("data.train=more.csv", ("data", "train"), "more.csv"),
        ("data.train=['a', 'b']", ("data", "train"), ("a", "b")),
        ("data.train = a=b.csv", ("data", "train"), "a=b.csv"),
        ('data.train="5"', ("data", "train"), "5"),
        ("data.skip_bad=false", ("data", "skip_bad"), False),
        ("batch.tokens=9_000", ("batch", "tokens"), 9000),
        ("data.columns.text=said", ("data", "columns"), Columns(text="said")),
        ("tokenizer.from=other", ("tokenizer", "from_"), "other"),
        ("data.per=line\nx=1", ("data", "per"), None),
    ],
)
def test_set_puts_a_value_in_place_of_the_recipes(change: str, path: tuple[str, str], value: object) -> None:
    if value is None:
        with pytest.raises(BoughError, match=r"^data\.per: must be one of 'line', 'document', not 'line\\nx=1'$"):
            parsed(WHOLE, "r.toml", changed([change]))
    else:
        section = getattr(parsed(WHOLE, "r.toml", changed([change])), path[0])
        assert getattr(section, path[1]) == value


def test_set_may_begin_a_section_and_the_last_one_holds() -> None:
    recipe = parsed('[data]\ntrain = "x.txt"', "r.toml", changed(["text.limit=5", "text.limit=6"]))
    assert recipe.text == Text(6)


WRONG = [
    ("", "r.toml:1: data: is missing"),
    ("[data]\ntrain = 'x'\ntrian = 'x'", "r.toml:3: data.trian: there is no such field; did you mean 'train'?"),
    ("[data]\nvalid = 'x'", "r.toml:1: data.train: is missing"),
    ("[data]\n\n  train = 5", "r.toml:3: data.train: must be text or a list of which each item is text, not 5"),
    ("[data]\ntrain = ['x', 5]", "r.toml:2: data.train[1]: must be text, not 5"),
    ("[data]\ntrain = []", "r.toml:2: data.train: names no file; name one, or leave it out"),
    ("data = 'x'", "r.toml:1: data: must be a section, [data] with its fields below, not 'x'"),
    ("data.train = 'x'\ndata.per = 'page'", "r.toml:2: data.per: must be one of 'line', 'document', not 'page'"),
    ("data.train = 'x'\n[data.columns]\ntexts = 'y'",
     "r.toml:3: data.columns.texts: there is no such field; did you mean 'text'?"),
    ("[data]\ntrain = 'x'\n\"columns\".text = 'label'",
     "r.toml:3: data.columns.label: is called 'label', and so is text; one column is one part"),
    ("[date]\ntrain = 'x'",
     "r.toml:1: date: there is no such section; did you mean 'data'?; there are data, tokenizer, text, task, batch"),
    ("kind = 'classify'",
     "r.toml:1: kind: there is no such section; there are data, tokenizer, text, task, batch"),
    ("[data]\ntrain = 'x'\n[task]\nkind = 'classfy'",
     f"r.toml:4: task.kind: must be one of {', '.join(map(repr, get_args(Tasks)))}, not 'classfy'"),
    ("[data]\ntrain = 'x'\n[tokenizer]\nform = 'y'",
     "r.toml:4: tokenizer.form: there is no such field; did you mean 'from'?"),
    ("[data]\ntrain = 'x'\n[tokenizer]\nfrom = 'y'\nsize = 5",
     "r.toml:5: tokenizer.size: is for a tokenizer to train, and `from` names one to read; give only one"),
    ("[data]\ntrain = 'x'\n[tokenizer]\nkind = 'bpe'",
     "r.toml:3: tokenizer.from: is missing; name a folder to read, or give kind and size to train one"),
    ("[data]\ntrain = 'x'\n[tokenizer]\nkind = 'bpe'\nsize = 9\nfamily = 'brt'",
     "r.toml:6: tokenizer.family: there is no family 'brt'; did you mean 'bert'?"),
    ("[data]\ntrain = 'x'\n[text]\nlimit = 0",
     "r.toml:4: text.limit: must be a whole number from 1 to 2,147,483,647 or none, not 0"),
    ("[data]\ntrain = 'x'\n[text]\nlimit = 9\nstride = 3",
     "r.toml:5: text.stride: is for the policy 'window' alone, not 'truncate'; leave it out"),
    ("[data]\ntrain =", "r.toml:2: not TOML (Invalid value)"),
    ("[data]\ntrain = x", "r.toml:2:9: not TOML (Invalid value)"),
    ("[data]\ntrain = 'x'\ntrain = 'y'", "r.toml:3: not TOML (Cannot overwrite a value)"),
    ("a = " + "[" * 10_000, "r.toml: not TOML (brackets in brackets without end)"),
]  # fmt: skip


@pytest.mark.usefixtures("as_for_users")
@pytest.mark.parametrize(("content", "said"), WRONG, ids=range(len(WRONG)))
def test_a_mistake_is_named_with_its_line_and_the_nearest_name(content: str, said: str) -> None:
    with pytest.raises(BoughError) as error:
        parsed(content, "r.toml")
    assert str(error.value) == said


@pytest.mark.usefixtures("as_for_users")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("data.trian=x", "data.trian: there is no such field; did you mean 'train'?"),
        ("data.train", "'data.train': must be a field's path, =, and its value, such as data.per=document"),
        ("data..train=x", "'data..train=x': must be a field's path, =, and its value, such as data.per=document"),
        ("data.train.x=1", "data.train.x: train is ['one.csv', 'two.csv'], and has no fields"),
        ("text.limit=many", "text.limit: must be a whole number from 1 to 2,147,483,647 or none, not 'many'"),
    ],
)
def test_a_mistake_in_set_is_told_as_such(change: str, said: str) -> None:
    with pytest.raises(BoughError) as error:
        parsed(WHOLE, "r.toml", changed([change]))
    assert str(error.value) == said


def test_a_mistake_in_the_recipe_is_not_laid_on_set() -> None:
    with pytest.raises(BoughError, match=r"^r\.toml:3: data\.vlaid: there"):
        parsed("[data]\ntrain = 'x'\nvlaid = 'y'", "r.toml", {"data.per": "line"})


def test_a_recipe_is_read_from_a_file_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_bytes(b"\xef\xbb\xbf[data]\r\ntrain = 'x'\r\n")
    assert read(path) == Recipe(Data("x"))
    path.write_bytes(b"[data]\ntrain = '\xff'")
    with pytest.raises(BoughError) as error:
        read(path)
    assert str(error.value) == f"{path}: not UTF-8 (invalid start byte at byte 17); convert it"
    with pytest.raises(BoughError, match=r"none\.toml: No such file or directory$"):
        read(tmp_path / "none.toml")


def test_reading_a_recipe_loads_no_torch() -> None:
    code = "import sys, bough.data.recipe; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
