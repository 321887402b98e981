"""Training: the same vocabulary to the byte every time, as good as the library's own, in memory that is bounded."""

from __future__ import annotations

import gzip
import inspect
import math
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
import trainer
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts import corpus, texts

from bough.bench.tokenize import direct
from bough.data.reading.source import Source
from bough.errors import BoughError
from bough.families import FAMILIES
from bough.text.learning import merges
from bough.text.learning.count import HELD, LONGEST, Words, counted
from bough.text.learning.cuts import BETWEEN_WORDS, NOWHERE
from bough.text.learning.kinds import KINDS, Kind, Plan
from bough.text.learning.measure import measure
from bough.text.learning.train import train, trained, words_of

KINDS_OF = get_args(Kind)
FORMS = {name: family.text for name, family in FAMILIES.items() if family.text}
PROGRAM = Path(inspect.getfile(trainer))
ENGLISH = [line for line in inspect.getsource(random).splitlines() if line]
SMALLER = "or for a smaller alphabet"
MANY = 40_000
"""Words, most of them different; enough for what is held of them to outweigh all else."""


def program(*arguments: object, **environment: str) -> list[str]:
    """What the trainer prints in a process of its own."""
    line = [sys.executable, PROGRAM, *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return done.stdout.splitlines()


def peak(*arguments: object) -> int:
    """The most bytes that training took."""
    return int(program("peak", *arguments)[0])


# The same every time


def test_any_process_on_any_number_of_threads_makes_the_same_files_to_the_byte() -> None:
    kinds = [one for one in KINDS_OF if one != "character"]
    runs = [
        program("hashes", *kinds, RAYON_NUM_THREADS=threads, TOKENIZERS_PARALLELISM=parallel, PYTHONHASHSEED=threads)
        for threads, parallel in (("1", "true"), ("2", "true"), ("7", "true"), ("3", "false"))
    ]
    assert len(runs[0]) == len(kinds)
    assert all(run == runs[0] for run in runs)


@pytest.mark.parametrize("kind", KINDS_OF)
def test_the_order_of_texts_changes_nothing(kind: Kind) -> None:
    shuffled = random.Random(1).sample(ENGLISH, len(ENGLISH))
    assert train(ENGLISH, kind, 600).to_json() == train(shuffled, kind, 600).to_json()


@pytest.mark.parametrize("kind", KINDS_OF)
def test_one_file_many_shards_and_gzip_make_the_same_vocabulary(kind: Kind, tmp_path: Path) -> None:
    whole, shards, packed = tmp_path / "all.txt", tmp_path / "shards", tmp_path / "all.txt.gz"
    whole.write_text("\n".join(ENGLISH))
    packed.write_bytes(gzip.compress(whole.read_bytes()))
    shards.mkdir()
    for number in range(0, len(ENGLISH), 100):
        (shards / f"{number:05}.txt").write_text("\n".join(ENGLISH[number : number + 100]))
    files = [trained(Source((str(path),)).texts(), Plan(kind, 600)).files for path in (whole, shards, packed)]
    assert files[0] == files[1] == files[2]


def test_of_merges_that_are_as_frequent_as_each_other_always_the_same_come_first() -> None:
    draw = random.Random(2)
    for number in range(60):
        words = {"".join(draw.choices("abc", k=draw.randint(1, 9))): draw.choice((1, 1, 2)) for _ in range(40)}
        known = ["a", "b", "c", "a</w>", "b</w>", "c</w>"]
        runs = [
            merges.learn(dict(draw.sample(list(words.items()), len(words))), 80, known, suffix="</w>") for _ in range(4)
        ]
        assert all(run == runs[0] for run in runs), number


# As good as the library's own


@pytest.mark.parametrize("kind", ["word", "bytes"])
def test_where_the_library_always_does_the_same_it_is_done_here_too(kind: Kind) -> None:
    ours, theirs = train(corpus(), kind, 900), direct(kind, corpus(), 900)
    assert ours.vocabulary == theirs.get_vocab()
    assert [ours.encode(text).ids for text in texts()] == [theirs.encode(text).ids for text in texts()]


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_texts_become_no_more_pieces_than_with_the_library_by_itself(kind: Kind) -> None:
    learnt, held = ENGLISH[::2], ENGLISH[1::2]
    ours, theirs = train(learnt, kind, 1000), direct(kind, learnt, 1000)
    assert measure(held, [ours])[0].pieces <= 1.02 * sum(len(theirs.encode(text)) for text in held)


def test_words_beyond_what_the_library_can_count_are_learnt_from_in_their_proportions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(merges, "MOST", 10**5)
    many = {"aaab": 3 * 10**12, "abab": 10**12, "bb": 10**9}
    assert (
        merges.learn(many, 6, ["a", "b"])[1][:2]
        == merges.learn({"aaab": 3000, "abab": 1000, "bb": 1}, 6, ["a", "b"])[1][:2]
    )


# Words, counted


@pytest.mark.parametrize("form", [None, *FORMS], ids=str)
def test_words_found_between_spaces_are_those_of_whole_texts(form: str | None) -> None:
    kinds = KINDS[type(FORMS[form].vocabulary)][:1] if form else KINDS_OF
    draw = random.Random(3)
    known = " ".join(texts()).split(" ")
    blanks = (
        " ",
        " ",
        " ",
        "  ",
        "\n",
        " \u0301",
        "\u200b ",
        "\ufeff ",
        " \u00a0",
        "\t ",
        "¨ ",
        " ¨",
        "\x1c ",
        " \x85",
    )
    plain = (*"ab 9'._(", " ", "  ", "'s", "'ll", "it's", " \n", "\t", "x_1", "--", "\x1f", "\0", "S'")
    thrown = ["".join(draw.choice(known) + draw.choice(blanks) for _ in range(9)) for _ in range(600)]
    thrown += ["".join(draw.choices(plain, k=12)) for _ in range(3000)]
    for kind in kinds:
        words = words_of(Plan(kind, 9).fitted(FORMS[form] if form else None))
        some = texts() if words.cut is NOWHERE and kind != "character" else [*texts(), *thrown]
        whole = Counter(word for text in some for word in words.find(text) if len(word) <= LONGEST)
        found = counted(some, words, math.inf, HELD).words
        # What is longer is cut, and its parts may be words elsewhere.
        assert {word: count for word, count in found.items() if "xxx" not in word} == {
            word: count for word, count in whole.items() if "xxx" not in word
        }


def test_a_text_without_an_end_or_a_space_is_learnt_from_in_parts() -> None:
    found = counted(["ab" * 200_000, "a b " * 200_000], Words(str.split, BETWEEN_WORDS), math.inf, HELD)
    assert max(map(len, found.words)) == LONGEST
    assert sum(len(word) * count for word, count in found.words.items()) == 800_000


def test_the_most_frequent_words_are_kept_and_the_others_unknown() -> None:
    found = train(["b b b b c c c a a d"], "word", 8)
    assert sorted(found.vocabulary, key=found.vocabulary.__getitem__)[5:] == ["b", "c", "a"]
    assert found.encode("a b d").tokens == ["a", "b", "<unk>"]


@pytest.mark.parametrize(
    ("kind", "left_out"), [("word", "rare"), ("character", "a"), ("bpe", "rare</w>"), ("bytes", "Ġrare")]
)
def test_what_occurs_less_often_than_asked_is_left_out(kind: Kind, left_out: str) -> None:
    some = ["common common common rare"] if kind != "character" else ["bbbba"]
    assert left_out in train(some, kind, 300).vocabulary
    assert left_out not in train(some, kind, 300, min_count=2).vocabulary


@pytest.mark.parametrize("kind", ["character", "bpe", "wordpiece", "unigram"])
def test_only_the_most_frequent_letters_are_known_where_that_is_asked(kind: Kind) -> None:
    found = train(["aaaa bbb cc d"] * 3, kind, 40, alphabet=3)
    assert {one for one in found.vocabulary if len(one) == 1} - {"▁", " "} == set(
        "abc" if kind in ("bpe", "wordpiece") else "ab"
    )


# Nothing dropped


ANY = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="▁"), max_size=40)


