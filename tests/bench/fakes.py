"""A work that costs nothing: runners that answer at once and write down that they ran."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import torch

from bough.bench.work import Answers, Case, Effort, Opener, Runner, Sweep, Task

ABSENT = "a_package_that_nobody_has"


def runner(name: str, answers: Answers, ran: list[str] | None = None, needs: str = "torch") -> Runner:
    """A tool that gives these answers."""

    def run() -> Answers:
        if ran is not None:
            ran.append(name)
        return answers

    return Runner(name, lambda: run, needs, note=f"{name} is made up")


def task(*cases: Case) -> Task:
    return Task("adding up", "sums", 12, cases)


def opener(make: Callable[[], Task | Sweep]) -> Opener:
    @contextmanager
    def opened(effort: Effort) -> Generator[Task | Sweep]:
        yield make()

    return opened


def vectors(*rows: list[float]) -> Answers:
    return [torch.tensor([row]) for row in rows]
