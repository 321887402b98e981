"""Two texts that belong together: in one sequence as XLM read translations, or one read and the other written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import transformers
from examples import BARE, CLS, END, MASK, ONE, ORDINARY, SEP, WORDS, apart, batch_of, examples, some, text, tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.data.feeding.feed import Feed
from bough.data.feeding.items import Rows
from bough.data.goals.collate import Answers, Collation, Next
from bough.data.goals.laid import Given, Laid
from bough.data.goals.masking import Masking, Words
from bough.data.goals.parallel import SideBySide, Written, ending
from bough.data.goals.wrap import TARGET, Wrap
from bough.data.reading.source import Source
from bough.data.storing.prepare import prepared
from bough.packed import behind_start
from bough.text import Limit, Tokenizer

SIDES = SideBySide(Wrap(ONE, language=2), Wrap(ONE, None, (TARGET,), language=1))
GIVEN: list[dict[str, Any]] = [
    {"ids": np.array([10, 11, 12]), "target": np.array([20, 21])},
    {"ids": np.array([], np.int64), "target": np.array([22])},
    {"ids": np.array([13]), "target": np.array([], np.int64)},
]


# Side by side


def test_each_side_has_its_own_special_tokens_language_and_positions() -> None:
    first, second, third = apart(batch_of(Collation(SIDES), GIVEN))
    assert first["ids"] == [CLS, 10, 11, 12, SEP, CLS, 20, 21, SEP]
    assert first["positions"] == [0, 1, 2, 3, 4, 0, 1, 2, 3]
    assert first["languages"] == [2, 2, 2, 2, 2, 1, 1, 1, 1]
    assert (second["ids"], second["positions"]) == ([CLS, SEP, CLS, 22, SEP], [0, 1, 0, 1, 2])
    assert (third["ids"], third["languages"]) == ([CLS, 13, SEP, CLS, SEP], [2, 2, 2, 1, 1])


def test_words_are_hidden_on_both_sides_at_once() -> None:
    given = [{"ids": np.arange(10, 30), "target": np.arange(50, 70)} for _ in range(2000)]
    found = apart(batch_of(Collation(SIDES, (Masking(MASK, ORDINARY),)), given))
    times = Counter(word for one in found for word in one["words"])
    assert sorted(times) == [*range(10, 30), *range(50, 70)]
    assert all(abs(count / 2000 - 0.15) < 5 * np.sqrt(0.15 * 0.85 / 2000) for count in times.values())
    assert {len(one["at"]) for one in found} == {6}
    whole = apart(batch_of(Collation(SIDES, (Masking(MASK, ORDINARY, choice=Words()),)), some(30)))
    assert all(bool(one["at"]) == (len(one["ids"]) > 4) for one in whole)


def test_a_net_reads_sides_as_transformers_reads_their_positions_and_languages(tmp_path: Path) -> None:
    config = transformers.XLMConfig(
        vocab_size=WORDS, emb_dim=16, n_layers=2, n_heads=2, n_langs=3, pad_index=0, max_position_embeddings=12
    )
    torch.manual_seed(0)
    theirs = transformers.XLMModel(config).eval()
    torch.nn.init.normal_(theirs.position_embeddings.weight)
    torch.nn.init.normal_(theirs.lang_embeddings.weight)
    theirs.save_pretrained(tmp_path)
    net = bough.load(tmp_path).net
    # Both sides together are longer than the table of positions, and neither is alone.
    batch = batch_of(Collation(SIDES), examples([6, 9, 2])).inputs
    assert max(batch.lengths) > 12
    ours = batch.split(net(batch))
    columns = (batch.split(one) for one in (batch.ids, batch.positions, batch.languages))
    for mine, ids, positions, languages in zip(ours, *columns, strict=True):
        answer = theirs(ids[None], position_ids=positions[None], langs=languages[None]).last_hidden_state[0]
        torch.testing.assert_close(mine, answer, rtol=0, atol=2e-5)


def test_it_is_all_one_which_side_lies_first() -> None:
    spec = bough.spec("xlm-tiny").but(vocabulary=WORDS, width=16, heads=2, **{"embedding.languages": 3})
    net, given = bough.build(spec).eval(), examples([6, 9, 2])
    one, other = (batch_of(Collation(both), given).inputs for both in (SIDES, SideBySide(SIDES.second, SIDES.first)))
    for mine, theirs, example in zip(one.split(net(one)), other.split(net(other)), given, strict=True):
        first = len(example["ids"]) + 2
        torch.testing.assert_close(mine, torch.cat((theirs[-first:], theirs[:-first])), rtol=0, atol=1e-5)


def test_what_is_said_of_the_second_text_is_found_on_its_side() -> None:
    given = [{**one, "answer_start": 1, "answer_end": 1} for one in GIVEN[:1]]
    batch = batch_of(Collation(SIDES, (Answers(),)), given)
    assert batch.inputs.ids[batch.goals["starts"]].tolist() == [21]


def test_each_side_is_cut_by_itself() -> None:
    cut = SideBySide(Wrap(ONE, Limit(4)), Wrap(ONE, Limit(6, "head-tail"), (TARGET,)))
    (found,) = apart(batch_of(Collation(cut), [{"ids": np.arange(10, 20), "target": np.arange(30, 40)}]))
    assert found["ids"] == [CLS, 10, 11, SEP, CLS, 30, 31, 38, 39, SEP]
    assert "languages" not in found


def test_a_language_is_said_for_all_examples_or_by_each() -> None:
    given = [{"ids": np.array([10, 11]), "tongue": 2}, {"ids": np.array([12]), "tongue": 0}]
    fixed = Collation(Wrap(BARE, language=1), (Next(),))
    assert [one["languages"] for one in apart(batch_of(fixed, given))] == [[1, 1], [1]]
    told = Collation(Wrap(ONE, language="tongue"), (Masking(MASK, ORDINARY),))
    assert [one["languages"] for one in apart(batch_of(told, given))] == [[2, 2, 2, 2], [0, 0, 0]]


# Read and written


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5))
def test_a_decoder_reads_behind_its_start_all_that_it_says_but_the_end(sizes: list[tuple[int, int]]) -> None:
    given = [{"ids": np.arange(10, 10 + a), "target": np.arange(50, 50 + b)} for a, b in sizes]
    spec = bough.spec("t5-tiny").but(**{"encoder.start": 0})
    found = apart(batch_of(Collation(Written(Wrap(END), Wrap(END, None, (TARGET,)), start=0)), given))
    for one, example in zip(found, given, strict=True):
        assert one["source"] == [*example["ids"].tolist(), SEP]
        assert one["words"] == [*example["target"].tolist(), SEP]
        assert [one["ids"]] == behind_start(spec, [one["words"]])
        assert one["at"] == list(range(len(one["words"])))


def test_a_language_word_ends_the_source_and_both_ends_and_starts_the_target() -> None:
    english, french = 198, 199
    source, target = (Wrap(ending(END, SEP, word), None, (column,)) for word, column in (
        (english, ("ids", "starts")), (french, TARGET)))  # fmt: skip
    found = apart(batch_of(Collation(Written(source, target, start=None)), GIVEN))
    assert found[0]["source"] == [10, 11, 12, SEP, english]
    assert found[0]["words"] == [20, 21, SEP, french]
    assert found[0]["ids"] == [french, 20, 21, SEP]
    assert (found[2]["ids"], found[2]["words"]) == ([french, SEP], [SEP, french])


def test_a_target_without_any_token_says_nothing() -> None:
    bare = Collation(Written(Wrap(BARE), Wrap(BARE, None, (TARGET,)), start=None))
    found = apart(batch_of(bare, GIVEN))
    assert [(one["ids"], one["words"]) for one in found] == [([21, 20], [20, 21]), ([22], [22]), ([], [])]


def test_the_loss_of_a_batch_is_that_of_transformers_for_the_same_labels(tmp_path: Path) -> None:
    config = transformers.BartConfig(
        vocab_size=WORDS, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64,
        decoder_start_token_id=2, pad_token_id=0, bos_token_id=2, eos_token_id=3,
    )  # fmt: skip
    torch.manual_seed(0)
    theirs = transformers.BartForConditionalGeneration(config).eval()
    theirs.save_pretrained(tmp_path)
    model = bough.load(tmp_path)
    assert model.spec.encoder is not None
    collate = Collation(Written(Wrap(ONE), Wrap(ONE, None, (TARGET,)), model.spec.encoder.start))
    for example in examples([6, 9, 2]):
        batch = batch_of(collate, [example])
        assert batch.inputs.source is not None
        scores = model.net.outputs["words"](model.net(batch.inputs)[batch.goals["at"]], batch.inputs)
        loss = torch.nn.functional.cross_entropy(scores, batch.goals["words"])
        labels = batch.goals["words"][None]
        assert loss.item() == pytest.approx(theirs(batch.inputs.source.ids[None], labels=labels).loss.item(), abs=1e-5)


def test_a_file_of_translations_is_read_and_written_and_hidden(tmp_path: Path) -> None:
    rows = [([10, 11], [50, 51, 52]), ([12], [53]), ([13, 14, 15], [54])]
    lines = ["source\ttarget", *(f"{text(source)}\t{text(target)}" for source, target in rows)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n")
    handle = tokenizer()
    store = prepared(Source((str(tmp_path / "pairs.tsv"),)), handle, cache=tmp_path / "cache")
    items = Rows(store)
    (batch,) = Feed(items, Collation(Written.of(handle, start=0)), 64, epochs=1, shuffle=False)
    read = {one["source"][1]: (one["source"][1:-1], one["words"][1:-1]) for one in apart(batch)}
    assert [read[source[0]] for source, _ in rows] == rows
    sides = Collation(SideBySide.of(handle, (0, 1)), (Masking.of(handle, 1.0),))
    (batch,) = Feed(items, sides, 64, epochs=1, shuffle=False)
    assert sorted(batch.goals["words"].tolist()) == [*range(10, 16), *range(50, 55)]
    assert {one["ids"].count(CLS): set(one["languages"]) for one in apart(batch)} == {2: {0, 1}}


def test_what_is_written_in_another_vocabulary_is_wrapped_by_that() -> None:
    other = tokenizer()
    bare = tokenizers.Tokenizer(tokenizers.models.WordLevel({"w10": 10}, unk_token="w10"))
    handle = Tokenizer(bare, target=other)
    (found,) = apart(batch_of(Collation(Written.of(handle, 0, 4)), GIVEN[:1]))
    assert (found["source"], found["words"]) == ([10, 11, 12], [CLS, 20, 21, SEP])


def test_a_goal_may_be_written_by_anybody() -> None:
    class Backwards:
        """What was read, to be said from its end."""

        def __call__(self, laid: Laid, given: Given) -> Laid:
            return laid.aiming(at=np.arange(laid.runs.total), words=laid.ids[::-1].copy())

    batch = batch_of(Collation(Wrap(ONE), (Backwards(),)), examples([3]))
    assert batch.goals["words"].tolist() == batch.inputs.ids.flip(0).tolist()
