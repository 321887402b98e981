"""Records: data that checks itself, changes by path, says what differs, and survives JSON."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass
from typing import Annotated, Any, Literal

import pytest
from jaxtyping import config

from bough.errors import BoughError, FieldError
from bough.record import MISSING, Range, Record, brief, changed, get, nearest, show


@dataclass(frozen=True)
class Round(Record):
    """A wheel."""

    spokes: Annotated[int, Range(1, 64)] = 8


@dataclass(frozen=True)
class Runner(Record):
    """A sledge's."""

    length: float = 1.5


@dataclass(frozen=True)
class Cart(Record):
    """One field of each kind."""

    owner: str
    seats: int = 2
    price: float = 10.0
    share: Annotated[float, Range(0, 1)] = 0.5
    covered: bool = False
    colour: Literal["red", "green"] = "red"
    loads: tuple[Annotated[int, Range(0, 9)], ...] = ()
    moves: Round | Runner | None = Round()
    spare: Round | None = None


@pytest.fixture(autouse=True)
def as_for_users() -> Iterator[None]:
    """Without the check of annotations, which would complain of a wrong type before the record does."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


CART = Cart("Ann", loads=(1, 2), spare=Round(12))
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"owner": 5}, "owner: must be text, not 5"),
    ({"seats": 2.0}, "seats: must be a whole number, not 2.0"),
    ({"seats": True}, "seats: must be a whole number, not True"),
    ({"seats": None}, "seats: must be a whole number, not None"),
    ({"price": "cheap"}, "price: must be a finite number, not 'cheap'"),
    ({"price": float("nan")}, "price: must be a finite number, not nan"),
    ({"price": float("-inf")}, "price: must be a finite number, not -inf"),
    ({"price": True}, "price: must be a finite number, not True"),
    ({"share": 1.1}, "share: must be a finite number from 0 to 1, not 1.1"),
    ({"covered": 1}, "covered: must be true or false, not 1"),
    ({"colour": "blue"}, "colour: must be one of 'red', 'green', not 'blue'"),
    ({"colour": ["red"]}, "colour: must be one of 'red', 'green', not ['red']"),
    ({"loads": 5}, "loads: must be a list of which each item is a whole number from 0 to 9, not 5"),
    ({"loads": (1, 10)}, "loads[1]: must be a whole number from 0 to 9, not 10"),
    ({"moves": "wheel"}, "moves: must be Round or Runner or none, not 'wheel'"),
    ({"moves.spokes": 0}, "moves.spokes: must be a whole number from 1 to 64, not 0"),
    ({"moves.spoke": 5}, "moves.spoke: there is no such field; did you mean 'spokes'?"),
    ({"moves.wings": 5}, "moves.wings: there is no such field"),
    ({"owner.name": 5}, "owner.name: there is no such field: owner is 'Ann'"),
    ({"wings": 5}, "wings: there is no such field"),
    ({"owners": 5}, "owners: there is no such field; did you mean 'owner'?"),
    ({"seats": "x" * 1000}, f"seats: must be a whole number, not '{'x' * 27}...{'x' * 28}'"),
]


@pytest.mark.parametrize(("changes", "said"), WRONG, ids=[next(iter(one)) + str(i) for i, (one, _) in enumerate(WRONG)])
def test_a_wrong_value_is_an_error_that_names_its_place(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(FieldError) as error:
        CART.but(**changes)
    assert str(error.value) == said
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("", "Cart: this is not JSON (Expecting value: line 1 column 1 (char 0))"),
        ("5", "Cart: must be a JSON object, not 5"),
        ("[]", "Cart: must be a JSON object, not []"),
        ("{}", "owner: is missing"),
        ('{"owner": "Ann", "kind": "Boat"}', "kind: must be one of Cart, not 'Boat'"),
        ('{"owner": "Ann", "kind": []}', "kind: must be one of Cart, not []"),
        ('{"owner": "Ann", "moves": {"kind": "Wing"}}', "moves: must be one of Round, Runner, not 'Wing'"),
        ('{"owner": "Ann", "moves": {"spoke": 5}}', "moves.spoke: there is no such field; did you mean 'spokes'?"),
        ('{"owner": "Ann", "moves": {"spokes": "x"}}', "moves.spokes: must be a whole number from 1 to 64, not 'x'"),
        ('{"owner": "Ann", "loads": [1, 2, "x"]}', "loads[2]: must be a whole number from 0 to 9, not 'x'"),
        ('{"owner": "Ann", "price": NaN}', "price: must be a finite number, not nan"),
        ('{"owner": "A", "price": ' + "9" * 400 + "}", f"price: must be a finite number, not {'9' * 18}...{'9' * 19}"),
        ('{"owner": {"a": {"b": {"c": 1}}}}', "owner: must be text, not {'a': {'b': {'c': 1}}}"),
    ],
)  # fmt: skip
def test_json_that_is_no_such_record_is_an_error_that_names_the_place(data: str, said: str) -> None:
    with pytest.raises(BoughError) as error:
        Cart.from_json(data)
    assert str(error.value) == said


def test_json_nested_without_end_is_no_json() -> None:
    with pytest.raises(BoughError, match=r"^Cart: this is not JSON \(maximum recursion depth exceeded"):
        Cart.from_json("[" * 10**5)


def test_a_record_survives_json() -> None:
    for cart in (CART, Cart("B"), CART.but(moves=Runner(2)), CART.but(moves=None)):
        assert Cart.from_json(cart.to_json()) == cart


def test_json_keeps_the_order_of_the_fields_and_names_each_variant() -> None:
    data = json.loads(CART.to_json())
    assert list(data) == ["kind", *Cart.__dataclass_fields__]
    assert data["moves"] == {"kind": "Round", "spokes": 8}
    assert data["loads"] == [1, 2]


def test_json_may_leave_out_what_has_a_default_and_the_first_kind() -> None:
    assert Cart.from_json('{"owner": "Ann", "moves": {"spokes": 5}}') == Cart("Ann", moves=Round(5))


def test_changes_reach_inside_and_are_checked_once_as_a_whole() -> None:
    cart = CART.but(**{"moves": Runner(), "moves.length": 3, "seats": 4})
    assert (cart.moves, cart.seats, CART.seats) == (Runner(3.0), 4, 2)


def test_one_number_has_one_spelling() -> None:
    assert Cart("Ann", price=10) == Cart("Ann", price=10.0)
    assert Cart("Ann", price=10).to_json() == Cart("Ann", price=10.0).to_json()
    assert Cart("Ann", loads=[1, 2]) == Cart("Ann", loads=(1, 2))  # type: ignore[arg-type]


def test_records_are_frozen_hashable_and_travel_between_processes() -> None:
    with pytest.raises(FrozenInstanceError):
        CART.seats = 3  # type: ignore[misc]
    assert len({CART, CART.but(), CART.but(seats=3)}) == 2
    assert pickle.loads(pickle.dumps(CART)) == CART


def test_get_gives_what_is_at_a_path_and_says_where_there_is_nothing() -> None:
    assert get(CART, "moves.spokes") == 8
    assert get(CART, "spare") == Round(12)
    for path in ("wings", "moves.length", "moves.spokes.width", "owner.name", "", "moves."):
        assert get(CART, path) is MISSING


def test_a_difference_is_a_path_and_two_values() -> None:
    other = changed(CART, {"owner": "Bo", "spare.spokes": 20, "moves": Runner()})
    found = CART.diff(other)
    assert [(one.path, one.ours, one.theirs) for one in found] == [
        ("owner", "Ann", "Bo"),
        ("moves", Round(8), Runner(1.5)),
        ("spare.spokes", 12, 20),
    ]
    assert CART.diff(CART) == []


def test_values_are_shown_in_a_few_characters() -> None:
    assert [show(value) for value in (None, 0.1, 1e-12, True, "red", Round(), CART.loads)] == [
        "none", "0.1", "1e-12", "True", "red", "Round(spokes=8)", "(1, 2)",
    ]  # fmt: skip
    assert show(tuple(range(6))) == "(0, 1, 2, 3, 4, 5)"
    assert show((0.5, *range(999))) == "(0.5, 0, 1, 2 … 998; 1000 in all)"


def test_a_foreign_value_is_cut_to_a_lines_part_however_long_or_deep() -> None:
    deep: Any = 0
    for _ in range(10**5):
        deep = [deep]
    assert brief(deep) == "[[[[[[[...]]]]]]]"
    assert len(brief(["x" * 50] * 10**6)) == 60
    assert brief("short") == "'short'"
    while deep:
        (deep,) = deep


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    assert nearest("widht", ["width", "depth"]) == "; did you mean 'width'?"
    assert nearest("zzz", ["width", "depth"]) == ""


@dataclass(frozen=True)
class Task(Record):
    """A record that says itself of what kind it is."""

    kind: Literal["carry", "drag"]
    loads: str | tuple[str, ...] = ()


@dataclass(frozen=True)
class Job(Record):
    """One that holds it."""

    task: Task | None = None


def test_a_record_with_a_kind_of_its_own_keeps_it() -> None:
    job = Job.from_plain({"task": {"kind": "drag", "loads": ["hay", "wood"]}})
    assert job == Job(Task("drag", ("hay", "wood")))
    assert Job.from_json(job.to_json()) == job
    assert Job.from_plain({"task": {"kind": "drag", "loads": "hay"}}) == Job(Task("drag", "hay"))
    with pytest.raises(FieldError, match=r"^task\.kind: must be one of 'carry', 'drag', not 'push'$"):
        Job.from_plain({"task": {"kind": "push"}})
