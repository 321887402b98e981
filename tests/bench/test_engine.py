"""Tools take turns on equal terms, what they answer is compared, and who is not there is named."""

from __future__ import annotations

import pytest
from fakes import ABSENT, opener, runner, task, vectors

from bough import BoughError
from bough.bench import Effort, bench, engine
from bough.bench.document import Growth, Limits, Missing, Point
from bough.bench.engine import agreement, follow, measure
from bough.bench.work import Answers, Case, Sweep, Trial, Way

ONE = vectors([1.0, 2.0], [3.0, 4.0])


def quiet(doing: str) -> None:
    """Hear nothing."""


def test_tools_are_warmed_up_once_and_then_take_turns() -> None:
    ran: list[str] = []
    case = Case("plain", runner("ours", ONE, ran), (runner("slow", ONE, ran), runner("slower", ONE, ran)))
    measure("sum", task(case), 3, quiet)
    assert ran == ["ours", "slow", "slower"] * 4


def test_a_ratio_is_taken_round_by_round(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([1.0, 4.0, 2.0, 4.0, 1.0, 2.5])  # the second round was slow for ours, whatever the reason
    monkeypatch.setattr(engine, "timed", lambda run: next(seconds))
    outcome = measure("sum", task(Case("plain", runner("ours", ONE), (runner("peer", ONE),))), 3, quiet)
    ours, peer = outcome.rows
    assert (ours.seconds, ours.speed, ours.ratio) == ((1.0, 2.0, 1.0), 12.0, None)
    assert (peer.seconds, peer.speed) == ((4.0, 4.0, 2.5), 3.0)
    assert peer.ratio
    assert (peer.ratio.median, peer.ratio.low, peer.ratio.high) == (2.5, 2.0, 4.0)


def test_all_answers_are_compared_with_ours_in_the_first_case() -> None:
    near = vectors([1.0, 2.0], [3.0, 4.5])
    cases = (
        Case("exact", runner("ours", ONE), (runner("peer", ONE),)),
        Case("rough", runner("ours", near), (runner("peer", near),)),
    )
    rows = measure("sum", task(*cases), 1, quiet).rows
    assert [row.agreement and row.agreement.error for row in rows] == [None, 0.0, 0.5, 0.5]


def test_agreement_tells_the_worst_number_and_the_worst_vector() -> None:
    near = agreement(vectors([1.0, 0.0], [1.0, 0.0]), vectors([1.0, 0.0], [3.0, 4.0]))
    assert near.error == 4.0
    assert near.cosine == pytest.approx(0.6)
    assert not near.same
    assert agreement(ONE, ONE).same


def test_answers_of_another_number_or_shape_are_not_compared() -> None:
    with pytest.raises(ValueError, match="shorter"):
        agreement(ONE, ONE[:1])
    with pytest.raises(AssertionError):
        agreement(ONE, vectors([1.0], [2.0]))


def test_answers_without_numbers_end_the_run() -> None:
    case = Case("plain", runner("ours", ONE), (runner("peer", vectors([1.0, float("nan")], [1.0, 1.0])),))
    with pytest.raises(BoughError, match=r"^peer: its answers hold NaN or infinity"):
        measure("sum", task(case), 1, quiet)


def test_a_peer_that_is_not_installed_is_named_and_left_out() -> None:
    absent = (runner("absent, a", ONE, needs=ABSENT), runner("absent, b", ONE, needs=ABSENT))
    cases = [Case(name, runner("ours", ONE), (*absent, runner("peer", ONE))) for name in ("one", "two")]
    outcome = measure("sum", task(*cases), 1, quiet)
    assert [row.runner for row in outcome.rows] == ["ours", "peer"] * 2
    assert outcome.missing == (Missing(ABSENT, ("absent, a", "absent, b")),)


def test_a_document_names_the_machine_its_limits_and_who_took_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "measured_limits", lambda device: Limits(1.0, 2.0, 3.0))
    case = Case("plain", runner("ours", ONE), (runner("peer", ONE, needs="numpy"), runner("none", ONE, needs=ABSENT)))
    heard: list[str] = []
    found = bench({"sum": opener(lambda: task(case))}, Effort(), 2, heard.append)
    assert [one.package for one in found.machine.versions] == ["python", "torch", "numpy"]
    assert found.machine.limits == Limits(1.0, 2.0, 3.0)
    assert found.machine.threads <= found.machine.cores
    assert heard == ["sum plain: warming up", *(f"sum plain: round {n} of 2" for n in (1, 2)), "the machine's limits"]
    assert type(found).from_json(found.to_json()) == found


