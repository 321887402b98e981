"""The limits are rates of work that was done, and grow with nothing but speed; a peak is to the byte."""

from __future__ import annotations

import pytest
import torch

from bough import BoughError
from bough.bench import machine
from bough.bench.machine import check, measured_limits, peak


def test_limits_are_work_over_the_best_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "best", lambda run, tries: (run(), 0.5)[1])
    limits = measured_limits("cpu", (10, 1000), tries=1)
    assert limits.fp32 == limits.bf16 == pytest.approx(2 * 10**3 / 0.5 / 1e9)
    assert limits.memory == pytest.approx(2 * 4000 / 0.5 / 1e9)  # read and written, four bytes each


def test_the_best_of_some_tries_follows_a_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.1, 3.0, 2.0, 4.0])
    monkeypatch.setattr(machine, "timed", lambda run: next(seconds))
    assert machine.best(lambda: None, 3) == 2.0


def test_a_peak_is_what_was_held_at_once() -> None:
    size = 2**20  # numbers of four bytes each
    assert peak(lambda: torch.ones(size)) == 4 * size
    assert peak(lambda: [torch.ones(size) for _ in range(3)]) == 12 * size
    assert peak(lambda: [torch.ones(size).numel() for _ in range(3)]) == 4 * size
    assert peak(lambda: None) == 0


def test_a_peak_counts_nothing_that_was_there_before() -> None:
    before = torch.ones(2**20)
    assert peak(before.zero_) == 0
    assert peak(before.neg) == before.nbytes


def test_a_peak_is_measured_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    peak(lambda: torch.ones(1))
    assert capfd.readouterr() == ("", "")


def test_a_device_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    check("cpu")
    check("cuda")
    check("cuda:0")
    with pytest.raises(BoughError, match=r"^device: torch finds no 'cuda:1' here; there are 1 GPUs"):
        check("cuda:1")
