"""How an architecture, and each difference between two, is said in words; the words themselves are in `phrases`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from bough.cli.phrases import PHRASES, Of
from bough.record import Difference, Record, show
from bough.spec import Full, Patches, Spec


class Kind(NamedTuple):
    """What kind of machine an architecture is."""

    alone: str
    """What is said behind its name."""
    both: str
    """What is said behind the names of two of a kind; two that it is said of are of one kind."""
    that_is: str
    """What it means."""


def kind(spec: Spec) -> Kind:
    """What kind of machine it is: which limb it is of, and whether it reads words."""
    if spec.encoder:
        return Kind(
            f"is {_stacks(spec)}",
            "are an encoder and a decoder each",
            "one reads the source whole, the other looks at it and writes from left to right",
        )
    patches = spec.embedding.patches
    token, whole = ("token", "sequence") if not patches else ("piece", picture(patches))
    of, pieces = (f" of {whole}s", f" in pieces of {_by(patches.shape)}") if patches else ("", "")
    if isinstance(spec.attention.mask, Full):
        return Kind(f"is an encoder{of}{pieces}", f"are encoders{of}", f"each {token} sees the whole {whole}")
    return Kind(f"is a decoder{of}{pieces}", f"are decoders{of}", f"no {token} sees what follows it")


def picture(patches: Patches) -> str:
    """What is cut into these pieces."""
    return "video" if len(patches.grid) == 3 else "picture"


def sentence(difference: Difference, ours: str, theirs: str, also: Sequence[Difference] = ()) -> str:
    """What the second architecture does where the first does something else, there and wherever `also` says."""
    return _spoken(difference, ours, theirs, _listed([_known(one.path).what for one in (difference, *also)]))


def alike(differences: Iterable[Difference]) -> list[tuple[Difference, ...]]:
    """The differences in their order, those together that one sentence can say."""
    found: dict[str, tuple[Difference, ...]] = {}
    for one in differences:
        key = _spoken(one, "", "", "") if _known(one.path).what else one.path
        found[key] = (*found.get(key, ()), one)
    return list(found.values())


def phrase(path: str, value: Any) -> str:
    """What an architecture with this value does; empty for a part that only holds others."""
    said = _phrases(path, value)
    return _filled(said[0], value, _known(path).what) if said else ""


def _spoken(difference: Difference, ours: str, theirs: str, what: str) -> str:
    path, a, b = difference
    said, instead = _phrases(path, b), _phrases(path, a)
    if not said or not instead:
        return f"{path}: {show(a)} -> {show(b)}"
    return f"{theirs} {_filled(said[0], b, what)} where {ours} {_filled(instead[1], a, what)}."


def _stacks(spec: Spec) -> str:
    """An encoder and a decoder with how deep they are."""
    one, other = (f"{depth:,} layer{'s' if depth > 1 else ''}" for depth in (spec.source.depth, spec.depth))
    if one == other:
        return f"an encoder and a decoder, of {one} each"
    return f"an encoder of {one} and a decoder of {other}"


def _known(path: str) -> Of:
    found = PHRASES.get(path, {})
    return found if isinstance(found, Of) else Of(found, "")


def _phrases(path: str, value: Any) -> tuple[str, str] | None:
    said = _known(path).said
    return said.get(value) or said.get(type(value))


def _filled(text: str, value: Any, what: str) -> str:
    percent = f"{100 * value:g}%" if isinstance(value, float) else ""
    fields: dict[str, str] = {}
    if isinstance(value, Record):
        held = {name: getattr(value, name) for name in value.__dataclass_fields__}
        fields = {name: _by(one) or _said(one) for name, one in held.items()}
    return text.format(_said(value), percent=percent, by=_by(value), which=_which(value), what=what, **fields)


def _listed(names: Sequence[str]) -> str:
    """The first, the second and the third."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _by(value: Any) -> str:
    """What lies in several directions: 16 by 16."""
    return " by ".join(map(_said, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else ""


def _which(value: Any) -> str:
    """The clusters that something is true of, counted from one."""
    truths = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
    numbers = [str(number) for number, true in enumerate(truths, 1) if true]
    return f"cluster{'s' if len(numbers) > 1 else ''} {_listed(numbers)}" if numbers else "no cluster"


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        items = [_said(one) for one in cast("tuple[Any, ...]", value)]
        return ", ".join(items) if len(items) <= 6 else f"{', '.join(items[:4])} … {items[-1]} ({len(items)} in all)"
    return f"{value:,}" if isinstance(value, int) else show(value)
