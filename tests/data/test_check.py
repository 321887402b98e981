"""The check: what is wrong is found, by file and row; and of what is well nothing is said."""

from __future__ import annotations

import csv
import io
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer as Inner
from tokenizers import models, pre_tokenizers, processors

from bough.data.check import Report, Wanted, check, classes
from bough.data.feeding.feed import Feed
from bough.data.feeding.items import Rows
from bough.data.goals.collate import Collation
from bough.data.goals.wrap import Wrap
from bough.data.reading.source import Source
from bough.data.storing.prepare import prepared
from bough.errors import BoughError
from bough.text import Limit, Tokenizer

PARTS = (
    ("the film", "this picture", "a quiet comedy", "her second feature", "the old thriller", "that long sequel"),
    ("moves", "delights", "bores", "surprises", "annoys", "charms", "confuses", "rewards"),
    ("its patient audience", "anyone who loved the book", "the children in the hall", "most of us", "nobody at all"),
    ("from the first scene to the last", "for an hour and then no more", "whenever the music stops"),
    ("because the cast is so sure of itself", "though the plot is thin", "since the jokes are old"),
)
NAMES = ("Ferrand", "Oslow", "Quimby", "Tarkett", "Belmonde", "Grissom", "Halloway", "Pettibone", "Zukerman", "Valmont")
SIZES = {"train": 600, "valid": 80, "test": 80}

Table = list[list[str]]


def reviews(count: int, seed: int) -> Table:
    """Reviews that are all different, half of each label."""
    rng = random.Random(seed)
    rows: Table = []
    for number in range(count):
        words = " ".join(rng.choice(part) for part in PARTS)
        names = " and ".join(f"{rng.choice(NAMES)}{rng.choice(NAMES).lower()}{rng.randrange(10**6)}" for _ in range(6))
        rows.append([f"{words}, say {names}.", "positive" if number % 2 else "negative"])
    return rows


def written(rows: Table) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["text", "label"], *rows])
    return text.getvalue().encode()


