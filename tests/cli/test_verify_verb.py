"""`bough verify`: the checks as a table, and a code that tells whether they passed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from running import Run

import bough.verify
from bough.verify import Check

FAILED = [Check("order changes nothing", math.nan, 1e-5, passed=False), Check("parity", None, 2e-5, None, "skipped")]


def test_a_sound_model_passes_and_every_figure_is_shown(run: Run, encoder: Path) -> None:
    done = run("verify", encoder)
    assert done.code == 0, done.out + done.err
    assert "FAIL" not in done.out
    assert "7 of 7 checks passed." in done.out


def test_json_has_each_check_with_its_figure_and_tolerance(run: Run, encoder: Path) -> None:
    report = run("verify", encoder, "--json").document
    assert report["passed"] is True
    assert {one["name"] for one in report["checks"]} >= {
        "batch = single",
        "save = load",
        "hidden states = transformers",
    }
    assert all(one["figure"] <= one["tolerance"] for one in report["checks"])


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_check_that_fails_is_code_three(
    run: Run, encoder: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(bough.verify, "verify", lambda *given, **settings: FAILED)
    done = run("verify", encoder, *options)
    assert (done.code, done.err) == (3, "")
    if options:
        assert [(one["figure"], one["passed"]) for one in done.document["checks"]] == [(None, False), (None, None)]
    else:
        assert "FAIL" in done.out
        assert "0 of 1 checks passed." in done.out
