"""`bough diff`: what differs between two architectures, in sentences, from the large to the small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bough.cli import terminal
from bough.cli.names import unknown
from bough.cli.options import AllowPickle, Json
from bough.cli.words import alike, kind, sentence
from bough.families import FAMILIES, preset
from bough.record import Difference, plain
from bough.spec import Causal, Full, Spec

One = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A family, a preset, or a checkpoint's folder or hub id.", show_default=False),
]

EPSILONS = ("norm.epsilon", "embedding.norm.epsilon", "outputs.words.transform.norm.epsilon")
MOMENTA = ("norm.momentum", "embedding.norm.momentum", "outputs.words.transform.norm.momentum")
DROPOUTS = (
    *("embedding.dropout", "attention.weights_dropout", "attention.dropout", "feed.inner_dropout", "feed.dropout"),
    *("dropout", "outputs.pair.dropout", "outputs.classify.hidden_dropout", "outputs.classify.dropout"),
    *("outputs.tag.dropout", "outputs.span.dropout"),
)
GROUPS = {
    "What it sees": ("embedding.patches", "encoder", "attention.mask", "recurrence"),
    "Positions": ("embedding.positions", "attention.relative", "embedding.patches.grid"),
    "Layers": ("placement", "norm", "sharing", "feed", "attention", *EPSILONS),
    "Sizes": (
        *("width", "depth", "encoder.depth", "heads", "encoder.heads", "attention.width", "feed.inner"),
        *("encoder.inner", "vocabulary", "encoder.vocabulary", "embedding.positions.size"),
    ),
    "Embedding": ("embedding",),
    "Outputs": ("outputs", "encoder.start", "vector"),
    "Training": (*DROPOUTS, *MOMENTA, "initial"),
    "Files": ("family",),
}
"""What differs under which heading, from the large to the small; a path goes with the longest of these it is under."""
ORDER = [(heading, path) for heading, paths in GROUPS.items() for path in paths]

ONLY_OF_WORDS = (
    *("vocabulary", "embedding.segments", "embedding.languages", "embedding.width", "embedding.scaled"),
    *("embedding.clusters", "outputs.words"),
)
"""What an architecture that reads pictures cannot have."""


def diff(a: One, b: One, json: Json = False, allow_pickle: AllowPickle = False) -> None:
    """Say what differs between two architectures: families, presets or checkpoints.

    A family stands for the first of its published presets. A folder that has the name of a preset is written ./NAME.
    """
    ours, theirs = _architecture(a, allow_pickle), _architecture(b, allow_pickle)
    called = _called(a, b, ours, theirs)
    if json:
        terminal.document(
            [
                {"path": one.path, "a": plain(one.ours), "b": plain(one.theirs), "says": sentence(one, *called)}
                for one in ours.diff(theirs)
            ]
        )
        return
    terminal.show(*told(ours, theirs, *called))


def told(ours: Spec, theirs: Spec, ours_called: str, theirs_called: str) -> Iterator[RenderableType]:
    """What differs, as a reader wants it: what kind of machine each is, then sentences under headings."""
    if ours == theirs:
        names = Text(ours_called, "bold"), " and ", Text(theirs_called, "bold")
        yield Text.assemble(*names, " are one architecture: nothing differs.")
        return
    yield from _essence(ours, theirs, ours_called, theirs_called)
    yield ""
    found = _grouped(ours, theirs, ours_called, theirs_called)
    for heading, sentences in found.items():
        yield Text(heading, "bold")
        rows = Table.grid(padding=(0, 1))
        for says in sentences:
            rows.add_row(Text("•", "green"), Text(says))
        yield rows
    if not found:
        yield Text("Nothing else differs but what follows from that.")


def _essence(ours: Spec, theirs: Spec, ours_called: str, theirs_called: str) -> Iterator[Text]:
    """What kind of machine each is, and how large."""
    one, other = kind(ours), kind(theirs)
    ours_named, theirs_named = Text(ours_called, "bold"), Text(theirs_called, "bold")
    if one.both == other.both:
        yield Text.assemble(ours_named, " and ", theirs_named, f" {one.both}: {one.that_is}.")
    else:
        yield Text.assemble(ours_named, f" {one.alone}: {one.that_is}.")
        yield Text.assemble(theirs_named, f" {other.alone}: {other.that_is}.")
    a, b = f"{ours.parameters:,}", f"{theirs.parameters:,}"
    counted = f"{theirs_called} has {b} parameters where {ours_called} has {a}."
    yield Text(counted if a != b else f"Each has {a} parameters.")


def _grouped(ours: Spec, theirs: Spec, ours_called: str, theirs_called: str) -> dict[str, list[str]]:
    """The sentences under each heading, without what follows from what else is said."""
    differences = [one for one in ours.diff(theirs) if not _follows(one, ours, theirs)]
    if (_title(ours), _title(theirs)) == (ours_called, theirs_called) and ours.but(family=theirs.family) != theirs:
        # Their names say in whose files each is.
        differences = [one for one in differences if one.path != "family"]
    groups: dict[str, list[str]] = {}
    for first, *also in alike(sorted(differences, key=lambda one: place(one.path))):
        heading, _ = ORDER[place(first.path)]
        groups.setdefault(heading, []).append(sentence(first, ours_called, theirs_called, also))
    return groups


def place(path: str) -> int:
    """Where among the differences that of a path is told."""
    above = ((len(start), i) for i, (_, start) in enumerate(ORDER) if f"{path}.".startswith(f"{start}."))
    return max(above)[1]


def _follows(difference: Difference, ours: Spec, theirs: Spec) -> bool:
    """Whether a difference follows from another one, or from what kind of machine each is."""
    path, a, b = difference
    pictures = ours.embedding.patches, theirs.embedding.patches
    match path:
        case "encoder" | "embedding.patches":
            return True
        case "attention.mask":
            return {type(a), type(b)} == {Full, Causal}
        case "embedding.patches.shape":
            return kind(ours).both != kind(theirs).both
        case "embedding.positions.size":
            return all(pictures)
        case "attention.bias" | "attention.out_bias":
            return ours.attention.projected != theirs.attention.projected
        case _:
            return path in ONLY_OF_WORDS and any(pictures) and not all(pictures)


def _title(spec: Spec) -> str | None:
    return FAMILIES[spec.family].title if spec.family in FAMILIES else None


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
