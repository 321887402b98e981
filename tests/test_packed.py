"""Batches: sequences of any lengths laid end to end, and all of them back again."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough.errors import BoughError
from bough.model import Model
from bough.packed import Inputs, Packed, by_length

SEQUENCES = st.lists(st.lists(st.integers(0, 99), max_size=6), min_size=1, max_size=6)


@given(SEQUENCES)
def test_what_is_packed_is_split_into_the_same_sequences(sequences: list[list[int]]) -> None:
    batch = Packed.of(sequences)
    assert [one.tolist() for one in batch.split(batch.ids)] == sequences
    assert [one.tolist() for one in batch.split(batch.positions)] == [list(range(len(one))) for one in sequences]
    assert [one.tolist() for one in batch.split(batch.sequences)] == [[i] * len(one) for i, one in enumerate(sequences)]
    assert batch.offsets.diff().tolist() == [len(one) for one in sequences]


@given(SEQUENCES.filter(any))
def test_padding_puts_each_sequence_in_its_row_and_only_there(sequences: list[list[int]]) -> None:
    ids, cells = Packed.of(sequences).padded(fill=-1)
    assert [row[cell].tolist() for row, cell in zip(ids, cells, strict=True)] == sequences
    assert bool((ids[~cells] == -1).all())
    assert ids.shape == (len(sequences), max(len(one) for one in sequences))


def test_segments_are_said_by_token_and_languages_by_sequence() -> None:
    batch = Packed.of([[5, 6], [7]], segments=[[0, 1], [1]], languages=[3, 4])
    assert batch.segments.tolist() == [0, 1, 1]
    assert batch.languages is not None
    assert batch.languages.tolist() == [3, 3, 4]
    plain = Packed.of([[5, 6], [7]])
    assert plain.segments.tolist() == [0, 0, 0]
    assert plain.languages is None


@given(st.lists(st.integers(0, 20), max_size=30), st.integers(1, 40))
def test_batches_hold_every_sequence_once_longest_first_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(by_length(lengths, budget))
    order = [number for batch in batches for number in batch]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[number] for number in order] == sorted(lengths, reverse=True)
    for batch in batches:
        assert len(batch) == 1 or sum(lengths[number] for number in batch) <= budget


def test_no_sequences_are_no_tokens() -> None:
    batch = Packed.of([])
    assert (len(batch.ids), batch.lengths, batch.offsets.tolist()) == (0, (), [0])
    assert torch.equal(batch.positions, batch.ids)
    assert list(by_length([], 10)) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"ids": [[1], [2, 11]]}, "ids: sequence 1: 11 is out of range; the model knows 0 to 10"),
        ({"ids": [[-1]]}, "ids: sequence 0: -1 is out of range; the model knows 0 to 10"),
        ({"ids": [[], [1] * 513]}, "ids: sequence 1 has 513; the model reads 512 at once, so cut it"),
        ({"segments": [[0, 2]]}, "segments: sequence 0: 2 is out of range; the model knows 0 to 1"),
        ({"segments": [[0]]}, "segments: there must be one number for each id of each sequence"),
        ({"segments": [[0, 0], [0]]}, "segments: there are 2 for 1 sequences; give one for each"),
        ({"languages": [0, 0]}, "languages: there are 2 for 1 sequences; give one for each"),
        ({"languages": [3]}, "languages: 3 is out of range; the model knows 0 to 0"),
    ],
)
def test_what_a_model_has_no_row_for_is_an_error_that_names_it(asked: dict[str, Any], said: str) -> None:
    spec = bough.spec("bert-tiny").but(vocabulary=11, width=8, depth=1, heads=2)
    with pytest.raises(BoughError) as error:
        Model(spec, bough.build(spec)).hidden(**{"ids": [[1, 2]], **asked})
    assert str(error.value) == said


def test_what_is_laid_out_counts_each_token_once() -> None:
    read, spec = [[5, 6, 7], [8]], bough.spec("bert-tiny")
    assert Inputs(spec, read).lengths() == [3, 1]
    two_sides = bough.spec("bart-tiny")
    assert Inputs(two_sides, read).lengths() == [3, 1]
    assert Inputs(two_sides, read, targets=[[9, 9], []]).lengths() == [5, 1]
    assert Inputs(bough.spec("vit-tiny"), [torch.zeros(3, 8, 12)]).lengths() == [1 + 2 * 3]


def test_positions_may_begin_again_within_a_sequence_but_who_sees_whom_goes_by_where_tokens_lie() -> None:
    places = torch.tensor([0, 1, 0, 1, 0])
    batch = dataclasses.replace(Packed.of([[5, 6, 7, 8], [5]]), places=places)
    assert torch.equal(batch.positions, places)
    net = bough.build(bough.spec("gpt2-tiny").but(vocabulary=11, width=8, depth=2, heads=2)).eval()
    other = dataclasses.replace(batch, ids=torch.tensor([5, 6, 7, 9, 5]))
    before, after = net(batch), net(other)
    assert torch.equal(before[:3], after[:3])  # what follows is not seen, wherever it says it is
    assert not torch.equal(before, net(Packed.of([[5, 6, 7, 8], [5]])))
    alone = dataclasses.replace(Packed.of([[5, 6, 7, 8]]), places=places[:4])
    torch.testing.assert_close(net(alone), before[:4])
