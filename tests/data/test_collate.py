"""Batches of examples: wrapped and cut as texts are, with goals that do not depend on who else is in the batch."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import torch.nn.functional as F
from examples import (
    BARE,
    CLS,
    END,
    FIRST_WORD,
    MASK,
    ONE,
    ORDINARY,
    SEP,
    TWO,
    WORDS,
    apart,
    batch_of,
    examples,
    sizes,
    some,
    text,
    tokenizer,
)  # fmt: skip
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers

import bough
from bough.data.draw import Draw
from bough.data.goals.collate import Answers, Collation, Label, ManyLabels, Next, Tags
from bough.data.goals.damage import Masks, Sentinels
from bough.data.goals.infill import Infill
from bough.data.goals.masking import Masking, Words, WordSpans
from bough.data.goals.parallel import SideBySide, Written
from bough.data.goals.tags import spread
from bough.data.goals.wrap import FIRST, SECOND, TARGET, Wrap
from bough.errors import BoughError
from bough.text import Limit, Template

PAIR = (FIRST, SECOND)
MASKING = Masking(MASK, ORDINARY)
SIDES = SideBySide(Wrap(ONE, Limit(20), language=0), Wrap(ONE, Limit(20), (TARGET,), language=1))
HOLES = np.arange(WORDS - 1, WORDS - 21, -1)
ALL: dict[str, Collation] = {
    "one text": Collation(Wrap(ONE, Limit(16)), (Label(),)),
    "two texts": Collation(Wrap(TWO, Limit(24, "head-tail"), PAIR), (Label("pair", "pair"),)),
    "next": Collation(Wrap(BARE, Limit(16)), (Next(),)),
    "next, of one document": Collation(Wrap(END), (Next("keep"),)),
    "masked": Collation(Wrap(ONE, Limit(16)), (MASKING,)),
    "masked words": Collation(Wrap(ONE, language=3), (Masking(MASK, ORDINARY, choice=Words()),)),
    "masked spans": Collation(Wrap(ONE), (Masking(MASK, ORDINARY, choice=WordSpans()),)),
    "masked pair": Collation(Wrap(TWO, Limit(24), PAIR), (MASKING, Label("pair", "pair"))),
    "side by side": Collation(SIDES, (MASKING,)),
    "written": Collation(Written(Wrap(END, Limit(16)), Wrap(END, Limit(16), (TARGET,)), start=0)),
    "written in a language": Collation(Written(Wrap(END), Wrap(END, None, (TARGET,)), start=None)),
    "holes": Collation(Infill(Sentinels(HOLES), END, END, 0, Limit(16))),
    "masks": Collation(Infill(Masks(MASK, np.array([7, 8, 9])), ONE, ONE, 2, Limit(24))),
}
BODY = st.lists(st.integers(FIRST_WORD, WORDS - 1), max_size=12)


def _example(first: list[int], second: list[int]) -> dict[str, Any]:
    return {"ids": np.array(first, np.uint16), "ids_pair": np.array(second, np.uint16)}


# Wrapping and cutting


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(BODY, BODY), max_size=5), st.booleans())
def test_bodies_are_wrapped_as_the_tokenizer_wraps_them(bodies: list[tuple[list[int], list[int]]], pair: bool) -> None:
    handle = tokenizer()
    batch = batch_of(Collation(Wrap.of(handle, pair=pair)), [_example(*one) for one in bodies])
    for found, (first, second) in zip(apart(batch), bodies, strict=True):
        ids, segments, _ = handle.wrap(first, second if pair else None)
        assert (found["ids"], found["segments"]) == (ids, segments)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(BODY, BODY), min_size=1, max_size=5), st.integers(5, 24), st.booleans(), st.data())
def test_ids_are_cut_as_texts_are(
    bodies: list[tuple[list[int], list[int]]], length: int, pair: bool, data: st.DataObject
) -> None:
    handle, limit = tokenizer(), Limit(length, data.draw(st.sampled_from(["truncate", "head-tail"])))
    collate = Collation(Wrap.of(handle, limit, pair))
    given = [_example(*one) for one in bodies]
    for found, (first, second) in zip(apart(batch_of(collate, given)), bodies, strict=True):
        whole = handle.encode(text(first), text(second) if pair else None, limit)
        assert (found["ids"], found["segments"]) == (whole.ids, whole.segments)
    assert collate.length(sizes(given)).tolist() == list(batch_of(collate, given).inputs.lengths)


@pytest.mark.parametrize("name", ALL)
def test_how_many_tokens_examples_take_is_known_before_they_are_read(name: str) -> None:
    given = some(60)
    batch = batch_of(ALL[name], given)
    source = batch.inputs.source.lengths if batch.inputs.source else [0] * len(given)
    taken = [own + read for own, read in zip(batch.inputs.lengths, source, strict=True)]
    assert ALL[name].length(sizes(given)).tolist() == taken
    assert batch.tokens == sum(taken)


def test_what_cannot_be_wrapped_so_is_an_error_that_says_how_it_could() -> None:
    strict = Collation(Wrap(ONE, Limit(8, "error")))
    assert batch_of(strict, examples([6])).inputs.lengths == (8,)
    assert strict.length({"ids": np.array([6, 700])}).tolist() == [8, 702]
    with pytest.raises(BoughError) as error:
        batch_of(strict, examples([6, 1700, 9]), first=40)
    assert str(error.value) == (
        "item 41: has 1,702 tokens, special ones included, and the limit is 8; shorten it, or let the policy be "
        "truncate or head-tail"
    )
    with pytest.raises(BoughError) as error:
        Wrap(ONE, Limit(8, "window", 2))
    assert str(error.value) == (
        "limit: the policy 'window' makes several sequences of one text, and a batch has one of each; cut texts into "
        "windows before they are stored, or let the policy be error, truncate or head-tail"
    )
    with pytest.raises(BoughError, match=r"^limit: 2 leaves no token for a text beside the 2 special ones; give at"):
        Wrap(ONE, Limit(2))
    with pytest.raises(BoughError, match=r"^template: it holds 2 texts, and 1 are given$"):
        Wrap(TWO)
    with pytest.raises(BoughError) as error:
        batch_of(Collation(Wrap(ONE)), [{"target": np.array([5]), "label": 1}])
    assert str(error.value) == (
        "ids: the examples have no such column (they have label, target); prepare the data with it"
    )


# The same in any company


@pytest.mark.parametrize("name", ALL)
def test_an_item_is_the_same_alone_and_in_any_company_and_order(name: str) -> None:
    given, collate = some(), ALL[name]
    together = apart(batch_of(collate, given, first=100))
    for number, one in enumerate(given):
        assert apart(collate([one], [100 + number], Draw(0))) == [together[number]]
    order = np.random.default_rng(1).permutation(len(given)).tolist()
    shuffled = apart(collate([given[number] for number in order], [100 + number for number in order], Draw(0)))
    assert shuffled == [together[number] for number in order]


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith(("masked", "side", "holes", "masks"))])
def test_another_epoch_and_another_seed_draw_anew(name: str) -> None:
    given = some(most=20)
    epochs = [apart(batch_of(ALL[name], given, seed, first)) for seed, first in ((0, 0), (0, 24), (1, 0), (0, 0))]
    assert epochs[0] == epochs[3]
    for other in epochs[1:3]:
        assert sum(one != two for one, two in zip(epochs[0], other, strict=True)) > 12


@pytest.mark.parametrize("name", ALL)
def test_no_items_are_a_batch_of_none(name: str) -> None:
    batch = batch_of(ALL[name], [])
    assert (batch.inputs.lengths, batch.items, batch.tokens, len(batch.inputs.ids)) == ((), (), 0, 0)
    full = batch_of(ALL[name], some())
    assert {key: (len(goal), goal.dtype) for key, goal in batch.goals.items()} == {
        key: (0, goal.dtype) for key, goal in full.goals.items()
    }


@pytest.mark.parametrize("name", ["two texts", "masked spans", "side by side", "masks"])
def test_a_batch_of_many_examples_takes_as_long_for_each_as_one_of_few(name: str) -> None:
    taken: list[float] = []
    for count, times in ((64, 32), (2048, 1)):
        given = some(count)
        batch_of(ALL[name], given)
        begin = time.process_time()
        for _ in range(times):
            batch_of(ALL[name], given)
        taken.append(time.process_time() - begin)
    assert taken[1] < 3 * taken[0]


# Goals


def test_labels_are_classes_numbers_or_several_classes() -> None:
    given = [{**one, "label": label, "labels": np.array(several, np.uint8)} for one, label, several in zip(
        examples([3, 0, 2]), (2, 0, 1), ([0, 3], [], [1]), strict=True)]  # fmt: skip
    goals = batch_of(Collation(Wrap(ONE), (Label(),)), given).goals
    assert torch.equal(goals["labels"], torch.tensor([2, 0, 1]))
    goals = batch_of(Collation(Wrap(ONE), (Label(kind="number"),)), given).goals
    assert torch.equal(goals["labels"], torch.tensor([2.0, 0.0, 1.0]))
    goals = batch_of(Collation(Wrap(ONE), (ManyLabels(4),)), given).goals
    assert torch.equal(goals["labels"], torch.tensor([[1.0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]))


def test_a_tag_is_said_at_its_words_first_token_if_that_was_not_cut() -> None:
    given = [
        {"ids": np.arange(10, 16), "labels": np.array([3, -1, 0, 1, -1, 2], np.int8)},
        {"ids": np.arange(0), "labels": np.arange(0)},
        {"ids": np.arange(20, 22), "labels": np.array([4, 5])},
    ]
    found = apart(batch_of(Collation(Wrap(ONE), (Tags(),)), given))
    assert [one["at"] for one in found] == [[1, 3, 4, 6], [], [1, 2]]
    assert [one["labels"] for one in found] == [[3, 0, 1, 2], [], [4, 5]]
    found = apart(batch_of(Collation(Wrap(ONE, Limit(5, "head-tail")), (Tags(),)), given))
    assert (found[0]["ids"], found[0]["at"], found[0]["labels"]) == ([CLS, 10, 11, 15, SEP], [1, 3], [3, 2])
    pair = Collation(Wrap(TWO, None, PAIR), (Tags(),))
    found = apart(batch_of(pair, [{**one, "ids_pair": np.array([8, 9, 10])} for one in given]))
    assert [one["labels"] for one in found] == [[3, 0, 1, 2], [], [4, 5]]
    with pytest.raises(BoughError) as error:
        batch_of(Collation(Wrap(ONE), (Tags(),)), [{**given[2], "labels": np.array([4])}], first=7)
    assert str(error.value) == "item 7: has 2 tokens and 1 tags; store one for each, by tags.spread"


def test_labels_of_words_become_labels_of_their_first_tokens() -> None:
    said = " The U.S. won,\u00a0 2-1 ."
    labels = [7, 8, 9, 5, 6]
    inner = tokenizers.Tokenizer(models.WordPiece({"[UNK]": 0, "w": 1, "##on": 2, "The": 3}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    found = inner.encode(said)
    tags = spread(labels, said, found.offsets)
    pieces = [said[start:end] for start, end in found.offsets]
    assert list(zip(pieces, tags, strict=True)) == [
        ("The", 7), ("U", 8), (".", -1), ("S", -1), (".", -1), ("w", 9), ("on", -1), (",", -1), ("2", 5), ("-", -1),
        ("1", -1), (".", 6)]  # fmt: skip
    # Tokens that take the space before their word with them, and one that is nothing but space.
    assert spread([1, 2], "an apple", [(0, 2), (2, 5), (5, 8)]) == [1, 2, -1]
    assert spread([1, 2], "an  apple", [(0, 2), (2, 3), (3, 9)]) == [1, -1, 2]
    assert spread([], "", []) == []


def test_an_answer_is_where_it_lies_in_the_batch_or_at_the_first_token() -> None:
    places = [(0, 2), (5, 5), (-1, -1), (1, 4)]
    given = [
        {"ids": np.array([9] * 3), "ids_pair": np.arange(10, 16), "answer_start": start, "answer_end": end}
        for start, end in places
    ]
    batch = batch_of(Collation(Wrap(TWO, None, PAIR), (Answers(),)), given)
    assert batch.inputs.ids[batch.goals["starts"]].tolist() == [10, 15, CLS, 11]
    assert batch.inputs.ids[batch.goals["ends"]].tolist() == [12, 15, CLS, 14]
    batch = batch_of(Collation(Wrap(TWO, Limit(9), PAIR), (Answers(),)), given)
    assert batch.inputs.ids[batch.goals["starts"]].tolist() == [10, CLS, CLS, CLS]
    batch = batch_of(Collation(Wrap(ONE), (Answers(text=0),)), given[:1])
    assert (batch.goals["starts"].tolist(), batch.goals["ends"].tolist()) == ([1], [3])


def test_each_token_says_the_next_but_where_there_is_none() -> None:
    given = [
        {"ids": np.array([10, 11, 12, 13]), "begins": np.array([1, 0, 1, 0])},
        {"ids": np.arange(0), "begins": np.arange(0)},
        {"ids": np.array([20]), "begins": np.array([1])},
    ]
    said = [(one["at"], one["words"]) for one in apart(batch_of(Collation(Wrap(BARE), (Next(),)), given))]
    assert said == [([0, 1, 2], [11, 12, 13]), ([], []), ([], [])]
    said = [(one["at"], one["words"]) for one in apart(batch_of(Collation(Wrap(BARE), (Next("keep"),)), given))]
    assert said == [([0, 2], [11, 13]), ([], []), ([], [])]


def test_what_leads_and_ends_a_text_decides_whether_its_first_token_and_its_end_are_said() -> None:
    given = [{"ids": np.array([10, 11]), "begins": np.array([1, 0])}]
    for boundaries in ("join", "keep"):
        (found,) = apart(batch_of(Collation(Wrap(ONE), (Next(boundaries),)), given))
        assert (found["at"], found["words"]) == ([0, 1, 2], [10, 11, SEP])


def test_every_word_around_a_text_is_said_too() -> None:
    led = Template(((CLS, CLS), (SEP, 9)), ((0, 0), (0, 0)), (0,))
    (found,) = apart(batch_of(Collation(Wrap(led), (Next(),)), [{"ids": np.array([10, 11])}]))
    assert (found["at"], found["words"]) == ([0, 1, 2, 3, 4], [CLS, 10, 11, SEP, 9])


def test_nothing_is_said_from_what_was_cut_off() -> None:
    given = [{"ids": np.arange(10, 20)}]
    (found,) = apart(batch_of(Collation(Wrap(ONE, Limit(6, "head-tail")), (Next(),)), given))
    assert found["ids"] == [CLS, 10, 11, 18, 19, SEP]
    assert (found["at"], found["words"]) == ([0, 1, 3, 4], [10, 11, 19, SEP])


# In a net


NETS: dict[str, tuple[str, dict[str, Any]]] = {
    "masked": ("bert-tiny", {}),
    "masked words": ("xlm-tiny", {"embedding.languages": 4}),
    "masked spans": ("roberta-tiny", {}),
    "side by side": ("xlm-tiny", {"embedding.languages": 4}),
    "next": ("gpt2-tiny", {}),
    "next, of one document": ("gpt-tiny", {}),
    "written": ("transformer-tiny", {}),
    "written in a language": ("mbart-tiny", {}),
    "holes": ("t5-tiny", {}),
    "masks": ("bart-tiny", {}),
}


@pytest.mark.parametrize("name", NETS)
def test_a_net_learns_from_a_batch_by_the_rows_at_which_something_is_to_be_said(name: str) -> None:
    preset, changes = NETS[name]
    spec = bough.spec(preset).but(vocabulary=WORDS, width=16, depth=1, heads=2, **changes)
    net, batch = bough.build(spec).eval(), batch_of(ALL[name], some())
    steps, losses = torch.optim.Adam(net.parameters(), 1e-2), []
    for _ in range(8):
        scores = net.outputs["words"](net(batch.inputs)[batch.goals["at"]], batch.inputs)
        loss = F.cross_entropy(scores, batch.goals["words"])
        steps.zero_grad()
        loss.backward()
        steps.step()
        losses.append(loss.item())
    assert len(scores) == len(batch.goals["at"]) > 20
    assert losses[0] == pytest.approx(np.log(WORDS), abs=1)
    assert losses[-1] < losses[0] - 0.1


def test_a_net_learns_whether_texts_belong_together_beside_the_words_hidden_in_them() -> None:
    outputs = bough.families()["bert"].outputs.only("words", "pair")
    spec = bough.spec("bert-tiny").but(vocabulary=WORDS, width=16, depth=1, heads=2, outputs=outputs)
    net, batch = bough.build(spec).eval(), batch_of(ALL["masked pair"], some())
    states = net(batch.inputs)
    pairs = F.cross_entropy(net.outputs["pair"](states, batch.inputs), batch.goals["pair"])
    words = F.cross_entropy(net.outputs["words"](states[batch.goals["at"]], batch.inputs), batch.goals["words"])
    (pairs + words).backward()
    assert all(weight.grad is not None for weight in net.parameters())
