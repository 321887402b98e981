"""The room of names: reversible rules between the tensors of a checkpoint file and ours, as data.

A rule is written with placeholders and expanded, for one architecture, into exact names: `{i}` is the block, of either
side, or the cluster of words; `{g}` and `{j}` are the same block as group and place within it, `{p}` is `weight` or
`bias`. Nothing is matched by pattern, so no rule can reach a name that it does not spell. The same table serves reading
and writing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
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
    """A second name for a tensor that another rule reads: may be absent, must agree where present, is not written.

    Several are stacked, as by a `Fuse`.
    """

    theirs: str | tuple[str, ...]
    ours: str


@dataclass(frozen=True)
class Shadow:
    """A second name that some readers look under: read only where the first is absent, written beside it."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Reshape:
    """The same numbers in another shape, which the architecture decides."""

    theirs: str
    ours: str
    shape: Shape | Callable[[Spec], Shape]


@dataclass(frozen=True)
class Constant:
    """A table that nobody trains: read where a file has it, computed where it has not."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Drop:
    """A constant that some files carry; neither needed nor written."""

    theirs: str


@dataclass(frozen=True)
class Only:
    """A rule for some architectures of a family."""

    when: Callable[[Spec], bool]
    rule: Rename | Transpose | Fuse | Alias | Shadow | Reshape | Constant | Drop


Rule = Rename | Transpose | Fuse | Alias | Shadow | Reshape | Constant | Drop
Written = Rule | Only
"""A rule as a family writes it down."""


def spelled(rule: Rule) -> tuple[str, ...]:
    """The names of theirs that a rule spells."""
    return rule.theirs if isinstance(rule.theirs, tuple) else (rule.theirs,)


def their_shape(rule: Rule, ours: Shape) -> Shape:
    """The shape that each of a rule's foreign tensors has, given the shape of ours."""
    match rule:
        case Transpose():
            return tuple(reversed(ours))
        case Fuse() | Alias():
            return (ours[0] // len(spelled(rule)), *ours[1:])
        case Reshape(shape=tuple() as shape):
            return shape
        case _:
            return ours


def expand(rules: Iterable[Written], spec: Spec) -> list[Rule]:
    """The rules that hold for this architecture, with exact names; a rule for a tensor it lacks is left out."""
    tensors = spec.tensors()
    exact = dict.fromkeys(one for rule in rules for one in written_out(rule, spec))
    live = [rule for rule in exact if isinstance(rule, Drop) or rule.ours in tensors]
    # A name can be a tensor of its own in one architecture and the second name of a tied one in another.
    own = {name for rule in live if not isinstance(rule, Alias) for name in spelled(rule)}
    return [rule for rule in live if not (isinstance(rule, Alias) and own.intersection(spelled(rule)))]


def written_out(rule: Written, spec: Spec) -> Iterator[Rule]:
    """A rule with its placeholders filled in for every block, whether or not the architecture has that tensor."""
    if isinstance(rule, Only):
        yield from written_out(rule.rule, spec) if rule.when(spec) else ()
        return
    if isinstance(rule, Reshape) and callable(rule.shape):
        rule = dataclasses.replace(rule, shape=rule.shape(spec))
    inner = spec.sharing.inner if isinstance(spec.sharing, Groups) else 1
    clusters = spec.embedding.clusters
    # A number that is none of a block, or of a cluster of words, spells names that no tensor has.
    for i in range(max(spec.blocks, spec.source.blocks, len(clusters.cutoffs) + 1 if clusters else 0)):
        for part in ("weight", "bias"):
            names = {"i": i, "g": i // inner, "j": i % inner, "p": part}
            yield _formatted(rule, names)


def _formatted(rule: Rule, names: dict[str, int | str]) -> Rule:
    if isinstance(rule, Drop):
        return Drop(rule.theirs.format(**names))
    several = tuple(name.format(**names) for name in spelled(rule))
    theirs = several if isinstance(rule.theirs, tuple) else several[0]
    return dataclasses.replace(rule, theirs=theirs, ours=rule.ours.format(**names))
