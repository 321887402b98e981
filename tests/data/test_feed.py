"""A feed gives the same batches in the same order to any number of ranks and workers, and goes on from any of them."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stocks import PARAGRAPH, Plain, ids, lengths, said, stock

import bough.data.feeding.plan
from bough.data.draw import Draw
from bough.data.feeding.batch import Batch, Example, Lengths
from bough.data.feeding.feed import Feed
from bough.data.feeding.items import Blocks, Items, Lanes, Rows
from bough.data.goals.collate import Collation, Next
from bough.data.goals.wrap import Wrap
from bough.data.storing.store import Store
from bough.errors import ArtefactError, BoughError, ResourceError
from bough.text import Template

BUDGET = 300
COUNT = 2000
POINTS = 50


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return stock(tmp_path_factory.mktemp("feed") / "store", lengths(COUNT))


def feed(items: Items | Store, budget: int = BUDGET, seed: int = 7, **how: Any) -> Feed:
    return Feed(Rows(items) if isinstance(items, Store) else items, Plain(), budget, seed, **how)


def items_of(batches: Sequence[Batch]) -> list[int]:
    return [item for batch in batches for item in batch.items]


# The order


@dataclass(frozen=True)
class Whole:
    """Two epochs and a bit as one rank reads them without workers, and where it stood before each batch."""

    batches: list[Any]
    states: list[str]


@pytest.fixture(scope="module")
def whole(store: Store) -> Whole:
    one, batches, states = feed(store), list[Any](), list[str]()
    for batch in one:
        batches.append(said([batch]))
        states.append(json.dumps(one.state()))
        if len(batches) == 250:
            return Whole(batches, [json.dumps(feed(store).state()), *states])
    raise AssertionError


def follow(store: Store, whole: Whole, point: int, ranks: int, workers: int, count: int) -> None:
    """Go on at a point, and compare the very sequence of what all ranks are given with what one was."""
    feeds = [feed(store, rank=rank, ranks=ranks, workers=workers) for rank in range(ranks)]
    for one in feeds:
        one.resume(json.loads(whole.states[point]))
    given = [said(shares) for shares in islice(zip(*feeds, strict=True), count)]
    assert given == whole.batches[point : point + count]
    assert {json.dumps(one.state()) for one in feeds} == {whole.states[point + count]}


def test_the_order_is_that_of_one_rank_for_any_ranks_and_workers_at_any_point(store: Store, whole: Whole) -> None:
    draw = random.Random(0)
    ways = [(ranks, workers) for ranks in (1, 2, 3, 4) for workers in (0, 2, 4)]
    for number in range(POINTS):
        ranks, workers = ways[number % len(ways)]
        follow(store, whole, draw.randrange(240), ranks, workers, 4)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2, 4])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_the_order_is_that_of_one_rank_at_fifty_points_each(
    store: Store, whole: Whole, ranks: int, workers: int
) -> None:
    draw = random.Random(ranks * 10 + workers)
    for _ in range(POINTS):
        follow(store, whole, draw.randrange(240), ranks, workers, 6)


def test_an_order_is_its_seeds_and_epochs_own(store: Store) -> None:
    first, again, other = (list(feed(store, seed=seed, epochs=2)) for seed in (1, 1, 2))
    assert items_of(first) == items_of(again)
    assert items_of(first) != items_of(other)
    epochs = [[item % COUNT for item in items_of(first) if item // COUNT == epoch] for epoch in (0, 1)]
    assert epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(COUNT))


def test_no_row_is_lost_or_given_twice_over_three_resumes(store: Store) -> None:
    draw, state, given = random.Random(3), feed(store).state(), list[Batch]()
    for stretch in range(4):
        one = feed(store, epochs=3, workers=2 * (stretch % 2))
        one.resume(json.loads(json.dumps(state)))
        given += islice(one, draw.randrange(20, 120)) if stretch < 3 else one
        state = one.state()
    assert [said([one]) for one in given] == [said([one]) for one in feed(store, epochs=3)]
    assert sorted(items_of(given)) == list(range(3 * COUNT))


def test_what_workers_made_ahead_does_not_count_as_given(store: Store, whole: Whole) -> None:
    one = feed(store, workers=4)
    batches = iter(one)
    next(batches)
    time.sleep(0.3)
    assert json.dumps(one.state()) == whole.states[1]


def test_a_place_is_found_again_by_planning_one_pool(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = list[int]()

    def counting(places: Any, *rest: Any) -> Any:
        planned.append(len(places))
        return permuted(places, *rest)

    permuted = bough.data.feeding.plan.permuted
    one = feed(store)
    _, *_ = islice(one, 400)
    state = one.state()
    monkeypatch.setattr(bough.data.feeding.plan, "permuted", counting)
    later = feed(store)
    later.resume(state)
    assert planned == []
    next(iter(later))
    assert len(planned) == 1
    assert planned[0] < COUNT


def test_feeds_that_are_left_and_entered_again_go_on(store: Store, whole: Whole) -> None:
    one = feed(store)
    given = [said([batch]) for _ in range(5) for batch in islice(one, 10)]
    assert given == whole.batches[:50]
    one.begin()
    assert said([next(iter(one))]) == whole.batches[0]


def test_a_feed_without_shuffling_gives_each_item_once_pool_by_pool(store: Store) -> None:
    items = items_of(list(feed(store, shuffle=False, epochs=1)))
    assert sorted(items) == list(range(COUNT))
    apart = [abs(item - place) for place, item in enumerate(items)]
    assert max(apart) < 2700, "an item is no further from its place than a pool, and what it left, is long"
    assert items_of(list(feed(store, shuffle=False, epochs=1))) == items


# Fill


@pytest.mark.parametrize("budget", [1024, 4096, 16384])
def test_batches_of_sentences_use_their_budget(store: Store, budget: int) -> None:
    fill = [batch.tokens / budget for batch in islice(feed(store, budget), 40)]
    assert max(fill) <= 1
    assert np.mean(fill) >= 0.97


def test_an_epoch_alone_uses_its_budget_but_for_its_last_batch(store: Store) -> None:
    fill = sorted(batch.tokens / 512 for batch in feed(store, 512, epochs=1))
    assert min(fill[1:]) >= 0.97


@pytest.mark.parametrize("budget", [1024, 4096, 16384])
def test_batches_of_paragraphs_and_of_blocks_use_their_budget(tmp_path: Path, budget: int) -> None:
    paragraphs = [min(one, 500) for one in lengths(400, PARAGRAPH)]
    documents = stock(tmp_path / "documents", lengths(60, (800, 1.0)))
    kinds: list[Items] = [
        Rows(stock(tmp_path / "paragraphs", paragraphs)),
        Blocks(documents, 254),
        Blocks(documents, 126, "join", separator=2),
    ]
    for items in kinds:
        fill = [batch.tokens / budget for batch in islice(feed(items, budget), 2**18 // budget)]
        assert max(fill) <= 1
        assert np.mean(fill) >= 0.97


def test_ranks_have_shares_that_are_nearly_even(store: Store) -> None:
    shares = zip(*(feed(store, 4096, epochs=1, rank=rank, ranks=4) for rank in range(4)), strict=True)
    for tokens in ([one.tokens for one in parts] for parts in shares):
        assert sum(tokens) <= 4096
        assert max(tokens) - min(tokens) <= 2 * 100


# What is refused


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            lambda store: feed(store, 60),
            "takes 1,002 tokens, and a batch has room for 60; raise the budget, or cut texts by a limit",
        ),
        (
            lambda store: feed(store, 10**6),
            "data: has 1,143 tokens, fewer than the 1,000,000 of a batch; add data, or lower the budget",
        ),
        (lambda store: feed(store, rank=2, ranks=2), "rank: 2 is none of 2; ranks count from 0"),
        (lambda store: Blocks(store, 0), "length: blocks of 0 tokens hold nothing; give 1 or more"),
        (
            lambda store: Lanes(store, 2000, 4),
            "lanes: 1,125 tokens cannot fill 2,000 lanes; ask for fewer",
        ),
        (
            lambda store: feed(Lanes(store, 10, 300), 1000),
            "and a batch has room for 1,000; raise the budget, or ask for fewer or shorter ones",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_fed_is_refused_at_once(tmp_path: Path, made: Any, said: str) -> None:
    with pytest.raises(BoughError) as caught:
        made(stock(tmp_path / "store", [5, 50, 1000, 20, 20, 10, 5, 10, 5]))
    assert str(caught.value).endswith(said)
    assert caught.value.exit_code == 2


def test_nothing_cannot_be_fed(tmp_path: Path) -> None:
    with pytest.raises(BoughError, match=r"^data: holds nothing to make batches of; name files that have some$"):
        feed(stock(tmp_path / "store", []))


@pytest.mark.parametrize("name", ["data", "tokenizer", "settings"])
def test_a_place_in_another_corpus_is_refused_and_what_differs_is_named(tmp_path: Path, name: str) -> None:
    same = {"data": "1" * 64, "tokenizer": "2" * 64, "settings": "3" * 64}
    one, other = (
        feed(stock(tmp_path / str(number), [20] * 100, fingerprints=prints))
        for number, prints in enumerate((same, {**same, name: "f" * 64}))
    )
    with pytest.raises(ArtefactError) as caught:
        other.resume(one.state())
    assert str(caught.value) == (
        f"state: fingerprint mismatch, because {name} was {same[name][:12]} and is {'f' * 12}; "
        "resume with what the run began with, or begin anew"
    )
    assert caught.value.exit_code == 3


def test_a_place_in_other_batches_is_refused(store: Store) -> None:
    state = feed(store).state()
    for other in (feed(store, 2000), feed(store, seed=8), feed(store, shuffle=False), feed(Blocks(store, 20))):
        with pytest.raises(
            ArtefactError, match=r"^state: fingerprint mismatch, because (budget|seed|shuffle|length) was "
        ):
            other.resume(state)
    with pytest.raises(ArtefactError, match="tokens was "):
        Feed(Rows(store), Plain(around=1), BUDGET, 7).resume(state)


@pytest.mark.parametrize(
    "state", [{}, {"made_of": 3}, {"made_of": {}, "epoch": "x", "pool": 0, "batch": 0, "left": []}]
)
def test_what_is_no_place_is_refused(store: Store, state: dict[str, Any]) -> None:
    with pytest.raises(ArtefactError, match=r"^state: does not say where a feed stands; begin anew$"):
        feed(store).resume(state)


@pytest.mark.parametrize(
    "wrong", [{"pool": 99}, {"pool": -1}, {"epoch": -1}, {"batch": -1}, {"left": [COUNT]}, {"left": [-1]}]
)
def test_a_place_that_is_not_there_is_refused(store: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(ArtefactError, match=r"^state: does not say where a feed stands; begin anew$"):
        feed(store).resume({**feed(store).state(), **wrong})


# Workers


def children() -> list[int]:
    return [one.pid for one in multiprocessing.active_children() if one.pid]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_killed_worker_is_told_at_once_whosever_turn_it_is(store: Store, whole: Whole, number: int) -> None:
    one = feed(store, workers=3)
    batches = iter(one)
    given = [said([next(batches)]) for _ in range(4)]
    os.kill(children()[number], signal.SIGKILL)
    time.sleep(0.2)
    began = time.monotonic()
    with pytest.raises(ResourceError) as caught:
        next(batches)
    assert time.monotonic() - began < 10
    assert str(caught.value) == (
        "workers: one was killed (SIGKILL), as the system does where memory is short; "
        "ask for fewer workers (0 needs none) or a smaller budget"
    )
    assert caught.value.exit_code == 4
    assert children() == []
    after = feed(store)
    after.resume(one.state())
    given += (said([batch]) for batch in islice(after, 10))
    assert given == whole.batches[: len(given)]


class Dying(Plain):
    """Is killed at some item."""

    def __call__(self, examples: Sequence[Example], items: Sequence[int], draw: Draw) -> Batch:
        if 123 in items:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(examples, items, draw)


@pytest.mark.timeout(30)
def test_a_worker_that_is_killed_while_it_is_waited_for_is_told(store: Store) -> None:
    with pytest.raises(ResourceError, match=r"^workers: one was killed \(SIGKILL\)"):
        for _ in Feed(Rows(store), Dying(), BUDGET, workers=2):
            pass
    assert children() == []


class Failing(Plain):
    """Fails at some item."""

    def __call__(self, examples: Sequence[Example], items: Sequence[int], draw: Draw) -> Batch:
        if 123 in items:
            raise BoughError("item 123: is odd")
        return super().__call__(examples, items, draw)


class Broken(Plain):
    """Fails as no one foresaw."""

    def __call__(self, examples: Sequence[Example], items: Sequence[int], draw: Draw) -> Batch:
        raise ZeroDivisionError("broken")


def test_what_goes_wrong_in_a_worker_is_told_as_it_would_be_without(store: Store) -> None:
    counts = list[int]()
    for workers in (0, 2):
        given = list[Batch]()
        with pytest.raises(BoughError, match=r"^item 123: is odd$"):
            given.extend(Feed(Rows(store), Failing(), BUDGET, workers=workers))
        counts.append(sum(1 for _ in given))
    assert counts[0] == counts[1]
    with pytest.raises(RuntimeError, match=r"(?s)a worker failed.*ZeroDivisionError: broken"):
        next(iter(Feed(Rows(store), Broken(), BUDGET, workers=2)))
    assert children() == []


def test_a_feed_that_is_left_leaves_no_process_and_nothing_shared(store: Store) -> None:
    shared = set(Path("/dev/shm").iterdir())
    for batch in feed(store, workers=4):
        assert len(children()) == 4
        assert batch.inputs.ids.numel()
        break
    del batch
    assert children() == []
    assert set(Path("/dev/shm").iterdir()) <= shared


PROGRAM = """
import multiprocessing, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from stocks import Plain
from bough.data.feeding.feed import Feed
from bough.data.feeding.items import Rows
from bough.data.storing.store import Store

