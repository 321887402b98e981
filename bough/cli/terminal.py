"""What is written where: results to stdout, all else to stderr. A reader that has gone away is no failure."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Generator
from typing import Any, NoReturn

from rich.console import Console
from rich.text import Text

from bough.errors import one_line


class Gone(Exception):  # noqa: N818  # it is no error
    """Whoever was reading our results has closed them."""


class _Results(Console):
    def on_broken_pipe(self) -> NoReturn:
        raise Gone


def results() -> Console:
    """Where tables, trees and sentences go."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a character shows its number; that is also how JSON spells it.
        sys.stdout.reconfigure(errors="backslashreplace")
    return _Results(highlight=False)


def show(*parts: Any) -> None:
    """Tables, trees and texts, one under the other, without the blanks that would fill each row."""
    console = results()
    with console.capture() as caught:
        console.print(*parts, sep="\n")
    for row in caught.get().splitlines():
        line(row.rstrip())


def line(text: str) -> None:
    """One line of a result, as it is."""
    with _noticed():
        results().file.write(text + "\n")


def document(data: Any) -> None:
    """A result as one JSON document."""
    line(json.dumps(data, indent=2, ensure_ascii=False))


def flush() -> None:
    """Have what was written read, while its failing can still be noticed."""
    with _noticed():
        sys.stdout.flush()


def silence() -> None:
    """Send what is still to be written nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str) -> None:
    """A failure on one line."""
    said = Text.assemble(("bough: ", "bold red"), one_line(message))
    Console(stderr=True, highlight=False).print(said, soft_wrap=True)


@contextlib.contextmanager
def working(what: str) -> Generator[Callable[[str], None]]:
    """Say on a terminal what is being waited for, and take it back when it is there; it gives a way to say what now."""
    with Console(stderr=True).status(what) as status:
        yield status.update


def short(count: int) -> str:
    """A count in a few characters: 110M, 1.56B."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:#.3g}".rstrip(".") + unit
    return str(count)


@contextlib.contextmanager
def _noticed() -> Generator[None]:
    try:
        yield
    except BrokenPipeError:
        raise Gone from None
