"""How works are measured: every tool warmed up and its answers compared, then timed in turns, round after round.

Turns are what makes a ratio trustworthy: whatever else slows the machine for a while slows all tools in that round.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch.nn.functional as F

import bough
from bough.bench.document import Agreement, Document, Missing, Outcome, Ratio, Row
from bough.bench.machine import machine, measured_limits, timed
from bough.bench.work import Answers, Case, Effort, Opener, Run, Runner, Task
from bough.errors import BoughError

Tell = Callable[[str], None]


def bench(works: Mapping[str, Opener], effort: Effort, repeats: int, tell: Tell) -> Document:
    """Do each work in every way; `tell` hears what is being done."""
    outcomes: list[Outcome] = []
    packages = dict.fromkeys(["torch"])
    for name, opened in works.items():
        with opened(effort) as task:
            outcomes.append(measure(name, task, repeats, tell))
            peers = [peer.needs for case in task.cases for peer in case.peers]
            packages |= dict.fromkeys(one for one in peers if installed(one))
    tell("the machine's limits")
    return Document(
        bough.__version__, machine(effort.device, packages, measured_limits(effort.device)), tuple(outcomes)
    )


def measure(name: str, task: Task, repeats: int, tell: Tell) -> Outcome:
    """One work: all its cases, one after the other."""
    rows: list[Row] = []
    reference: Answers | None = None
    for case in task.cases:
        tell(f"{name} {case.name}: warming up")
        entries, reference = _warmed(case, reference)
        for turn in range(repeats):
            tell(f"{name} {case.name}: round {turn + 1} of {repeats}")
            for entry in entries:
                entry.seconds.append(timed(entry.run))
        rows += [_row(case, entry, entries[0], task.amount) for entry in entries]
    return Outcome(name, task.says, task.unit, task.amount, repeats, tuple(rows), _missing(task))


def installed(package: str) -> bool:
    """Whether a tool can be measured here."""
    return importlib.util.find_spec(package) is not None


def agreement(ours: Answers, theirs: Answers) -> Agreement:
    """How far the answers of two tools lie apart."""
    error, cosine = 0.0, 1.0
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        a, b = one.double(), other.double()
        error = max(error, (a - b).abs().max().item())
        cosine = min(cosine, F.cosine_similarity(a, b, dim=-1).min().item())
    return Agreement(error, max(cosine, -1.0))


@dataclass
class _Entry:
    """A runner made ready, and what its rounds took."""

    runner: Runner
    run: Run
    agreement: Agreement | None
    seconds: list[float]


def _warmed(case: Case, reference: Answers | None) -> tuple[list[_Entry], Answers]:
    """All of a case that can run here, run once and compared with the reference, which is ours where none is yet."""
    run = case.ours.prepare()
    answers = _finite(run(), case.ours)
    entries = [_Entry(case.ours, run, None if reference is None else agreement(reference, answers), [])]
    reference = answers if reference is None else reference
    for peer in case.peers:
        if installed(peer.needs):
            run = peer.prepare()
            entries.append(_Entry(peer, run, agreement(reference, _finite(run(), peer)), []))
    return entries, reference


def _finite(answers: Answers, runner: Runner) -> Answers:
    if not all(one.isfinite().all() for one in answers):
        raise BoughError(f"{runner.name}: its answers hold NaN or infinity, so that there is nothing to compare")
    return answers


def _row(case: Case, entry: _Entry, ours: _Entry, amount: int) -> Row:
    rounds = [theirs / own for theirs, own in zip(entry.seconds, ours.seconds, strict=True)]
    return Row(
        case=case.name,
        runner=entry.runner.name,
        seconds=tuple(entry.seconds),
        speed=amount / statistics.median(entry.seconds),
        ratio=None if entry is ours else Ratio(statistics.median(rounds), min(rounds), max(rounds)),
        agreement=entry.agreement,
        note=entry.runner.note,
    )


def _missing(task: Task) -> tuple[Missing, ...]:
    """The peers that were left out, each named once."""
    peers = [peer for case in task.cases for peer in case.peers if not installed(peer.needs)]
    packages = dict.fromkeys(peer.needs for peer in peers)
    return tuple(Missing(one, tuple(dict.fromkeys(p.name for p in peers if p.needs == one))) for one in packages)