for batch in Feed(Rows(Store(Path(sys.argv[1]))), Plain(), 1000, workers=3):
    print(*(one.pid for one in multiprocessing.active_children()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_leave_when_their_program_is_killed(store: Store) -> None:
    command = [sys.executable, "-c", PROGRAM, str(store.folder), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    pids = done.stdout.split()
    assert len(pids) == 3
    until = time.monotonic() + 20
    while any(_alive(pid) for pid in pids):
        assert time.monotonic() < until, "they are still there"
        time.sleep(0.05)


HANDLING = """
import signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from stocks import Plain
from bough.data.feeding.feed import Feed
from bough.data.feeding.items import Rows
from bough.data.storing.store import Store

signal.signal(signal.SIGTERM, lambda *_: None)
batches = iter(Feed(Rows(Store(Path(sys.argv[1]))), Plain(), 1000, workers=2))
next(batches)
"""


def test_a_program_that_handles_signals_and_leaves_a_feed_open_can_end(store: Store) -> None:
    command = [sys.executable, "-W", "error", "-c", HANDLING, str(store.folder), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def _alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_a_worker_is_given_can_travel_to_a_process_that_shares_nothing(store: Store) -> None:
    for items in (Rows(store), Blocks(store, 40), Lanes(store, 3, 20)):
        one = feed(items)
        sent = pickle.dumps(one._make)
        assert len(sent) < 5000
        numbers = np.array([5, 0])
        assert said([pickle.loads(sent)(numbers)]) == said([one._make(numbers)])


# Blocks and lanes

SOME = st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any)
EACH = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10, deadline=None)


def every(items: Items, epoch: int = 0) -> list[Example]:
    found = [items.get(number, epoch) for number in range(len(items))]
    sizes = items.lengths(np.arange(len(items)), epoch)["ids"]
    assert sizes.tolist() == [len(ids(one)) for one in found]
    return found


def joined(found: Sequence[Example]) -> list[int]:
    return [token for one in found for token in ids(one)]


@EACH
@given(SOME, st.integers(1, 12), st.integers(0, 3), st.sampled_from([None, 2]))
def test_blocks_hold_every_token_of_every_document_once(
    tmp_path: Path, sizes: list[int], length: int, epoch: int, separator: int | None
) -> None:
    store = stock(tmp_path / "store", sizes)
    end = [] if separator is None else [separator]
    documents = [[*store.ragged["ids"][row].tolist(), *end] for row in range(len(store))]
    for boundaries in ("keep", "join"):
        found = every(Blocks(store, length, boundaries, separator), epoch)
        assert joined(found) == [token for document in documents for token in document]
        assert all(1 <= len(ids(one)) <= length for one in found)
        begins = [mark for one in found for mark in np.asarray(one["begins"]).tolist()[: len(ids(one))]]
        assert begins == [int(not place) for document in documents for place in range(len(document))]
        assert all(len(np.asarray(one["starts"])) == len(ids(one)) for one in found)
        if boundaries == "keep":
            inside = [mark for one in found for mark in np.asarray(one["begins"]).tolist()[1 : len(ids(one))]]
            assert not any(inside), "no block reaches over the end of a document"


@pytest.mark.parametrize("boundaries", ["join", "keep"])
@pytest.mark.parametrize("cut", ["joined", "kept", "lanes"])
def test_every_token_of_a_stream_is_said_once_wherever_it_is_cut(
    tmp_path: Path, cut: str, boundaries: Literal["join", "keep"]
) -> None:
    sizes = [7, 30, 1, 25, 40]
    store = stock(tmp_path / "store", sizes)
    items = {
        "joined": Blocks(store, 9, "join"), "kept": Blocks(store, 9), "lanes": Lanes(store, 3, 9)
    }[cut]  # fmt: skip
    numbers = list(range(len(items)))
    batch = Collation(Wrap(Template(((), ()), ((), ()), (0,))), (Next(boundaries),))(every(items), numbers, Draw(0))
    stream = joined(every(Blocks(store, 10**6, "join")))
    first = {number for number, _ in enumerate(stream) if number in np.cumsum([0, *sizes])}
    unsaid = {0} if (cut, boundaries) in (("joined", "join"), ("lanes", "join")) else first
    read = stream[: len(items) * 9] if cut != "lanes" else stream[: len(stream) // 3 * 3 + 1]
    expected = [token for number, token in enumerate(read) if number not in unsaid]
    assert sorted(batch.goals["words"].tolist()) == sorted(expected)


def test_blocks_are_found_among_many_documents(tmp_path: Path) -> None:
    sizes = [size % 23 for size in range(300)]
    blocks = Blocks(stock(tmp_path / "store", sizes), 5)
    assert len(blocks) == sum(-(-size // 5) for size in sizes)
    assert joined(every(blocks, 2)) == blocks.store.ragged["ids"].flat.tolist()


def test_cuts_lie_elsewhere_in_every_epoch_but_no_document_makes_more_blocks(tmp_path: Path) -> None:
    blocks = Blocks(stock(tmp_path / "store", [95] * 10), 10)
    cuts = [[len(ids(one)) for one in every(blocks, epoch)] for epoch in range(4)]
    assert cuts[0] == [10] * 9 + [5] + cuts[0][10:], "the first epoch begins with whole blocks"
    assert len({tuple(one) for one in cuts}) == 4
    assert len(blocks) == 10 * 10


def test_lanes_are_read_in_order_stretch_by_stretch(tmp_path: Path) -> None:
    store = stock(tmp_path / "store", [7, 30, 1, 0, 25, 40])
    stream = joined(every(Blocks(store, 10**6, "join", separator=3)))
    batches = list(feed(Lanes(store, 4, 6, separator=3), 100, epochs=1))
    each = len(stream) // 4
    for lane in range(4):
        read = [token for batch in batches for token in batch.inputs.split(batch.inputs.ids)[lane].tolist()[1:-1]]
        assert read == stream[lane * each : (lane + 1) * each]
    assert [batch.inputs.lengths for batch in batches[:-1]] == [(8, 8, 8, 8)] * (len(batches) - 1)


def test_lanes_say_where_a_document_begins(tmp_path: Path) -> None:
    lanes = Lanes(stock(tmp_path / "store", [7, 30, 1, 0, 25, 40]), 1, 200)
    (only,) = every(lanes)
    assert np.flatnonzero(only["begins"]).tolist() == [0, 7, 37, 38, 63]


def test_every_rank_keeps_its_lanes(store: Store) -> None:
    lanes = Lanes(store, 6, 40)
    whole = [said([one]) for one in islice(feed(lanes), 20)]
    shares = [list(islice(feed(lanes, rank=rank, ranks=3), 20)) for rank in range(3)]
    assert [said(parts) for parts in zip(*shares, strict=True)] == whole
    assert all(item % 6 in (2 * rank, 2 * rank + 1) for rank in range(3) for item in items_of(shares[rank]))
    one = feed(lanes)
    _ = list(islice(one, 7))
    later = feed(lanes)
    later.resume(one.state())
    assert said([next(iter(later))]) == whole[7]


# At size


@dataclass(frozen=True)
class Huge:
    """A hundred million items, of which none exists until it is asked for."""

    count: int = 10**8
    lanes = None
    made_of: Any = None

    def __len__(self) -> int:
        return self.count

    def lengths(self, numbers: Any, epoch: int) -> Lengths:
        return {"ids": 5 + numbers % 40}

    def get(self, number: int, epoch: int) -> Example:
        return {"ids": np.full(5 + number % 40, 7)}


def test_a_hundred_million_items_take_no_more_memory_than_a_hundred_thousand() -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        one = feed(Huge(count, {}), 4096)
        assert len(list(islice(one, 3))) == 3
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(10**8) < 1.2 * peak(10**5)
