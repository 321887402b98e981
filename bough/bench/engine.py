"""How works are measured: every tool or way warmed up, its answers compared, then timed in turns, round after round.

Turns are what makes a ratio trustworthy: whatever else slows the machine for a while slows all tools in that round.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch.nn.functional as F

import bough
from bough.bench.document import Agreement, Curves, Document, Line, Missing, Outcome, Point, Ratio, Row
from bough.bench.machine import check, machine, measured_limits, peak, timed
from bough.bench.work import Answers, Case, Effort, Opener, Run, Runner, Sweep, Task, Trial, Way
from bough.errors import BoughError

Tell = Callable[[str], None]


def bench(works: Mapping[str, Opener], effort: Effort, repeats: int, tell: Tell) -> Document:
    """Do each work in every way; `tell` hears what is being done."""
    check(effort.device)
    outcomes: list[Outcome | Curves] = []
    packages = dict.fromkeys(["torch"])
    for name, opened in works.items():
        with opened(effort) as task:
            if isinstance(task, Sweep):
                outcomes.append(follow(name, task, repeats, tell))
                continue
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
        entries, reference = _warmed(case, None if case.alone else reference)
        for turn in range(repeats):
            tell(f"{name} {case.name}: round {turn + 1} of {repeats}")
            for entry in entries:
                entry.seconds.append(timed(entry.run))
        rows += [_row(case, entry, entries[0], task.amount) for entry in entries]
    return Outcome(name, task.says, task.unit, task.amount, repeats, tuple(rows), _missing(task))


def follow(name: str, sweep: Sweep, repeats: int, tell: Tell) -> Curves:
    """All ways of a sweep, at one length after the other."""
    for way in sweep.ways:
        way.at(sweep.lengths[0]).run()  # what a tool sets up once is no cost of the first length
    taken: list[list[_Taken]] = []
    for length in sweep.lengths:
        tell(f"{name} {length:,}: warming up")
        taken.append([_taken(way, length, sweep.memory) for way in sweep.ways])
        for turn in range(repeats):
            tell(f"{name} {length:,}: round {turn + 1} of {repeats}")
            for one in taken[-1]:
                one.seconds.append(timed(one.trial.run))
                one.attention += [one.trial.attention()] if one.trial.attention else []
    lines = tuple(_line(way, [each[n] for each in taken], taken, sweep) for n, way in enumerate(sweep.ways))
    return Curves(name, sweep.says, sweep.along, repeats, lines, sweep.notes)


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


@dataclass
class _Taken:
    """A way made ready at one length, and what was measured of it."""

    length: int
    trial: Trial
    memory: int | None
    agreement: Agreement | None
    seconds: list[float] = field(default_factory=list[float])
    attention: list[float] = field(default_factory=list[float])


def _taken(way: Way, length: int, memory: bool) -> _Taken:
    """A way run once, its memory measured and its answers compared with those it has to give."""
    trial = way.at(length)
    answers: list[Answers] = []
    held = peak(lambda: answers.append(trial.run())) if memory else answers.append(trial.run())
    if not _all_finite(answers[0]):
        raise BoughError(f"{way.name}: its answers hold NaN or infinity, so that its time says nothing")
    return _Taken(length, trial, held, agreement(trial.expected, answers[0]) if trial.expected else None)


def _line(way: Way, own: list[_Taken], taken: list[list[_Taken]], sweep: Sweep) -> Line:
    points = [_point(one, each[0]) for one, each in zip(own, taken, strict=True)]
    near = [one.agreement for one in own if one.agreement]
    worst = Agreement(max(one.error for one in near), min(one.cosine for one in near)) if near else None
    return Line(way.name, tuple(points), sweep.growth(points), worst)


def _point(one: _Taken, first: _Taken) -> Point:
    scale = one.trial.tokens / first.trial.tokens
    rounds = [scale * theirs / own for theirs, own in zip(first.seconds, one.seconds, strict=True)]
    return Point(
        length=one.length,
        tokens=one.trial.tokens,
        seconds=tuple(one.seconds),
        attention=tuple(one.attention),
        pairs=one.trial.pairs,
        memory=one.memory,
        ratio=None if one is first else _ratio(rounds),
    )


def _ratio(rounds: list[float]) -> Ratio:
    return Ratio(statistics.median(rounds), min(rounds), max(rounds))


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
    if not _all_finite(answers):
        raise BoughError(f"{runner.name}: its answers hold NaN or infinity, so that there is nothing to compare")
    return answers


def _all_finite(answers: Answers) -> bool:
    return all(bool(one.isfinite().all()) for one in answers)


def _row(case: Case, entry: _Entry, ours: _Entry, amount: int) -> Row:
    rounds = [theirs / own for theirs, own in zip(entry.seconds, ours.seconds, strict=True)]
    return Row(
        case=case.name,
        runner=entry.runner.name,
        seconds=tuple(entry.seconds),
        speed=amount / statistics.median(entry.seconds),
        ratio=None if entry is ours else _ratio(rounds),
        agreement=entry.agreement,
        note=entry.runner.note,
    )


def _missing(task: Task) -> tuple[Missing, ...]:
    """The peers that were left out, each named once."""
    peers = [peer for case in task.cases for peer in case.peers if not installed(peer.needs)]
    packages = dict.fromkeys(peer.needs for peer in peers)
    return tuple(Missing(one, tuple(dict.fromkeys(p.name for p in peers if p.needs == one))) for one in packages)