# What is followed over lengths


def way(name: str, ran: list[tuple[str, int]], tokens: int = 0, answers: Answers = ONE) -> Way:
    """Something done at any length, that writes down where it ran; it takes a second of attention."""

    def at(length: int) -> Trial:
        def run() -> Answers:
            ran.append((name, length))
            return answers

        return Trial(tokens or length, run, lambda: 1.0, 7, vectors([1.0, 2.0], [3.0, 4.0 - length / 100]))

    return Way(name, at)


def test_ways_take_turns_at_one_length_after_the_other() -> None:
    ran: list[tuple[str, int]] = []
    heard: list[str] = []
    follow("sum", Sweep("adding", "sums", (4, 9), (way("one", ran), way("other", ran))), 2, heard.append)
    both_at = {length: [("one", length), ("other", length)] for length in (4, 9)}
    assert ran == both_at[4] + 3 * both_at[4] + 3 * both_at[9]  # set up, then warmed up and timed twice
    assert heard[3:] == ["sum 9: warming up", "sum 9: round 1 of 2", "sum 9: round 2 of 2"]


def test_a_way_is_measured_by_the_token_against_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([8.0, 4.0, 8.0, 1.0, 8.0, 2.0])
    monkeypatch.setattr(engine, "timed", lambda run: next(seconds))
    ways = (way("slow", [], tokens=2), way("fast", [], tokens=10))
    slow, fast = follow("sum", Sweep("adding", "sums", (4,), ways, ("Made up.",)), 3, quiet).lines
    assert (slow.points[0].seconds, slow.points[0].speed, slow.points[0].ratio) == ((8.0,) * 3, 0.25, None)
    found = fast.points[0]
    assert (found.length, found.tokens, found.pairs, found.memory) == (4, 10, 7, None)
    assert (found.seconds, found.attention, found.speed) == ((4.0, 1.0, 2.0), (1.0,) * 3, 5.0)
    assert found.ratio
    assert (found.ratio.median, found.ratio.low, found.ratio.high) == (20.0, 10.0, 40.0)


def test_what_is_told_of_a_line_is_its_growth_its_memory_and_its_worst_answer() -> None:
    def growth(points: object) -> tuple[Growth, ...]:
        assert isinstance(points, list)
        return (Growth("all", 1, 2, sum(point.length for point in points if isinstance(point, Point))),)

    curves = follow("sum", Sweep("adding", "sums", (20, 10), (way("one", []),), ("Odd.",), True, growth), 1, quiet)
    (line,) = curves.lines
    assert (curves.notes, curves.along, curves.says) == (("Odd.",), "sums", "adding")
    assert line.growth == (Growth("all", 1, 2, 30.0),)
    assert [point.memory for point in line.points] == [0, 0]
    assert line.agreement
    assert line.agreement.error == pytest.approx(0.2)


def test_a_way_without_numbers_ends_the_run() -> None:
    ways = (way("one", []), way("other", [], answers=vectors([float("inf"), 1.0])))
    with pytest.raises(BoughError, match=r"^other: its answers hold NaN or infinity"):
        follow("sum", Sweep("adding", "sums", (4,), ways), 1, quiet)


def test_works_of_both_kinds_are_in_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "measured_limits", lambda device: Limits(1.0, 2.0, 3.0))
    works = {
        "sum": opener(lambda: task(Case("plain", runner("ours", ONE), ()))),
        "more": opener(lambda: Sweep("adding", "sums", (4, 9), (way("one", []),))),
    }
    found = bench(works, Effort(), 1, quiet)
    assert [type(one).__name__ for one in found.works] == ["Outcome", "Curves"]
    assert type(found).from_json(found.to_json()) == found
