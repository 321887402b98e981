"""`bough data`: which samples there are, and fetching them."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Run

from bough.data.samples import named


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and samples that are made at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(named, "_made", lambda kind, variant: {"train.tsv": b"one\n", "README.md": b""})
    return tmp_path / "bough" / "data"


def test_the_samples_are_listed_with_size_and_licence_and_those_that_were_fetched(run: Run) -> None:
    before = run("data", "list")
    assert before.code == 0
    for said in (
        "reviews",
        "pydocs",
        "gettext:LANG",
        "10,207 rows, 1.3 MB; licence: MIT",
        "PSF-2.0",
        "bough data get NAME",
    ):
        assert said in before.out
    assert "fetched:" not in before.out
    run("data", "get", "gettext:es")
    run("data", "get", "gettext:de_AT")
    assert "fetched: gettext-de_AT, gettext-es" in run("data", "list").out


def test_the_list_is_there_as_json(run: Run, room: Path) -> None:
    run("data", "get", "pydocs")
    found = run("data", "list", "--json").document
    assert [one["name"] for one in found] == ["reviews", "pydocs", "gettext:LANG"]
    assert found[1] == {
        "name": "pydocs",
        "what": "the documentation that this Python carries, as documents",
        "size": "700 documents, 2.6 MB",
        "licence": "PSF-2.0",
        "train": "train.txt",
        "fetched": [f"{room}/pydocs"],
    }


def test_getting_a_sample_prints_the_folder_that_holds_it(run: Run, room: Path) -> None:
    for _ in range(2):
        done = run("data", "get", "reviews")
        assert (done.code, done.out, done.err) == (0, f"{room}/reviews\n", "")
    assert run("data", "get", "reviews", "--json").document == {
        "name": "reviews",
        "folder": f"{room}/reviews",
        "files": ["README.md", "SHA256SUMS", "train.tsv"],
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("data", "Missing command. See `bough data --help`."),
        ("data lst", "No such command 'lst'. Did you mean 'list'? See `bough data --help`."),
        ("data get", "Missing argument 'NAME'. See `bough data get --help`."),
        ("data get review", "there is no sample 'review'; did you mean 'reviews'?; `bough data list` names them"),
        ("data get gettext", "gettext: say a language, such as gettext:es"),
    ],
)
def test_a_mistake_is_one_line_and_code_two(run: Run, line: str, message: str) -> None:
    done = run(*line.split())
    assert (done.code, done.out, done.err) == (2, "", f"bough: {message}\n")


def test_a_sample_that_has_changed_is_code_three(run: Run, room: Path) -> None:
    run("data", "get", "reviews")
    (room / "reviews" / "train.tsv").write_text("two\n")
    done = run("data", "get", "reviews")
    assert (done.code, done.err) == (
        3,
        f"bough: {room}/reviews/train.tsv: has changed since it was made; remove {room}/reviews and try again\n",
    )
