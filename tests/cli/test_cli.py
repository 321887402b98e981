"""The command as a whole: it answers at once, fails on one line with the right code, and leaves a pipe in peace."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from running import Run, command, in_a_process

import bough
from bough.cli import app, terminal
from bough.errors import ArtefactError, BoughError, ResourceError


def verbs(of: typer.Typer, above: str = "") -> dict[str, Any]:
    """Every verb, those of a group behind its name, and what runs it."""
    found = {above + one.callback.__name__: one.callback for one in of.registered_commands if one.callback}
    for group in of.registered_groups:
        found |= verbs(group.typer_instance, f"{above}{group.name} ")
    return found


VERBS = verbs(app)
COLOUR = re.compile(r"\x1b\[[\d;]*3[0-7]m")


def test_help_of_every_verb_loads_no_torch() -> None:
    script = (
        "import sys\nfrom bough.cli import main\n"
        f"for verb in {['', *VERBS]}:\n    assert main([*verb.split(), '--help']) == 0\n"
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["verify", "--help"]])
def test_help_answers_in_half_a_second(arguments: list[str]) -> None:
    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert in_a_process(*arguments).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    # The processor's seconds: on a busy machine the clock's would measure other work.
    assert min(seconds() for _ in range(5)) < 0.5


def test_without_a_verb_it_shows_the_help(run: Run) -> None:
    done = run()
    assert done.code == 0
    assert all(verb.split()[0] in done.out for verb in VERBS)


def test_it_says_its_version(run: Run) -> None:
    assert run("--version").out == f"bough {bough.__version__}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_json_and_says_what_it_does(run: Run, verb: str) -> None:
    help_text = run(*verb.split(), "--help").out
    assert "--json" in help_text
    assert VERBS[verb].__doc__


MISTAKES = {
    "familes": "No such command 'familes'. Did you mean 'families'? See `bough --help`.",
    "xyzzy": "No such command 'xyzzy'. See `bough --help`.",
    "families --jsn": "No such option: --jsn (Possible options: --json). See `bough families --help`.",
    "--debgu families": "No such option: --debgu (Possible options: --debug). See `bough --help`.",
    "families a b": "Got unexpected extra argument(s) (b). See `bough families --help`.",
    "families brt": "there is no family or preset 'brt'; did you mean 'bert'?; `bough families` lists them",
    "diff gpt gpt3": "there is no family, preset or folder 'gpt3'; did you mean 'gpt'?; `bough families` lists them",
    "verify": "Missing argument 'MODEL'. See `bough verify --help`.",
    "verify /nowhere": "/nowhere: there is no such folder",
    "embed /nowhere": "give texts, or --file with a text on each line, or - to read them from stdin; one of these",
    "embed /nowhere --file /nothing": "/nothing: No such file or directory",
}  # fmt: skip


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_in_the_line_is_one_line_and_code_two(run: Run, line: str) -> None:
    done = run(*line.split())
    assert (done.code, done.out, done.err) == (2, "", f"bough: {MISTAKES[line]}\n")


FAILURES = [
    (BoughError("this is wrong"), 2, "this is wrong"),
    (ArtefactError("that is corrupt"), 3, "that is corrupt"),
    (ResourceError("the disk is full"), 4, "the disk is full"),
    (MemoryError(), 4, "out of memory; give it less at once, or a smaller model"),
    (
        RuntimeError("DefaultCPUAllocator: can't allocate memory\nmore"),
        4,
        "out of memory (DefaultCPUAllocator: can't allocate memory); give it less at once, or a smaller model",
    ),
    (OSError(errno.ENOSPC, "No space left on device", "/x/y"), 4, "/x/y: No space left on device"),
    (PermissionError(errno.EACCES, "Permission denied", "/x/y"), 2, "/x/y: Permission denied"),
    (KeyError("width"), 1, "this is a fault of ours (KeyError: 'width'); --debug shows where"),
    (
        FileNotFoundError(errno.ENOENT, "No such file", "two\nlines and \x1b[31mred"),
        2,
        r"two\nlines and \x1b[31mred: No such file",
    ),
]


@pytest.mark.parametrize(("error", "code", "message"), FAILURES, ids=[repr(one) for one, _, _ in FAILURES])
def test_a_failure_is_one_line_and_has_its_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, message: str
) -> None:
    def fail(*parts: object) -> None:
        raise error

    monkeypatch.setattr(terminal, "show", fail)
    done = run("families")
    assert (done.code, done.out, done.err) == (code, "", f"bough: {message}\n")


@pytest.mark.parametrize("line", [["--debug", "families", "brt"], ["families", "brt", "--debug"]])
def test_a_traceback_comes_only_with_debug_before_the_verb_or_after_it(run: Run, line: list[str]) -> None:
    with_it, without = run(*line), run("families", "brt")
    assert "Traceback" in with_it.err
    assert "Traceback" not in without.err
    assert with_it.code == without.code == 2


def test_behind_two_dashes_debug_is_a_text_like_any_other(run: Run) -> None:
    assert "no family or preset '--debug'" in run("families", "--", "--debug").err


@pytest.mark.parametrize("line", [["families"], ["families", "--json"], ["families", "--help"]])
def test_a_closed_pipe_ends_it_quietly(line: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command(*line), stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_its_code_and_no_traceback(
    tmp_path: Path, encoder: Path, number: signal.Signals, code: int
) -> None:
    texts = tmp_path / "texts"
    os.mkfifo(texts)
    child = subprocess.Popen(command("embed", encoder, "--file", texts), stderr=subprocess.PIPE, text=True)
    # Opening a pipe waits for its other end: from here on the command is at work, and waits for us.
    with texts.open("wb"):
        time.sleep(0.1)
        child.send_signal(number)
        _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (code, "")


def test_colour_is_for_terminals_and_not_where_no_color_is_set(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("families").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert COLOUR.search(run("families").out)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(run("families").out)


@pytest.mark.parametrize("line", [["families"], ["families", "bert"], ["families", "gpt2-xl"], ["diff", "bert", "gpt"]])
def test_narrow_terminals_get_narrow_lines(run: Run, monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    rows = run(*line).out.splitlines()
    assert max(map(len, rows)) <= 60
    assert all(row == row.rstrip() for row in rows)


def test_a_terminal_without_the_characters_still_gets_an_answer() -> None:
    done = in_a_process("diff", "gpt", "gpt2", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "GPT-2 puts the norms in front of each sublayer where GPT puts them behind." in done.stdout
