"""Processes that work ahead: each has one task in hand, and answers come in the order of the tasks.

Nothing is shared but a pipe for each, so that one that is killed is noticed at once and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import pickle
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import torch
from torch import Tensor

from bough.errors import ArtefactError, BoughError, ResourceError

T = TypeVar("T")
A = TypeVar("A")

REMEDY = "ask for fewer workers (0 needs none) or a smaller budget"


def ahead(make: Callable[[T], A], tasks: Iterable[T], count: int) -> Iterator[A]:
    """What `make` makes of each task, in order, by so many processes; a task is taken up before its turn has come."""
    crew: list[_Worker] = []
    try:
        crew += (_Worker(make) for _ in range(count))
        busy = deque[_Worker]()
        for task, worker in zip(tasks, cycle(crew), strict=False):
            for one in crew:
                one.check()
            answers = [busy.popleft().taken()] if len(busy) == count else []
            worker.give(task)
            busy.append(worker)
            yield from answers
        for worker in busy:
            yield worker.taken()
    finally:
        for worker in crew:
            worker.end()


class _Worker:
    """One process, and this end of its pipe."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_work, args=(make, theirs, self._pipe), daemon=True)
        try:
            self._process.start()
        except OSError as error:
            raise ResourceError(f"workers: one cannot be started ({error.strerror}); {REMEDY}") from None
        # Open nowhere else, so that the pipe breaks when the process ends.
        theirs.close()

    def check(self) -> None:
        """Raise where it has ended, though its turn is not yet."""
        if not self._process.is_alive():
            raise self._lost()

    def give(self, task: Any) -> None:
        """Have it do this, which it can take up at once."""
        try:
            self._pipe.send(task)
        except OSError:
            raise self._lost() from None

    def taken(self) -> Any:
        """What it made of its task."""
        try:
            content = self._pipe.recv_bytes()
        except (EOFError, OSError):
            raise self._lost() from None
        answer = pickle.loads(content)  # noqa: S301  # from our own process
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        """Be rid of it. It holds nothing that a sudden end could spoil."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()

    def _lost(self) -> ResourceError:
        """What befell it."""
        self._process.join()
        code = self._process.exitcode or 0
        how = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended (exit {code})"
        why = ", as the system does where memory is short" if code == -signal.SIGKILL else ""
        return ResourceError(f"workers: one {how}{why}; {REMEDY}")


def _work(make: Callable[[Any], Any], pipe: Connection, other: Connection) -> None:
    """What a process does: answer each task until there is nobody to ask."""
    # A copy of the other end, which would keep the pipe whole when that one is gone.
    other.close()
    # An interrupt is for the program, whose own ways with signals came along.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)
    with contextlib.suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            pipe.send_bytes(_pickled(_answer(make, task)))


def _answer(make: Callable[[Any], Any], task: Any) -> Any:
    """What comes of a task, or the error to raise where it is waited for."""
    try:
        return make(task)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told
        # Other kinds may need more than their message to be made again.
        known = type(error) in (BoughError, ArtefactError, ResourceError)
        return error if known else RuntimeError(f"a worker failed\n{traceback.format_exc()}")


class _Pickler(pickle.Pickler):
    """Sends tensors by value; torch's own way shares memory that has to be cleared up."""

    def reducer_override(self, one: Any) -> Any:
        if isinstance(one, Tensor):
            return torch.from_numpy, (one.numpy(),)
        return NotImplemented


def _pickled(answer: Any) -> bytes:
    content = io.BytesIO()
    _Pickler(content, pickle.HIGHEST_PROTOCOL).dump(answer)
    return content.getvalue()
