"""`bough check`: recipes and files, the page, the document for programs, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import Run, in_a_process

TRAIN = """\
text,label
The river flooded the bank at noon.,wet
The bank lent the river no money.,dry
the river flooded the bank at NOON,wet
A cafÃ© stands where the bank lent the money.,dry
only one column
The money flooded into the bank.,dry
The river bank was dry in the end.,wet
"""
TEST = """\
text,label
The bank lent the river no money!,dry
The bank flooded the river.,wett
"""


@pytest.fixture
def spoiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small corpus with something wrong, in the folder where the command is run."""
    monkeypatch.chdir(tmp_path)
    Path("train.csv").write_text(TRAIN, "utf-8")
    Path("test.csv").write_text(TEST, "utf-8")


PAGE = """\
✗ 1 row of train that cannot be read
  train.csv:6  the row has 1 column, and the table 2
✗ 1 label 'wett', which is none of those in train; did you mean 'wet'?
  test.csv:3  'wett'
✗ 1 row of test also in train
  test.csv:2 = train.csv:3  The bank lent the river no money!
! 1 row of train repeating an earlier one
  train.csv:4 = train.csv:2  the river flooded the bank at NOON
! 1 row with UTF-8 that was read as another encoding
  train.csv:5  'Ã©' for 'é'

set    rows  words  mean  median  99%  longest  0 to 9
──────────────────────────────────────────────────────────
train     6     44   7.3       7    9        9        ▃█▃▃
test      2     12   6.0       7    7        7       █ █
Longest are train.csv:5 (9), train.csv:8 (8), train.csv:2 (7).
Text: Latin.

label      train       test
─────────────────────────────────────────
dry    3   50.0%  1   50.0%  ━━━━━━━━━━━━
wet    3   50.0%  0    0.0%  ━━━━━━━━━━━━
wett   0    0.0%  1   50.0%
Always saying 'dry' is right for 50.0% of test.

3 errors, 2 warnings.
"""


@pytest.mark.usefixtures("spoiled")
def test_the_page_names_every_fault_by_file_and_row_and_ends_with_the_count(run: Run) -> None:
    ran = run("check", "train.csv", "--test", "test.csv")
    assert ran.out == PAGE
    assert (ran.code, ran.err) == (2, "")


DOCUMENT: dict[str, Any] = {
    "passed": False,
    "errors": 3,
    "warnings": 2,
    "notes": 0,
    "sets": [
        {
            "name": "train",
            "files": ["train.csv"],
            "rows": 6,
            "skipped": 1,
            "length": 44,
            "mean": 44 / 6,
            "median": 7,
            "p99": 9,
            "longest": 9,
            "sketch": [0, 0, 0, 0, 0, 0, 1, 3, 1, 1],
        },
        {
            "name": "test",
            "files": ["test.csv"],
            "rows": 2,
            "skipped": 0,
            "length": 12,
            "mean": 6.0,
            "median": 7,
            "p99": 7,
            "longest": 7,
            "sketch": [0, 0, 0, 0, 0, 1, 0, 1, 0, 0],
        },
    ],
    "unit": "words",
    "longest": [
        {"place": "train.csv:5", "length": 9},
    ],
    "classes": [
        {"name": "dry", "train": 3, "test": 1},
        {"name": "wet", "train": 3, "test": 0},
        {"name": "wett", "train": 0, "test": 1},
    ],
    "mixture": {"text": {"script": {"Latin": 1.0}}},
    "vocabulary": [],
    "epoch": None,
    "findings": [
        {
            "severity": "error",
            "kind": "bad-row",
            "says": "1 row of train that cannot be read",
            "places": [{"place": "train.csv:6", "beside": None, "shows": "the row has 1 column, and the table 2"}],
            "count": 1,
        },
    ],
}


@pytest.mark.usefixtures("spoiled")
def test_json_is_one_document_that_holds_everything(run: Run) -> None:
    ran = run("check", "train.csv", "--test", "test.csv", "--json")
    assert (ran.code, list(ran.document)) == (2, list(DOCUMENT))
    cut = {**ran.document, "longest": ran.document["longest"][:1], "findings": ran.document["findings"][:1]}
    assert cut == DOCUMENT
    assert [(one["severity"], one["kind"], one["count"]) for one in ran.document["findings"]] == [
        ("error", "bad-row", 1),
        ("error", "label-unknown", 1),
        ("error", "leak", 1),
        ("warning", "repeated", 1),
        ("warning", "misread", 1),
    ]


@pytest.mark.usefixtures("spoiled")
def test_json_of_a_recipe_with_a_tokenizer_says_what_it_costs(run: Run, encoder: Path) -> None:
    recipe = f'[data]\ntrain = "train.csv"\nskip_bad = true\n[tokenizer]\nfrom = "{encoder}"\n[batch]\ntokens = 32\n'
    Path("job.toml").write_text(recipe, "utf-8")
    document = run("check", "job.toml", "--limit", 8, "--json").document
    assert (document["unit"], document["epoch"]["batches"]) == ("tokens", 2)
    assert list(document["epoch"]) == ["tokens", "batches", "fill"]
    (side,) = document["vocabulary"]
    assert list(side) == ["side", "tokens", "unknown", "vocabulary", "used"]
    assert (side["side"], side["vocabulary"]) == ("text", 10)
    assert [one["kind"] for one in document["findings"] if one["severity"] == "warning"] == [
        *("bad-row", "repeated", "misread", "cut", "unknown"),
    ]


