"""`bough families`: the tree of life, one of its branches, or one size of a branch down to the last field."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, cast

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from bough.cli import terminal
from bough.cli.names import unknown
from bough.cli.options import Json
from bough.cli.words import phrase
from bough.families import FAMILIES, Family
from bough.record import FEW, Record, plain, show
from bough.settings import Refused
from bough.spec import UNTRAINED, Spec

LIMBS = {"encoder": "green", "decoder": "magenta", "encoder-decoder": "yellow"}
"""The limbs of the tree, each with its colour."""


def families(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A family or a preset; without one, the whole tree.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Draw the tree of life, or show one family, or one preset whole."""
    family = FAMILIES.get(name or "")
    holder = next((one for one in FAMILIES.values() if name in one.presets), None)
    if name and not family and not holder:
        raise unknown(name, "family or preset")
    if json:
        terminal.document(
            _of_family(family) if family
            else _of_preset(holder, name) if holder and name
            else [_of_family(one) for one in FAMILIES.values()]
        )  # fmt: skip
        return
    if not name:
        terminal.show(tree(FAMILIES))
    if family:
        terminal.show(*_family_page(family))
    if name and holder:
        terminal.show(*([""] if family else []), *_preset_page(holder, name))


def _of_preset(family: Family, name: str) -> dict[str, Any]:
    spec = family.preset(name)
    source = family.presets[name].source
    return {"preset": name, "family": family.name, "source": source, "parameters": spec.parameters, "spec": plain(spec)}


def _of_family(family: Family) -> dict[str, Any]:
    said = {
        key: getattr(family, key)
        for key in ("name", "title", "year", "paper", "parent", "branch", "adds", "model_type")
    }
    return {
        **said,
        "presets": [_of_preset(family, name) for name in family.presets],
        "heads": {
            head: [name for name, heads in family.architectures if head in heads] for head in family.outputs.present()
        },
        "settings": {rule.key: [] if isinstance(rule, Refused) else list(rule.paths) for rule in family.settings},
    }


def tree(families: Mapping[str, Family]) -> Tree:
    """The tree of life, limb by limb, the eldest first; what grew from another limb stands at the foot of its own."""
    sizes = sum(len(one.presets) for one in families.values())
    heading = Text.assemble(
        ("The transformer tree of life", "bold"), (f"  {len(families)} families, {sizes} presets", "dim")
    )
    drawn = Tree(heading, guide_style="dim")
    limbs = dict.fromkeys(one.branch for one in _eldest_first(families.values()))
    for limb in limbs:
        branch = drawn.add(Text(limb, f"bold {LIMBS[limb]}"), guide_style=LIMBS[limb])
        on_it = {one.name: one for one in families.values() if one.branch == limb}
        for root in _eldest_first(one for one in on_it.values() if one.parent not in on_it):
            _grow(branch, root, on_it, grew_from=families.get(root.parent or ""))
    return drawn


def _grow(tree: Tree, family: Family, limb: Mapping[str, Family], grew_from: Family | None = None) -> None:
    """The family as a bough, and on it those of its limb that grew from it; it is said where it grew from elsewhere."""
    sizes = Text(style="dim")
    for name in family.presets:
        sizes += Text.assemble(
            "  " if sizes else "", name, "\u00a0", (terminal.short(family.preset(name).parameters), "cyan")
        )
    title = Text.assemble((family.title, f"bold {LIMBS[family.branch]}"), (f"  {family.year}  {family.name}", "dim"))
    if grew_from:
        title += Text.assemble(("  grew from ", "dim"), (grew_from.title, LIMBS[grew_from.branch]))
    node = tree.add(Group(title, Text(family.adds), sizes))
    for child in _eldest_first(one for one in limb.values() if one.parent == family.name):
        _grow(node, child, limb)


def _eldest_first(families: Iterable[Family]) -> list[Family]:
    return sorted(families, key=lambda one: one.year)


