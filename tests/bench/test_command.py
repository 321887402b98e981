"""The verb: what it prints, keeps and draws, and what it refuses before any time is spent."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import opener, runner, task, vectors

from bough.bench import Document, engine
from bough.bench.document import Limits
from bough.bench.encode import encode
from bough.bench.show import markdown
from bough.bench.work import Case, Effort, Task
from bough.cli import main

ONE = vectors([1.0, 2.0])


@pytest.fixture(autouse=True)
def works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two works that cost nothing, and limits that were measured before."""
    monkeypatch.setattr(engine, "measured_limits", lambda device: Limits(1.0, 2.0, 3.0))
    monkeypatch.setattr("bough.bench.WORKS", {name: opener(made_up) for name in ("sum", "product")})
    monkeypatch.setattr("bough.bench.OWN", ("product",))


def made_up() -> Task:
    return task(Case("plain", runner("bough", ONE), (runner("peer", ONE),)))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["bench", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.strip()


def test_bare_it_does_every_work_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--repeats", "1", "--json"]) == 0
    found = Document.from_json(capsys.readouterr().out)
    assert [one.work for one in found.works] == ["sum", "product"]
    assert [one.repeats for one in found.works] == [1, 1]


def test_a_work_is_done_alone_and_printed_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "product"]) == 0
    shown = capsys.readouterr().out
    assert "product  adding up" in shown
    assert "sum  adding up" not in shown
    assert "The median of 5 rounds" in shown


def test_quick_does_less_and_a_number_that_is_said_holds(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    efforts: list[tuple[Effort, int]] = []

    def bench(chosen: object, effort: Effort, repeats: int, tell: object) -> Document:
        efforts.append((effort, repeats))
        return document

    monkeypatch.setattr("bough.bench.bench", bench)
    for arguments in ([], ["--quick"], ["--quick", "--sequences", "7", "--repeats", "9", "--preset", "gpt2-tiny"]):
        assert main(["bench", *arguments]) == 0
    assert [(effort.sequences, repeats) for effort, repeats in efforts] == [(256, 5), (128, 2), (7, 9)]
    assert [effort.spec and effort.spec.family for effort, _ in efforts] == [None, None, "gpt2"]
    assert [effort.quick for effort, _ in efforts] == [False, True, True]


@pytest.mark.parametrize("kind", ["document", "followed"])
def test_what_was_kept_is_shown_again_without_measuring(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, kept = request.getfixturevalue(kind), tmp_path / "kept.json"
    kept.write_text(document.to_json())
    assert main(["bench", "--from", str(kept), "--markdown", "--plot", str(tmp_path / "plot.png")]) == 0
    assert capsys.readouterr().out == markdown(document)
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_out_keeps_the_document_that_json_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept.json"
    assert main(["bench", "sum", "--json", "--out", str(kept)]) == 0
    assert kept.read_text() == capsys.readouterr().out


def test_an_unknown_work_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "produkt") == (
        "bough: there is no work 'produkt'; did you mean 'product'?; there are sum, product"
    )


def test_a_preset_that_is_not_there_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'bert-base'?" in refused(capsys, "--preset", "bert-bas")


def test_a_device_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    monkeypatch.setattr("bough.bench.WORKS", {"encode": encode})
    said = "bough: device: torch finds no 'cuda' here; there are 0 GPUs"
    assert refused(capsys, "--device", "gpu") == "bough: --device: must be cpu, cuda or such as cuda:1, not 'gpu'"
    assert refused(capsys, "--device", "cuda", "--preset", "bert-tiny", "--sequences", "1") == said


def test_options_that_contradict_each_other_are_refused(document: Document, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "--json", "--markdown") == (
        "bough: --markdown and --json: only one of them can be printed; leave one out"
    )
    assert refused(capsys, "sum", "--from", "kept.json") == (
        "bough: --from shows what was measured before; leave out what says how to measure"
    )


def test_a_work_whose_sizes_are_its_own_takes_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    said = "bough: --sequences and --preset: product has sequences and an architecture of its own; leave them out"
    assert refused(capsys, "product", "--sequences", "3") == said
    assert refused(capsys, "product", "--preset", "bert-tiny") == said
    assert main(["bench", "--repeats", "1", "--sequences", "3"]) == 0  # for those that take it


def test_files_that_cannot_be_written_are_refused_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(*given: object) -> Document:
        raise AssertionError("measured for nothing")

    monkeypatch.setattr("bough.bench.bench", measured)
    nowhere = tmp_path / "nowhere"
    for option in ("--out", "--plot"):
        said = f"bough: {option}: there is no folder {nowhere}; make it first"
        assert refused(capsys, option, str(nowhere / "file")) == said
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    said = "bough: a plot needs matplotlib; install it with: pip install 'bough[plots]'"
    assert refused(capsys, "--plot", str(tmp_path / "plot.png")) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "Document: this is not JSON (Expecting value: line 1 column 1 (char 0))"),
        ('{"bough": "0.1.0"}', "machine: is missing"),
        ('{"kind": "Spec"}', "kind: must be one of Document, not 'Spec'"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(content)
    assert refused(capsys, "--from", str(kept)) == (
        f"bough: --from {kept}: is not what `bough bench --out` writes; {said}"
    )


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "--from", str(tmp_path / "none.json")).startswith(
        f"bough: --from {tmp_path}/none.json: cannot be read"
    )


def test_the_verb_is_there_without_torch() -> None:
    look = "import sys, bough.cli.bench; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0
