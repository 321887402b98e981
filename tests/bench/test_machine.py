"""The limits are rates of work that was done, and grow with nothing but speed."""

from __future__ import annotations

import pytest

from bough.bench import machine
from bough.bench.machine import measured_limits


def test_limits_are_work_over_the_best_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "best", lambda run, tries: (run(), 0.5)[1])
    limits = measured_limits("cpu", (10, 1000), tries=1)
    assert limits.fp32 == limits.bf16 == pytest.approx(2 * 10**3 / 0.5 / 1e9)
    assert limits.memory == pytest.approx(2 * 4000 / 0.5 / 1e9)  # read and written, four bytes each


def test_the_best_of_some_tries_follows_a_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.1, 3.0, 2.0, 4.0])
    monkeypatch.setattr(machine, "timed", lambda run: next(seconds))
    assert machine.best(lambda: None, 3) == 2.0
