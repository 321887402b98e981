"""`bough diff`: what differs between two architectures, in sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bough.cli import terminal
from bough.cli.names import unknown
from bough.cli.options import AllowPickle, Json
from bough.cli.words import sentence
from bough.families import FAMILIES, preset
from bough.record import plain
from bough.spec import Spec

One = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A family, a preset, or a checkpoint's folder or hub id.", show_default=False),
]


def diff(a: One, b: One, json: Json = False, allow_pickle: AllowPickle = False) -> None:
    """Say what differs between two architectures: families, presets or checkpoints.

    A family stands for the first of its published presets. A folder that has the name of a preset is written ./NAME.
    """
    ours, theirs = _architecture(a, allow_pickle), _architecture(b, allow_pickle)
    ours_called, theirs_called = _called(a, b, ours, theirs)
    said = [(one, sentence(one, ours_called, theirs_called)) for one in ours.diff(theirs)]
    if json:
        terminal.document(
            [{"path": d.path, "a": plain(d.ours), "b": plain(d.theirs), "says": says} for d, says in said]
        )
        return
    table = Table.grid(padding=(0, 1))
    for _, says in said:
        table.add_row(Text("•", "green"), says)
    sizes = ((ours_called, ours), (theirs_called, theirs))
    terminal.show(
        *(Text.assemble((name, "bold"), f" has {spec.parameters:,} parameters.") for name, spec in sizes),
        table if said else "They are one architecture: nothing differs.",
    )


def _architecture(name: str, allow_pickle: bool) -> Spec:
    if any(name in one.presets for one in FAMILIES.values()):
        return preset(name)
    if name in FAMILIES:
        return FAMILIES[name].published
    if not Path(name).exists() and "/" not in name:
        raise unknown(name, "family, preset or folder")
    from bough import checkpoints

    return checkpoints.load(name, allow_pickle=allow_pickle).spec


def _called(a: str, b: str, ours: Spec, theirs: Spec) -> tuple[str, str]:
    """What the two are called: by their families where those tell them apart, or else as they were given."""
    known = {name for one in FAMILIES.values() for name in (one.name, *one.presets)}
    if ours.family != theirs.family and {a, b} <= known:
        return FAMILIES[ours.family].title, FAMILIES[theirs.family].title
    short = (Path(a).resolve().name, Path(b).resolve().name)
    return short if len(set(short)) == 2 else (a, b)
