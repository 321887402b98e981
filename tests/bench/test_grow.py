"""How cost grows: the power that times were made with is found, pairs are the masks', and attention is told apart."""

from __future__ import annotations

import sys

import pytest
import torch

from bough.bench import WORKS, Effort
from bough.bench.document import Point
from bough.bench.engine import follow
from bough.bench.grow import LENGTHS, MASKS, QUICK, Masked, Stopwatch, grow, growth, pairs, power, sweep, trunk
from bough.core import build
from bough.core.masks import Halves, Predicate, seeing
from bough.packed import Packed
from bough.spec import Causal, Fixed, Mask, Strided, Window

TINY = trunk().but(width=16, heads=2)
PLAIN: dict[str, Mask] = {"full": Causal(), "near": Window(3), "strided": Strided(4), "heads": Fixed(4, 2, "heads")}
SMALL: dict[str, Masked] = {name: lambda length, mask=mask: mask for name, mask in PLAIN.items()}


def quiet(doing: str) -> None:
    """Hear nothing."""


def point(length: int, whole: float, attention: float) -> Point:
    return Point(length, length, (9 * whole, whole, whole / 9), (9 * attention, attention, 0.1), length * 7, None, None)


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 1.0, 1.5, 2.0])
def test_the_power_that_figures_were_made_with_is_found(exponent: float) -> None:
    assert power([(n, 3e-4 * n**exponent) for n in (16, 100, 1000, 1024)]) == pytest.approx(exponent)


def test_a_power_is_that_of_the_nearest_line() -> None:
    up_and_down = [(1, 1.0), (2, 4.0), (4, 8.0), (8, 32.0)]  # in logarithms to base 2: 0, 2, 3, 5 over 0, 1, 2, 3
    assert power(up_and_down) == pytest.approx(1.6)


def test_growth_is_of_median_times_over_all_lengths_and_over_the_longer_half() -> None:
    points = [point(n, whole=n**1.5, attention=n if n < 300 else n**2 / 300) for n in (100, 200, 400, 800)]
    found = growth(points)
    assert [(one.of, one.low, one.high) for one in found] == [
        (of, low, 800) for low in (100, 400) for of in ("attention", "whole", "pairs seen")
    ]
    assert [one.power for one in found[1:]] == pytest.approx([1.5, 1.0, 2.0, 1.5, 1.0])
    assert 1 < found[0].power < 2


def test_one_length_does_not_grow() -> None:
    assert growth([point(100, 1.0, 1.0)]) == ()


@pytest.mark.parametrize("mask", [*PLAIN.values(), Strided(5, "heads"), Fixed(4, 1)], ids=str)
@pytest.mark.parametrize("length", [1, 3, 29])
def test_pairs_are_those_that_a_mask_lets_see(mask: Mask, length: int) -> None:
    def seen(part: Predicate) -> int:
        at = torch.arange(length)
        return int(part(at[:, None], at).sum())

    one = seeing(mask, 0)
    whole = (seen(one.first) + seen(one.second)) // 2 if isinstance(one, Halves) else seen(one)
    assert pairs(one, length) == whole


def test_every_mask_is_followed_over_the_same_lengths() -> None:
    curves = follow("grow", sweep(TINY, (16, 24), SMALL), 2, quiet)
    assert [line.way for line in curves.lines] == list(SMALL)
    assert curves.lengths == (16, 24)
    for line in curves.lines:
        assert line.agreement is None
        assert [one.of for one in line.growth[:3]] == ["attention", "whole", "pairs seen"]
        for one in line.points:
            assert one.tokens == one.length
            assert len(one.seconds) == len(one.attention) == 2
            assert all(0 < part < whole for part, whole in zip(one.attention, one.seconds, strict=True))
            assert one.memory
            assert one.memory > one.length * TINY.width * 4
            assert (one.ratio is None) == (line.way == "full")
    assert curves.lines[0].points[1].pairs == 24 * 25 // 2


@pytest.mark.parametrize("mask", PLAIN.values(), ids=str)
def test_a_stopwatch_changes_no_answer_and_counts_every_layer(mask: Mask) -> None:
    net = build(TINY.but(**{"attention.mask": mask})).eval()
    batch, watch = Packed.of([range(21)]), Stopwatch()
    torch.testing.assert_close(net(batch, watch), net(batch), rtol=0, atol=0)
    assert watch.seconds > 0


def test_attention_is_the_plan_and_every_use_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def timed(run: object) -> float:
        assert callable(run)
        seen.append("plan" if not seen else "use")
        run()
        return 1.0

    monkeypatch.setattr(sys.modules["bough.bench.grow"], "timed", timed)  # its name is the work's
    watch = Stopwatch()
    build(TINY.but(depth=3)).eval()(Packed.of([range(9)]), watch)
    assert (seen, watch.seconds) == (["plan", "use", "use", "use"], 4.0)


def test_the_work_is_the_promised_one_and_quick_is_shorter() -> None:
    assert WORKS["grow"] is grow
    with grow(Effort()) as whole, grow(Effort(quick=True)) as short:
        assert (whole.lengths, short.lengths) == (LENGTHS, QUICK)
        assert len(QUICK) < len(LENGTHS)
        assert [way.name for way in whole.ways] == list(MASKS)
        assert next(iter(MASKS.values()))(512) == Causal()
        assert (
            whole.says
            == "one sequence read by 2 layers of width 256 with 4 heads, by what its tokens see of those before"
        )
    assert trunk().limit is None  # no length is too long for it
