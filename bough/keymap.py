"""The room of names: reversible rules between the tensors of a checkpoint file and ours, as data.

A rule is written with placeholders and expanded, for one architecture, into exact names: `{i}` is the block, `{g}` and
`{j}` the same block as group and place within the group, `{p}` is `weight` or `bias`. Nothing is matched by pattern, so
no rule can reach a name that it does not spell. The same table serves reading and writing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bough.spec import Groups, Shape, Spec


@dataclass(frozen=True)
class Rename:
    """The same tensor under another name."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Transpose:
    """The same matrix, stored with inputs before outputs."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Fuse:
    """Several of their tensors, stacked along the first dimension, are one of ours."""

    theirs: tuple[str, ...]
    ours: str


@dataclass(frozen=True)
class Alias:
    """A second name for a tensor that another rule reads: may be absent, must agree where present, is not written."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Shadow:
    """A second name that some readers look under: read only where the first is absent, written beside it."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Drop:
    """A constant that some files carry; neither needed nor written."""

    theirs: str


Rule = Rename | Transpose | Fuse | Alias | Shadow | Drop


def spelled(rule: Rule) -> tuple[str, ...]:
    """The names of theirs that a rule spells."""
    return rule.theirs if isinstance(rule.theirs, tuple) else (rule.theirs,)


def their_shape(rule: Rule, ours: Shape) -> Shape:
    """The shape that each of a rule's foreign tensors has, given the shape of ours."""
    match rule:
        case Transpose():
            return tuple(reversed(ours))
        case Fuse():
            return (ours[0] // len(rule.theirs), *ours[1:])
        case _:
            return ours


def expand(rules: Iterable[Rule], spec: Spec) -> list[Rule]:
    """The rules that hold for this architecture, with exact names; a rule for a tensor it lacks is left out."""
    tensors = spec.tensors()
    exact = dict.fromkeys(one for rule in rules for one in written_out(rule, spec))
    live = [rule for rule in exact if isinstance(rule, Drop) or rule.ours in tensors]
    # A name can be a tensor of its own in one architecture and the second name of a tied one in another.
    own = {name for rule in live if not isinstance(rule, Alias) for name in spelled(rule)}
    return [rule for rule in live if not (isinstance(rule, Alias) and rule.theirs in own)]


def written_out(rule: Rule, spec: Spec) -> Iterator[Rule]:
    """A rule with its placeholders filled in for every block, whether or not the architecture has that tensor."""
    inner = spec.sharing.inner if isinstance(spec.sharing, Groups) else 1
    for i in range(spec.blocks):
        for part in ("weight", "bias"):
            names = {"i": i, "g": i // inner, "j": i % inner, "p": part}
            yield _formatted(rule, names)


def _formatted(rule: Rule, names: dict[str, int | str]) -> Rule:
    if isinstance(rule, Fuse):
        theirs = tuple(name.format(**names) for name in rule.theirs)
        return Fuse(theirs, rule.ours.format(**names))
    if isinstance(rule, Drop):
        return Drop(rule.theirs.format(**names))
    return dataclasses.replace(rule, theirs=rule.theirs.format(**names), ours=rule.ours.format(**names))
