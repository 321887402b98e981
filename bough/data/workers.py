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
from collections.abc import Callable, Generator, Iterable, Iterator
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
        free, busy = deque(crew), deque[_Worker]()
        for task in tasks:
            answers = [] if free else [busy[0].taken()]
            busy.append(free.popleft() if free else busy.popleft())
            busy[-1].give(task)
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

    def give(self, task: Any) -> None:
        with self._noticed():
            self._pipe.send(task)

    def taken(self) -> Any:
        with self._noticed():
            answer = pickle.loads(self._pipe.recv_bytes())  # noqa: S301  # from our own process
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        """It holds nothing that a sudden end could spoil."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()

    @contextlib.contextmanager
    def _noticed(self) -> Generator[None]:
        try:
            yield
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode or 0
            how = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended (exit {code})"
            why = ", as the system does where memory is short" if code == -signal.SIGKILL else ""
            raise ResourceError(f"workers: one {how}{why}; {REMEDY}") from None


def _work(make: Callable[[Any], Any], pipe: Connection, other: Connection) -> None:
    """What a process does: answer each task until there is nobody to ask."""
    # A copy of the other end, which would keep the pipe whole when that one is gone.
    other.close()
    # An interrupt is for the program, which ends us when it has done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