def _family_page(family: Family) -> Iterator[RenderableType]:
    colour = LIMBS[family.branch]
    parent = f"grown from {FAMILIES[family.parent].title}" if family.parent else "a root of the tree"
    grew = ", ".join(one.title for one in _eldest_first(FAMILIES.values()) if one.parent == family.name)
    yield Text.assemble((family.title, f"bold {colour}"), (f"  {family.year}  {family.branch}", "dim"))
    yield Text(f"{parent}{f'; into {grew}' if grew else ''}")
    yield Text(family.adds)
    yield Text(family.paper, "italic")
    sizes = _table(
        "preset", parameters="right", layers="right", width="right", heads="right", vocabulary="right", longest="right"
    )
    for name in family.presets:
        spec = family.preset(name)
        layers = f"{spec.source.depth:,} + {spec.depth:,}" if spec.encoder else f"{len(spec.order):,}"
        shape = (f"{one:,}" for one in (spec.width, spec.heads, spec.vocabulary))
        longest = f"{spec.limit:,}" if spec.limit else "any"
        sizes.add_row(name, f"{spec.parameters:,}", layers, *shape, longest)
    heads = _table("head", **{"in files of": "left"})
    for head in family.outputs.present():
        heads.add_row(head, ", ".join(dict.fromkeys(name for name, own in family.architectures if head in own)))
    settings = _table("in config.json", decides="left")
    for rule in family.settings:
        if isinstance(rule, Refused):
            settings.add_row(
                rule.key, Text(f"must be {' or '.join(str(one) for one in rule.unless)}: {rule.why}", "dim")
            )
        else:
            settings.add_row(" or ".join((rule.key, *rule.also)), ", ".join(rule.paths))
    for table in (sizes, heads, settings):
        yield from ("", table)


def _preset_page(family: Family, name: str) -> Iterator[RenderableType]:
    spec, colour = family.preset(name), LIMBS[family.branch]
    size = (f"  {spec.parameters:,} parameters", (f"  a size of {family.title}; {family.presets[name].source}", "dim"))
    yield Text.assemble((name, f"bold {colour}"), *size)
    parts = _table("part", parameters="right", share="right")
    for part, count in _parts(spec).items():
        parts.add_row(part, f"{count:,}", f"{count / spec.parameters:.1%}")
    fields = _table("field", value="left", **{"that is, it": "left"})
    for path, value, said in _rows(spec):
        depth = path.count(".")
        fields.add_row("  " * depth + path.rsplit(".", 1)[-1], Text(value, "cyan"), Text(said, "dim"))
    for table in (parts, fields):
        yield from ("", table)


def _parts(spec: Spec) -> dict[str, int]:
    """How many parameters each part has; all blocks of a stack are one part."""
    counts: dict[str, int] = defaultdict(int)
    for name, shape in spec.tensors().items():
        if not name.endswith(UNTRAINED):
            counts[_part(name, spec)] += math.prod(shape)
    return counts


def _part(name: str, spec: Spec) -> str:
    """The part that a tensor is of."""
    first, second, *_ = name.split(".")
    if first == "outputs":
        return second
    if first == "encoder":
        return f"encoder's {_part(name.removeprefix('encoder.'), spec.source)}"
    blocks = f"{spec.blocks} blocks" if spec.blocks > 1 else "1 block"
    return {"embed": "embedding", "relative": "distances", "blocks": blocks, "norm": "last norm"}[first]


def _rows(record: Record, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Every path of a record, with what is there and what that means."""
    for name in record.__dataclass_fields__:
        path, value = prefix + name, getattr(record, name)
        if isinstance(value, Record):
            said = phrase(path, value)
            yield path, type(value).__name__ if said else "", said
            yield from _rows(value, f"{path}.")
        else:
            items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
            yield path, ", ".join(map(show, items)) if len(items) <= FEW else show(value), phrase(path, value)


def _table(first: str, **columns: Any) -> Table:
    """An open table: what each row is about, then a column for each thing said of it."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column(first, no_wrap=True)
    for name, side in columns.items():
        table.add_column(name, justify=side)
    return table
