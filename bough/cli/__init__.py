"""The room of the command: a module for each verb, and here what they share, such as how a failure ends.

Nothing here loads torch before a verb has work for it, so that help comes at once.
"""

from __future__ import annotations

import contextlib
import errno
import re
import signal
import sys
import traceback
from collections.abc import Generator, Sequence
from types import FrameType
from typing import Annotated, Any

import typer

from bough import __version__
from bough.cli import terminal
from bough.cli.bench import bench
from bough.cli.check import check
from bough.cli.convert import convert
from bough.cli.data import data
from bough.cli.demo import demo
from bough.cli.diff import diff
from bough.cli.embed import embed
from bough.cli.families import families
from bough.cli.tokenizer import tokenizer
from bough.cli.verify import verify
from bough.errors import BoughError

__all__ = ["app", "main"]

RAN_OUT = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
MEMORY = re.compile("out of memory|can't allocate memory", re.IGNORECASE)
"""How torch says it, on every device, in errors that have no type of their own."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
for verb in (demo, families, diff, convert, verify, embed, check, bench):
    app.command()(verb)
app.add_typer(data, name="data")
app.add_typer(tokenizer, name="tokenizer")


def _version(wanted: bool) -> bool:
    if wanted:
        terminal.line(f"bough {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def bough(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_version)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure; after a verb too.")] = False,
) -> None:
    """The transformer tree of life: read, compare, convert, prove and run any of its branches."""
    # `main` takes --debug out of the line wherever it stands; it is named here for the help's sake.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the answer is its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    ours = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in ours
    line = [one for one in ours if one != "--debug"] + given[len(ours) :]
    try:
        with _terminated():
            code = app(line or ["--help"], prog_name="bough", standalone_mode=False)
            terminal.flush()
            return code or 0
    except terminal.Gone:
        terminal.silence()
        return 0
    except SystemExit as end:
        if end.code != 1:
            raise
        return 0  # The help has a console of its own, which ends so when its reader has gone.
    except Exception as error:  # noqa: BLE001  # the shell gets a line and a code, whatever happened
        if debug:
            traceback.print_exception(error)
        code, message = _failure(error)
        terminal.complain(message)
        return code


def _failure(error: Exception) -> tuple[int, str]:
    """The exit code of a failure, and what it says on its one line."""
    match error:
        case BoughError():
            return error.exit_code, str(error)
        case typer.TyperException():
            path = getattr(getattr(error, "ctx", None), "command_path", "bough")
            said = error.format_message()
            return error.exit_code, f"{said}{'' if said.endswith(('.', '?')) else '.'} See `{path} --help`."
        case MemoryError():
            return 4, "out of memory; give it less at once, or a smaller model"
        case RuntimeError() if MEMORY.search(str(error)):
            return 4, f"out of memory ({str(error).splitlines()[0]}); give it less at once, or a smaller model"
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return 4 if error.errno in RAN_OUT else 2, f"{place}{error.strerror or error}"
        case _:
            return 1, f"this is a fault of ours ({type(error).__name__}: {error}); --debug shows where"


@contextlib.contextmanager
def _terminated() -> Generator[None]:
    """While this lasts, SIGTERM ends the work as an exception does, so that what it was writing is cleaned up."""

    def end(number: int, frame: FrameType | None) -> Any:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