Checked = Callable[..., Report]


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checked:
    """Check files of these contents, whose names say which set each is and in what format."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, bytes | str], wanted: Wanted | None = None, **how: object) -> Report:
        for name, content in files.items():
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        sources = {name.split(".")[0]: Source((name,), **how) for name in files}  # type: ignore[arg-type]  # settings
        return check(sources, wanted or Wanted())

    return run


def told(report: Report) -> dict[str, list[str]]:
    """The places of each kind of finding, those that are like another with it."""
    found: dict[str, list[str]] = {}
    for one in report.findings:
        places = [place.place if place.beside is None else f"{place.place} = {place.beside}" for place in one.places]
        found.setdefault(one.kind, []).extend(places)
    return found


def said(report: Report) -> list[str]:
    return [f"{one.severity}: {one.says}" for one in report.findings]


def words(*texts: str) -> Tokenizer:
    """A tokenizer that knows the words of these texts."""
    known = ["[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(" ".join(texts).split())]
    inner = Inner(models.WordLevel({word: number for number, word in enumerate(known)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]  # the library's stubs lack it
    around = [("[CLS]", 1), ("[SEP]", 2)]
    inner.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]  # the library's stubs lack it
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=around
    )
    return Tokenizer(inner)


def test_of_clean_data_nothing_is_said(checked: Checked) -> None:
    clean = {f"{name}.csv": written(reviews(count, seed)) for seed, (name, count) in enumerate(SIZES.items())}
    report = checked(clean)
    assert said(report) == []
    assert [(one.name, one.rows, one.skipped) for one in report.sets] == [
        ("train", 600, 0),
        ("valid", 80, 0),
        ("test", 80, 0),
    ]
    assert [(one.name, one.counts) for one in report.classes] == [
        ("negative", (300, 40, 40)),
        ("positive", (300, 40, 40)),
    ]


def test_a_copy_spoiled_in_twenty_ways_has_each_named_with_file_and_row(checked: Checked) -> None:
    train, valid, test = (reviews(count, seed) for seed, count in enumerate(SIZES.values()))
    near = train[20][0].split()
    near[3] = "often"
    bad = {
        "repeated": train[10],
        "near": [" ".join(near), train[20][1]],
        "leak": test[5],
        "blank": ["   ", "positive"],
        "punctuation": ["?! ...", "negative"],
        "control": ["A bell\x07 rings where nobody wrote one, and then the film goes on.", "negative"],
        "label-slip": ["A fine film with a good heart and a very bad haircut.", "positve"],
        "label-spelling": ["Nothing in this picture was worth the popcorn I spilled.", "Positive "],
        "label-missing": ["This one has lost its label on the way to the table.", ""],
        "contradiction": [train[30][0].upper(), train[31][1]],
        "misread": ["The cafÃ© scenes are twice as long as they look.", "positive"],
        "lost": ["Some letters were l\ufffdst on the way to this file.", "negative"],
        "entities": ["Fish &amp; chips, and a plot thinner than the batter on either.", "negative"],
        "tags": ["One paragraph<br />and another one below it.", "negative"],
        "language": ["Ein Film, der mich von Anfang bis Ende nicht gelangweilt hat.", "positive"],
        "script": ["Этот фильм скучен и слишком длинен для своей истории.", "negative"],
        "long": [" ".join(f"long{number}" for number in range(300)), "negative"],
    }
    places = {kind: f"train.csv:{602 + number}" for number, kind in enumerate(bad)}
    places |= {"repeated": f"{places['repeated']} = train.csv:12", "near": f"{places['near']} = train.csv:22"}
    places |= {"leak": f"test.csv:7 = {places['leak']}", "contradiction": f"{places['contradiction']} = train.csv:32"}
    raw = b"one column and no label\nBytes that are \xff\xfe no text,negative\nA NUL \x00 in the line,negative\n"
    rows = {kind: [place] for kind, place in places.items()}
    rows["bad-row"] = [f"train.csv:{602 + len(bad) + number}" for number in range(3)]
    rows["label-unknown"] = ["valid.csv:82"]
    report = checked(
        {
            "train.csv": written([*train, *bad.values()]) + raw,
            "valid.csv": written([*valid, ["A label that nobody knows stands behind this one.", "neutral"]]),
            "test.csv": written(test),
        }
    )
    assert told(report) == rows
    assert {one.kind for one in report.findings if one.severity == "error"} == {
        *("bad-row", "label-missing", "label-spelling", "label-unknown", "leak"),
    }
    assert report.sets[0].skipped == 3
    shows = {one.kind: [place.shows for place in one.places] for one in report.findings}
    assert shows["bad-row"] == [
        "the row has 1 column, and the table 2",
        "not UTF-8 (invalid start byte at byte 16)",
        "holds a NUL, at byte 7",
    ]
    assert shows["misread"] == ["'Ã©' for 'é'"]
    assert shows["control"] == ["A bell\\x07 rings where nobody wrote one, and then the film goes on."]
    assert shows["long"] == ["300 words"]


def test_errors_come_first_and_say_what_is_wrong(checked: Checked) -> None:
    rows = reviews(60, 5)
    report = checked({"train.csv": written([*rows, [rows[0][0], "negatve"]]), "test.csv": written([rows[1]])})
    assert said(report) == [
        "error: 1 row of test also in train",
        "warning: 1 label found once in train",
        "warning: 1 row labelled otherwise than the same text before",
    ]


NONE = ()
GIVEN = ("no", "yes")


@pytest.mark.parametrize(
    ("train", "test", "labels", "says"),
    [
        ("no yes no yes", "maybe", NONE, "1 label 'maybe', which is none of those in train: 'no', 'yes'"),
        ("no yes no yes", "noo", NONE, "1 label 'noo', which is none of those in train; did you mean 'no'?"),
        ("no yes yes ye", "no", GIVEN, "1 label 'ye', which is none of those given; did you mean 'yes'?"),
        ("0 1 2 0", "1", GIVEN, "1 label '2', which is out of range; the numbers of the labels are 0 to 1"),
        ("no yes no YES yes", "no", NONE, "1 label 'YES', which should be 'yes'"),
        ("no no no no", "no", NONE, "there is one label, 'no', so that there is nothing to learn"),
        ("1.5 2.5 3.5 " * 4 + "much", "1.0", NONE, "1 row labelled with what is no number"),
    ],
)
def test_label_errors(checked: Checked, train: str, test: str, labels: tuple[str, ...], says: str) -> None:
    texts = [text for text, _ in reviews(40, 6)]
    files = {"train.csv": zip(texts, train.split(), strict=False), "test.csv": [(texts[-1], test)]}
    made = {name: written([list(row) for row in rows]) for name, rows in files.items()}
    assert f"error: {says}" in said(checked(made, Wanted(labels=labels)))


def test_many_labels_that_are_not_known_are_one_finding(checked: Checked) -> None:
    texts = [text for text, _ in reviews(60, 17)]
    train = [[text, str(number % 2)] for number, text in enumerate(texts[:40])]
    test = [[text, f"kind {number}"] for number, text in enumerate(texts[40:])]
    report = checked({"train.csv": written(train), "test.csv": written(test)})
    assert said(report) == [
        "error: 20 labels of 20 names; the first is 'kind 0', which is none of those in train: '0', '1'"
    ]
    assert [place.shows for place in report.findings[0].places] == [f"'kind {number}'" for number in range(20)]


def test_a_column_of_which_each_value_is_another_is_no_label(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "MOST", 50)
    rows = [[text, f"name {number}"] for number, (text, _) in enumerate(reviews(51, 18))]
    assert said(checked({"train.csv": written(rows)})) == [
        "error: there are more than 50 different labels; is this the column that holds them?"
    ]


def test_labels_that_are_given_may_be_said_by_their_numbers(checked: Checked) -> None:
    rows = [[text, str(number % 2)] for number, (text, _) in enumerate(reviews(20, 7))]
    assert said(checked({"train.csv": written(rows)}, Wanted(labels=("no", "yes")))) == []


def test_a_class_that_is_nearly_all_is_a_warning(checked: Checked) -> None:
    rows = [[text, "rare" if number < 2 else "usual"] for number, (text, _) in enumerate(reviews(40, 8))]
    assert said(checked({"train.csv": written(rows)})) == [
        "warning: 'usual' is 95.0% of train: saying so always is right as often"
    ]


def test_several_labels_of_a_row_are_counted_one_by_one(checked: Checked) -> None:
    rows = [
        {"text": text, "label": ["a", "b"] if number % 2 else ["b"]} for number, (text, _) in enumerate(reviews(20, 9))
    ]
    rows += [
        {"text": "A row of which somebody forgot the label.", "label": None},
        {"text": "Or wrote an odd one.", "label": [{}]},
    ]
    report = checked({"train.jsonl": "\n".join(map(json.dumps, rows))})
    assert told(report) == {"label-missing": ["train.jsonl:21"], "label-odd": ["train.jsonl:22"]}
    assert [(one.name, one.counts) for one in report.classes] == [("b", (20,)), ("a", (10,))]


def test_each_word_needs_a_label_where_words_are_tagged(checked: Checked) -> None:
    rows = [{"text": "three small words", "label": ["x", "y", "x"]}, {"text": "two words", "label": ["x", "y", "x"]}]
    report = checked({"train.jsonl": "\n".join(map(json.dumps, rows))}, Wanted(task="tag"))
    assert [place.shows for one in report.findings if one.kind == "label-words" for place in one.places] == [
        "3 labels for 2 words"
    ]


def test_headings_may_stand_twice_in_plain_text_and_long_lines_may_not(checked: Checked) -> None:
    lines = [text for text, _ in reviews(30, 10)]
    report = checked(
        {"train.txt": "\n".join(["CHAPTER I", *lines, "", "CHAPTER I"]), "test.txt": f"Chapter I\n{lines[4]}\n"}
    )
    assert told(report) == {"leak": ["test.txt:2 = train.txt:6"]}
    assert [one.rows for one in report.sets] == [32, 2]  # the blank line is none


def test_documents_that_say_the_same_line_and_those_that_say_little(checked: Checked) -> None:
    lines = [text for text, _ in reviews(60, 11)]
    notice = "All rights of this collection are reserved by its keeper."
    documents = [f"{notice}\n{one}\n{other}" for one, other in zip(lines[::2], lines[1::2], strict=True)]
    report = checked({"train.txt": "\n\n".join([*documents, "The\nend"])}, per="document")
    assert said(report) == [
        "warning: 1 line that many documents have",
        "note: 1 row of fewer than 10 words, though they are documents",
    ]
    assert report.findings[0].places[0].shows == f"in 30 documents: {notice}"


def tabbed(pairs: Sequence[tuple[str, str]]) -> str:
    return "\n".join(map("\t".join, [("source", "target"), *pairs]))


def parallel() -> list[tuple[str, str]]:
    """Pairs of sides that are of each other."""
    return [(text, " ".join(word[::-1] for word in text.split())) for text, _ in reviews(60, 12)]


def test_pairs_that_are_no_translations(checked: Checked) -> None:
    pairs = parallel()
    pairs += [("this was never touched by anyone", "this was never touched by anyone"), ("", "drows on")]
    pairs += [("short", "gnol oot si taht ereh gnihtyna naht regnol si tahw"), ("left alone", " ")]
    pairs += [(f"{text} again", "yas ot gnihton si ereht") for text, _ in parallel()[:6]]
    report = checked({"train.tsv": tabbed(pairs)})
    found = told(report)
    assert found["copied"] == ["train.tsv:62"]
    assert found["blank"] == ["train.tsv:63", "train.tsv:65"]
    assert found["ratio"][0] == "train.tsv:64"
    assert found["same-target"] == ["train.tsv:66"]


def test_a_row_counts_once_whatever_is_wrong_on_both_of_its_sides(checked: Checked) -> None:
    report = checked({"train.tsv": tabbed([*parallel(), ("?!", "...")])}, Wanted(tokenizer=words("the")))
    assert {one.kind: one.count for one in report.findings} == {"punctuation": 1, "unknown": 61}


def test_a_placeholder_is_no_tag(checked: Checked) -> None:
    rows = [["Say <i> or <b>, or <p class> of the lot.", "positive"], *reviews(20, 16), ["One.<br/>Two.", "negative"]]
    assert told(checked({"train.csv": written(rows)})) == {"tags": ["train.csv:23"]}


def test_a_pair_leaks_only_with_both_of_its_sides(checked: Checked) -> None:
    (one, said_so), (other, _), *rest = parallel()
    train = [("source", "target"), (one, said_so), *rest]
    test = [("source", "target"), (one, "esle gnihtemos"), (other, said_so), (one, said_so)]
    report = checked(
        {name: "\n".join(map("\t".join, rows)) for name, rows in (("train.tsv", train), ("test.tsv", test))}
    )
    assert told(report)["leak"] == ["test.tsv:4 = train.tsv:2"]


def test_what_a_tokenizer_lacks_and_a_limit_cuts_is_told_with_its_share(checked: Checked) -> None:
    rows = reviews(50, 13)
    known = words(*(text for text, _ in rows))
    rows += [["words that nobody knows", "positive"]]
    report = checked({"train.csv": written(rows)}, Wanted(tokenizer=known, limit=Limit(20), batch=100))
    lengths = [2 + len(text.split()) for text, _ in rows]
    cut = [length for length in lengths if length > 20]
    lost = sum(cut) - 20 * len(cut)
    shares = f"{len(cut) / 51:.2%} of all; {lost / sum(lengths):.2%} of the tokens are lost"
    assert said(report) == [
        f"warning: {len(cut)} rows cut to 20 tokens, {shares}",
        f"note: 1 row with what the vocabulary lacks, {2 / (sum(lengths) - 2 * 51):.2%} of the tokens",
    ]
    assert report.findings[1].places[0].shows == "'words', 'knows'"
    assert (report.unit, report.sets[0].length) == ("tokens", sum(lengths))
    assert report.epoch
    assert report.epoch.tokens == sum(min(length, 20) for length in lengths)
    assert report.epoch.batches * 100 >= report.epoch.tokens > (report.epoch.batches - 2) * 100
    assert report.epoch.fill == pytest.approx(report.epoch.tokens / report.epoch.batches / 100)


def test_the_cost_that_is_told_is_what_the_feed_makes(checked: Checked, tmp_path: Path) -> None:
    rows = reviews(300, 15)
    tokenizer = words(*(text for text, _ in rows))
    report = checked({"train.csv": written(rows)}, Wanted(tokenizer=tokenizer, limit=Limit(22), batch=256))
    store = prepared(Source(("train.csv",)), tokenizer, cache=tmp_path)
    feed = Feed(Rows(store), Collation(Wrap.of(tokenizer, 22)), 256, epochs=1)
    tokens = [batch.tokens for batch in feed]
    assert report.epoch
    assert (report.epoch.tokens, report.epoch.batches) == (sum(tokens), len(tokens))


@pytest.mark.parametrize(
    ("limit", "batch", "says"),
    [
        (Limit(20, "error"), 500, "longer than 20 tokens, at which the policy is to stop"),
        (None, 30, "longer than a batch of 30 tokens"),
        (None, 10**6, "train has {tokens:,} tokens and does not fill one batch of 1,000,000"),
    ],
)
def test_what_makes_training_fail_is_an_error(checked: Checked, limit: Limit | None, batch: int, says: str) -> None:
    rows = reviews(50, 13)
    tokens = sum(2 + len(text.split()) for text, _ in rows)
    wanted = Wanted(tokenizer=words(*(text for text, _ in rows)), limit=limit, batch=batch)
    errors = [one.says for one in checked({"train.csv": written(rows)}, wanted).findings if one.severity == "error"]
    assert len(errors) == 1
    assert errors[0].endswith(says.format(tokens=tokens))


def test_documents_are_cut_into_blocks_and_nothing_of_them_is_lost(checked: Checked) -> None:
    lines = [text for text, _ in reviews(50, 14)]
    report = checked(
        {"train.txt": "\n".join(lines)}, Wanted(task="causal", tokenizer=words(*lines), limit=Limit(8), batch=64)
    )
    assert said(report) == []
    assert report.epoch
    assert report.epoch.tokens == report.sets[0].length


def test_a_limit_that_leaves_no_room_is_told_at_once(checked: Checked) -> None:
    with pytest.raises(BoughError) as error:
        checked({"train.csv": written(reviews(5, 0))}, Wanted(tokenizer=words("a"), limit=Limit(2)))
    assert str(error.value) == "limit: 2 leaves no token for a text beside the 2 special ones; give at least 3"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "error: train cannot be read: train.csv: holds no rows; name a file that has some"),
        ("text,label\n", "error: train cannot be read: train.csv: holds no rows; name a file that has some"),
    ],
)
def test_a_set_without_rows_is_an_error(checked: Checked, content: str, says: str) -> None:
    assert said(checked({"train.csv": content})) == [says]


def test_a_text_without_text_is_an_error(checked: Checked) -> None:
    assert said(checked({"train.txt": "\n \n\n"})) == ["error: train holds no text"]


def test_a_set_that_cannot_be_read_does_not_hide_the_others(checked: Checked) -> None:
    report = checked({"train.csv": written(reviews(30, 1)), "test.csv": "review,stars\nfine,5\n"})
    assert [(one.name, one.rows) for one in report.sets] == [("train", 30), ("test", 0)]
    assert len(report.findings) == 1
    assert report.findings[0].says.startswith("test cannot be read: test.csv: ")
    assert report.findings[0].places[0].place == "test.csv:2"


def test_bad_rows_are_a_warning_where_they_are_to_be_skipped(checked: Checked) -> None:
    files = {"train.csv": written(reviews(30, 1)) + b"one column\n"}
    assert said(checked(files)) == ["error: 1 row of train that cannot be read"]
    assert said(checked(files, skip_bad=True)) == ["warning: 1 row of train that cannot be read"]


def test_a_file_that_is_not_there_is_told_before_any_is_read(tmp_path: Path) -> None:
    with pytest.raises(BoughError, match=r"none\.csv: there is no such file or folder$"):
        check({"train": Source((str(tmp_path / "none.csv"),))}, Wanted())


def test_as_many_places_are_kept_as_are_asked_for_and_all_are_counted(checked: Checked) -> None:
    rows = reviews(1, 1) * 50
    report = checked({"train.csv": written([*rows, *reviews(5, 2)])}, Wanted(places=7))
    repeated = next(one for one in report.findings if one.kind == "repeated")
    assert (repeated.count, [place.place for place in repeated.places]) == (
        49,
        [f"train.csv:{n}" for n in range(3, 10)],
    )


def test_time_grows_with_the_number_of_rows_and_not_with_its_square(checked: Checked) -> None:
    def seconds(count: int) -> float:
        content = written(reviews(count, 20))
        start = time.process_time()
        checked({"train.csv": content})
        return time.process_time() - start

    assert seconds(4000) < 24 * min(seconds(500) for _ in range(3))  # eight times as many; squares would be sixty-four


def test_a_check_with_a_tokenizer_loads_no_torch() -> None:
    code = "import sys, bough.data.check, bough.text.reading.read; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