@pytest.mark.parametrize("kind", ["character", "bpe", "unigram", "bytes"])
def test_with_bytes_to_fall_back_to_every_text_comes_back_as_it_was(kind: Kind) -> None:
    found = train(ENGLISH[:200], kind, 700, byte_fallback=True)

    @settings(max_examples=150, deadline=None, database=None)
    @given(ANY)
    def comes_back(text: str) -> None:
        assert found.decode(found.encode(text).ids, keep_special=True) == text

    comes_back()
    known = [one for one in texts() if "▁" not in one]
    assert len(known) > 150
    assert [found.decode(found.encode(one).ids, keep_special=True) for one in known] == known


@pytest.mark.parametrize("kind", ["character", "bpe", "unigram"])
def test_every_byte_is_in_a_vocabulary_that_falls_back_to_bytes(kind: Kind) -> None:
    found = train(["a b c"], kind, 400, byte_fallback=True)
    assert {f"<0x{number:02X}>" for number in range(256)} <= found.vocabulary.keys()
    text = "東京 😀 <0x41>"
    assert found.specials.unk not in found.encode(text).ids
    assert found.decode(found.encode(text).ids) == text


# Memory


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_corpus_said_twenty_times_takes_no_more_than_a_fifth_above_once(kind: str) -> None:
    assert peak(kind, MANY // 4, 20) <= 1.2 * peak(kind, MANY // 4, 1)


def test_memory_stays_under_the_bound_and_what_was_forgotten_is_told() -> None:
    bound = 160_000_000
    assert peak("bpe", 4 * MANY, 1) > bound
    said = program("peak", "bpe", 4 * MANY, 1, bound)
    assert int(said[0]) <= bound
    assert said[1].endswith("of the rarest words were forgotten to keep within the memory; allow more for them")


@pytest.mark.slow
@pytest.mark.parametrize("bound", [250_000_000, 500_000_000])
@pytest.mark.parametrize("kind", KINDS_OF)
def test_memory_stays_under_any_bound_for_every_kind(kind: str, bound: int) -> None:
    assert int(program("peak", kind, 30 * MANY, 1, bound)[0]) <= bound


def test_the_same_words_are_forgotten_every_time() -> None:
    some = list(trainer.made(MANY))
    plan = Plan("bpe", 500, memory=160_000_000)
    first, again = trained(some, plan), trained(iter(some), plan)
    assert first.notes == again.notes != ()
    assert first.files == again.files


# What cannot be


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"texts": []}, "texts: there is no word in them; give some to learn from"),
        ({"texts": [" ", "\n"]}, "texts: there is no word in them; give some to learn from"),
        ({"texts": "one"}, "texts: this is one text; give a list of them"),
        ({"size": 0}, "size: must be a whole number from 1 to 2,147,483,647, not 0"),
        (
            {"size": 12},
            "size: 12 tokens are too few for 5 special ones and 8 letters; ask for at least 13, " + SMALLER,
        ),
        (
            {"kind": "word", "size": 5},
            "size: 5 tokens are too few for 5 special ones and 1 word; ask for at least 6",
        ),
        (
            {"kind": "bytes", "size": 200},
            "size: 200 tokens are too few for 4 special ones and 256 letters; ask for at least 260",
        ),
        ({"memory": 10**6}, "memory: 1,000,000 bytes are too few to learn a vocabulary; allow at least 151,717,728"),
        ({"min_count": 0}, "min_count: must be a whole number from 1 to 1,099,511,627,776, not 0"),
        ({"kind": "bytes", "alphabet": 9}, "alphabet: a vocabulary of kind bytes chooses no letters; leave it out"),
        (
            {"kind": "wordpiece", "byte_fallback": True},
            "byte_fallback: the kind wordpiece has no pieces for bytes; try bpe or unigram",
        ),
        (
            {"kind": "bytes", "lowercase": True},
            "lowercase: a vocabulary of kind bytes takes letters as they are; leave it out",
        ),
        (
            {"form": FORMS["gpt"], "byte_fallback": True},
            "byte_fallback: pieces that are marked </w> cannot be bytes; leave the family out",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_learnt_is_told_in_one_line(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(BoughError) as raised:
        train(**{"texts": ["abcd"], "kind": "bpe", "size": 100, **asked})
    assert str(raised.value) == said


def test_a_vocabulary_that_comes_out_smaller_than_asked_says_so() -> None:
    assert trained(["a b c"], Plan("word", 100)).notes == (
        "the vocabulary has 8 tokens, not 100: there is no more to learn from these texts",
    )
    assert trained(["a b c"], Plan("word", 8)).notes == ()


def test_half_of_a_letter_is_told_and_not_learnt_from() -> None:
    with pytest.raises(BoughError, match=r"^texts: the tokenizers library refuses it \("):
        train(["\ud800 half"], "bpe", 100)
