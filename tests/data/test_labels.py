"""Labels: named in an order that any run finds again, held to by every row, wrong ones told with their place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bough.data.reading.labels import MOST, Labels
from bough.data.reading.source import Source
from bough.errors import BoughError


@pytest.fixture
def labelled(tmp_path: Path) -> Callable[..., Source]:
    """A source of rows with these labels."""

    def made(*labels: Any, text: str = "two words") -> Source:
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for label in labels))
        return Source((str(path),))

    return made


Make = Callable[..., Source]


def said(call: Callable[[], object], source: Source) -> str:
    """What is complained of, without the name of the folder."""
    with pytest.raises(BoughError) as error:
        call()
    return str(error.value).replace(source.paths[0], "rows.jsonl")


@pytest.mark.parametrize(
    ("given", "names", "counts"),
    [
        (["b", "a", "b"], ("a", "b"), (1, 2)),
        (["10", "9", "-1", "9"], ("-1", "9", "10"), (1, 2, 1)),
        ([10, 9, 1], ("1", "9", "10"), (1, 1, 1)),
        (["1", 1, "one"], ("1", "one"), (2, 1)),
        ([True, False, True], ("false", "true"), (1, 2)),
        (["good", 0.5], ("0.5", "good"), (1, 1)),
    ],
)
def test_names_are_inferred_in_order_and_counted(
    labelled: Make, given: list[Any], names: tuple[str, ...], counts: tuple[int, ...]
) -> None:
    found = Labels.of(labelled(*given))
    assert (found.names, found.kind, found.counts) == (names, "one", counts)


def test_a_row_has_the_number_of_its_name(labelled: Make) -> None:
    source = labelled("b", "a", "c")
    found = Labels.of(source)
    assert [found.number(row) for row in source.rows()] == [1, 0, 2]


@pytest.mark.parametrize("given", [[0.5, 1.5], ["0.5", "3"], [1.0, 2.0], [1, 2.5], ["-1e3", "2"]])
def test_numbers_of_which_one_is_no_whole_one_are_values(labelled: Make, given: list[Any]) -> None:
    source = labelled(*given)
    found = Labels.of(source)
    assert (found.names, found.kind) == ((), "value")
    assert [found.value(row) for row in source.rows()] == [float(one) for one in given]


def test_values_of_which_there_are_many_are_no_names(labelled: Make) -> None:
    assert Labels.of(labelled(*(i / 7 for i in range(1, MOST + 10)))).kind == "value"


def test_a_column_with_too_many_names_is_no_label(labelled: Make) -> None:
    source = labelled(*(f"name {i}" for i in range(MOST + 1)))
    assert said(lambda: Labels.of(source), source) == (
        f"rows.jsonl:{MOST + 1}: more than 10,000 different labels; say which column is the label"
    )


def test_given_names_keep_their_order_and_a_number_may_stand_for_one(labelled: Make) -> None:
    source = labelled("good", 0, "1", "good")
    found = Labels.of(source, names=("good", "bad", "ugly"))
    assert (found.names, found.counts) == (("good", "bad", "ugly"), (3, 1, 0))
    assert [found.number(row) for row in source.rows()] == [0, 0, 1, 0]


def test_names_that_are_numbers_are_no_places(labelled: Make) -> None:
    source = labelled("1", "2")
    assert [Labels.of(source, names=("1", "2")).number(row) for row in source.rows()] == [0, 1]


WRONG: list[tuple[list[Any], str]] = [
    (["positive", "postive"], "rows.jsonl:2: there is no label 'postive'; did you mean 'positive'?"),
    (["negative", "xyz"], "rows.jsonl:2: there is no label 'xyz'; there are 'negative', 'positive'"),
    ([0, 1, 2], "rows.jsonl:3: label 2 is out of range; the numbers of the labels are 0 to 1"),
    (["-1"], "rows.jsonl:1: label -1 is out of range; the numbers of the labels are 0 to 1"),
    ([0, None], "rows.jsonl:2: a label must be a name or a number, not None"),
    ([0, {"a": 1}], "rows.jsonl:2: a label must be a name or a number, not {'a': 1}"),
    ([float("nan")], "rows.jsonl:1: a label must be a name or a number, not nan"),
    (["positive", " "], "rows.jsonl:2: the label is empty; label the row, or leave it out"),
    (["positive", ["negative"]], "rows.jsonl:2: the label is a list, unlike those before it"),
    ([["negative"], "positive"], "rows.jsonl:2: the label is not a list, unlike those before it"),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_label_is_told_with_its_place_and_the_nearest(labelled: Make, given: list[Any], message: str) -> None:
    source = labelled(*given)
    assert said(lambda: Labels.of(source, names=("negative", "positive")), source) == message


def test_names_of_another_set_are_held_to(labelled: Make) -> None:
    known = Labels.of(labelled("cat", "dog"))
    source = labelled("cat", "dgo")
    assert said(lambda: [known.number(row) for row in source.rows()], source) == (
        "rows.jsonl:2: there is no label 'dgo'; did you mean 'dog'?"
    )


def test_a_row_of_several_classes_has_their_numbers_once_and_in_order(labelled: Make) -> None:
    source = labelled(["b", "a"], [], ["c", "c"])
    found = Labels.of(source)
    assert (found.names, found.kind) == (("a", "b", "c"), "several")
    assert [found.numbers(row) for row in source.rows()] == [[0, 1], [], [2]]


def test_several_classes_may_stand_in_one_text_with_a_separator(labelled: Make) -> None:
    source = labelled("b; a", "", "c")
    found = Labels.of(source, separator=";")
    assert (found.names, found.kind) == (("a", "b", "c"), "several")
    assert [found.numbers(row) for row in source.rows()] == [[0, 1], [], [2]]


def test_a_list_as_long_as_the_text_has_words_marks_them(labelled: Make) -> None:
    source = labelled(["name", "other"], ["other", "other"])
    found = Labels.of(source)
    assert (found.names, found.kind) == (("name", "other"), "words")
    assert [found.numbers(row) for row in source.rows()] == [[0, 1], [1, 1]]


def test_marks_that_do_not_fit_the_words_are_told(labelled: Make) -> None:
    source = labelled(["name", "other"], ["other"])
    assert said(lambda: Labels.of(source, kind="words"), source) == (
        "rows.jsonl:2: 1 labels for 2 words; give each word one"
    )


def test_a_kind_that_is_given_is_held_to(labelled: Make) -> None:
    values = labelled(1, "two")
    assert said(lambda: Labels.of(values, kind="value"), values) == (
        "rows.jsonl:2: the label must be a number, not 'two'"
    )
    assert Labels.of(labelled(0.5, 1.5), kind="one").names == ("0.5", "1.5")
    lists = labelled(["a"])
    assert said(lambda: Labels.of(lists, kind="one"), lists) == "rows.jsonl:1: the label must be one, not ['a']"


def test_without_a_column_of_labels_the_nearest_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text,labels\na,b\n")
    source = Source((str(path),))
    assert said(lambda: Labels.of(source), source) == (
        "rows.jsonl:2: there is no column 'label' among 'text', 'labels'; did you mean 'labels'?"
    )


def test_where_no_row_has_a_label_that_is_told(labelled: Make) -> None:
    source = labelled([], [])
    assert said(lambda: Labels.of(source), source) == "rows.jsonl: no row has a label; label some"


def test_labels_are_kept_as_json_and_names_stand_once(labelled: Make) -> None:
    found = Labels.of(labelled("b", "a"))
    assert Labels.from_json(found.to_json()) == found
    with pytest.raises(BoughError) as error:
        Labels(("a", "b", "a"))
    assert str(error.value) == "names: 'a' stands twice; name each label once"