@pytest.mark.usefixtures("spoiled")
def test_the_page_of_a_recipe_with_a_tokenizer_says_what_it_costs(run: Run, encoder: Path) -> None:
    Path("job.toml").write_text('[data]\ntrain = "train.csv"\n', "utf-8")
    out = run("check", "job.toml", "--tokenizer", encoder, "--limit", 8, "--set", "batch.tokens=32").out
    assert "\nside  tokens  unknown  vocabulary  ever used\n" in out
    assert "\nReading train once is 48 tokens in 2 batches of 32, 75.0% full.\n" in out


@pytest.mark.usefixtures("spoiled")
def test_a_tokenizer_that_is_yet_to_be_trained_is_said_to_be(run: Run) -> None:
    Path("job.toml").write_text('[data]\ntrain = "train.csv"\n[tokenizer]\nkind = "bpe"\nsize = 100\n', "utf-8")
    ran = run("check", "job.toml")
    assert "\nThe tokenizer is yet to be trained, so words are counted.\n" in ran.out


@pytest.mark.usefixtures("spoiled")
def test_warnings_alone_do_not_stop_and_nothing_is_told_where_nothing_is_wrong(run: Run) -> None:
    assert run("check", "train.csv", "--skip-bad").code == 0
    Path("train.csv").write_text("text,label\nThe river.,wet\nThe money.,dry\nA bank.,dry\nAn end.,wet\n", "utf-8")
    ran = run("check", "train.csv")
    assert ran.code == 0
    assert ran.out.endswith("\nNothing was found.\n")


@pytest.mark.usefixtures("spoiled")
def test_as_many_places_are_told_as_are_asked_for(run: Run) -> None:
    rows = "The river flooded the bank at noon.,wet\n" * 30
    Path("train.csv").write_text(f"text,label\nSo it was.,dry\n{rows}", "utf-8")
    ran = run("check", "train.csv", "--json", "--places", 4)
    repeated = next(one for one in ran.document["findings"] if one["kind"] == "repeated")
    assert (repeated["count"], len(repeated["places"])) == (29, 4)
    assert "  and 26 more\n" in run("check", "train.csv").out


@pytest.mark.usefixtures("spoiled")
def test_the_flags_say_what_a_recipe_says(run: Run) -> None:
    Path("said.tsv").write_text("review\tstars\nGood.\t5\nBad.\t1\nFine.\t5\nPoor.\t1\n", "utf-8")
    recipe = '[data]\ntrain = "said.tsv"\ncolumns = { text = "review", label = "stars" }\n'
    Path("job.toml").write_text(recipe, "utf-8")
    flags = run("check", "said.tsv", "--columns", "text=review,label=stars", "--json").document
    assert flags == run("check", "job.toml", "--json").document
    assert [one["name"] for one in flags["classes"]] == ["1", "5"]


@pytest.mark.usefixtures("spoiled")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none.csv"], "none.csv: there is no such file or folder"),
        (["none.toml"], "none.toml: No such file or directory"),
        (["job.toml", "train.csv"], "job.toml: is a recipe, and says itself what is read; name it alone"),
        (["train.csv", "--columns", "text"],
         "--columns text: must say which part is which column, such as text=review,label=stars"),
        (["train.csv", "--columns", "txt=a"], "data.columns.txt: there is no such field; did you mean 'text'?"),
        (["train.csv", "--limit", "0"],
         "text.limit: must be a whole number from 1 to 2,147,483,647 or none, not 0"),
        (["train.csv", "--set", "data.pre=line"], "data.pre: there is no such field; did you mean 'per'?"),
        (["train.csv", "--tokenizer", "none"], "none: there is no such folder, and no such tokenizer.json"),
    ],
)  # fmt: skip
def test_what_cannot_be_checked_at_all_is_one_line(run: Run, arguments: list[str], says: str) -> None:
    ran = run("check", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert " ".join(ran.err.split()) == f"bough: {says}"


@pytest.mark.usefixtures("spoiled")
def test_stdin_is_read_like_a_file() -> None:
    ran = in_a_process("check", "-", "--format", "csv", "--json", input=TRAIN)
    assert ran.returncode == 2
    assert json.loads(ran.stdout)["findings"][0]["places"][0]["place"] == "stdin:6"


@pytest.mark.usefixtures("spoiled")
def test_files_of_one_folder_are_named_inside_it_on_the_page_and_whole_for_programs(run: Run, tmp_path: Path) -> None:
    assert "  train.csv:6  the row" in run("check", tmp_path / "train.csv").out
    document = run("check", tmp_path / "train.csv", "--json").document
    assert document["findings"][0]["places"][0]["place"] == f"{tmp_path}/train.csv:6"
