"""The verb bench: the same work side by side with the peers that are installed; measured or read back, then shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bough.cli import terminal
from bough.cli.options import Json
from bough.errors import BoughError, ResourceError
from bough.record import nearest

if TYPE_CHECKING:
    from bough.bench import Document

Sequences = Annotated[
    int | None, typer.Option(min=1, max=10**6, help="How many sequences encode reads; 256, or 128 when quick.")
]
Repeats = Annotated[int | None, typer.Option(min=1, max=1000, help="How many timed rounds; 5, or 2 when quick.")]
Preset = Annotated[str | None, typer.Option(metavar="NAME", help="The architecture of encode, where not its own.")]
Device = Annotated[str | None, typer.Option(help="Where the nets run: cpu, cuda or cuda:1; cpu unless said.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer sequences, lengths and rounds: a first look.")]
From = Annotated[Path | None, typer.Option("--from", metavar="FILE", help="Measure nothing; show what --out wrote.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep what was found, as JSON.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it into a .png, .svg or .pdf.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown instead of a table.")]


def bench(
    work: Annotated[str | None, typer.Argument(help="Which work, such as encode; every one where not said.")] = None,
    sequences: Sequences = None,
    repeats: Repeats = None,
    preset: Preset = None,
    device: Device = None,
    quick: Quick = False,
    source: From = None,
    out: Out = None,
    plot: Plot = None,
    as_markdown: AsMarkdown = False,
    as_json: Json = False,
) -> None:
    """Measure the same work with Bough and with the peers that are installed, and how cost grows, in turns, as ratios.

    The works are encode, beside peers; feed, batches beside a step of training; grow, the cost of each mask by length;
    recur, words behind a memory or without; tokenize, vocabularies learnt and text written in ids.
    """
    if as_markdown and as_json:
        raise BoughError("--markdown and --json: only one of them can be printed; leave one out")
    if source and (work or sequences or repeats or preset or device or quick):
        raise BoughError("--from shows what was measured before; leave out what says how to measure")
    if device and not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise BoughError(f"--device: must be cpu, cuda or such as cuda:1, not {device!r}")
    _check_targets(out, plot)
    document = _read(source) if source else _measured(work, sequences, repeats, preset, device, quick)
    if out:
        _write(out, document)
    if plot:
        from bough.bench.plot import plot as draw

        draw(document, plot)
    _print(document, as_markdown, as_json)


def _check_targets(out: Path | None, plot: Path | None) -> None:
    """Complain of what could not be written before minutes are spent on measuring it."""
    for option, path in (("--out", out), ("--plot", plot)):
        if path and not path.absolute().parent.is_dir():
            raise BoughError(f"{option}: there is no folder {path.absolute().parent}; make it first")
    if plot:
        from bough.bench.plot import required

        required()


def _measured(
    work: str | None, sequences: int | None, repeats: int | None, preset: str | None, device: str | None, quick: bool
) -> Document:
    import bough
    from bough import bench

    if work and work not in bench.WORKS:
        known = ", ".join(bench.WORKS)
        raise BoughError(f"there is no work {work!r}{nearest(work, [*bench.WORKS])}; there are {known}")
    if work in bench.OWN and (sequences or preset):
        raise BoughError(
            f"--sequences and --preset: {work} has sequences and an architecture of its own; leave them out"
        )
    architecture = bough.spec(preset) if preset else None
    effort = bench.Effort(sequences or (128 if quick else 256), architecture, device or "cpu", quick)
    chosen = {name: opened for name, opened in bench.WORKS.items() if work in (None, name)}
    with terminal.working("loading") as tell:
        return bench.bench(chosen, effort, repeats or (2 if quick else 5), tell)


def _read(path: Path) -> Document:
    from bough.bench import Document

    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BoughError(f"--from {path}: cannot be read ({error})") from None
    try:
        return Document.from_json(text)
    except BoughError as error:
        raise BoughError(f"--from {path}: is not what `bough bench --out` writes; {error}") from None


def _write(path: Path, document: Document) -> None:
    try:
        path.write_text(document.to_json())
    except OSError as error:
        raise ResourceError(f"--out {path}: cannot be written ({error.strerror})") from None


def _print(document: Document, as_markdown: bool, as_json: bool) -> None:
    from bough.bench.show import markdown, table

    if as_json:
        terminal.line(document.to_json().rstrip())
    elif as_markdown:
        terminal.line(markdown(document).rstrip())
    else:
        terminal.results().print(table(document))
