"""The engine of names: a family's rules, run over a file's tensors both ways; all that does not fit is said at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from bough.core import fresh
from bough.errors import BoughError
from bough.families.family import Family
from bough.keymap import Alias, Constant, Drop, Fuse, Reshape, Rule, Shadow, Transpose, expand, spelled, their_shape
from bough.spec import Shape, Spec

OLD_SPELLINGS = {".gamma": ".weight", ".beta": ".bias"}
"""How the first checkpoints, converted from elsewhere, named the two parts of a norm."""


@dataclass
class Fit:
    """How a file's tensors and an architecture's agree."""

    tensors: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    """Ours, filled."""
    missing: list[str] = field(default_factory=list[str])
    unexpected: list[str] = field(default_factory=list[str])
    misshaped: list[str] = field(default_factory=list[str])
    disagreeing: list[str] = field(default_factory=list[str])

    def complaint(self) -> str:
        """All that is wrong, on one line; empty where nothing is."""
        parts = {
            "missing": self.missing,
            "unexpected": self.unexpected,
            "misshaped": self.misshaped,
            "disagreeing": self.disagreeing,
        }
        return "; ".join(f"{len(names)} {kind}: {', '.join(names)}" for kind, names in parts.items() if names)


def canonical(names: Iterable[str], family: Family) -> dict[str, str]:
    """A file's names as the family's rules spell them, each with the name it has in the file."""
    spelt: dict[str, str] = {}
    for name in names:
        plain = name.removeprefix(family.prefix)
        for old, new in OLD_SPELLINGS.items():
            if plain.endswith(old):
                plain = plain.removesuffix(old) + new
        # A name that two of the file's come down to keeps its own spelling, and is then unexpected.
        spelt[name if plain in spelt else plain] = name
    return spelt


def fit(family: Family, spec: Spec, found: Mapping[str, Tensor], ignore: Collection[str] = ()) -> Fit:
    """Fill an architecture's tensors from a file's."""
    names = canonical((name for name in found if name not in ignore), family)
    rules = expand((*family.trunk, *family.heads), spec)
    known = {name for rule in rules for name in spelled(rule)}
    result = Fit(unexpected=sorted(own for name, own in names.items() if name not in known))
    shapes, absent = spec.tensors(), list[str]()
    seconds = _seconds(rules)
    for rule in rules:
        if isinstance(rule, Alias | Shadow | Drop):
            continue
        # Of equals the first: its own names before the second ones.
        chosen = min((rule, *seconds.get(rule.ours, ())), key=lambda one: len({*spelled(one)} - names.keys()))
        gaps = [name for name in spelled(chosen) if name not in names]
        if gaps and isinstance(rule, Constant):
            result.tensors |= fresh(spec, only=rule.ours)
        elif gaps:
            absent += gaps
        else:
            _take(chosen, shapes[rule.ours], {names[name]: found[names[name]] for name in spelled(chosen)}, result)
    result.missing = _as_written(absent, family, spec, names)
    for ours, tensor in result.tensors.items():
        for rule in (one for one in seconds.get(ours, ()) if isinstance(one, Alias)):
            for name, piece in zip(spelled(rule), _theirs(rule, tensor), strict=True):
                if name in names:
                    _compare(names[name], found[names[name]], piece, result)
    return result


def names_of(family: Family, spec: Spec) -> set[str]:
    """What a file of this architecture calls its tensors, without the prefix."""
    rules = expand((*family.trunk, *family.heads), spec)
    return {name for rule in rules if not isinstance(rule, Alias | Drop) for name in spelled(rule)}


def spread(family: Family, spec: Spec, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a file, under the names and in the shapes that the family's other tools expect."""
    exact = expand((*family.trunk, *family.heads), spec)
    rules = [rule for rule in exact if not isinstance(rule, Alias | Drop)]
    trunk = {name for rule in expand(family.trunk, spec) for name in spelled(rule)}
    # Their classes without a head have no prefix; those with one put it before the trunk's names.
    prefix = family.prefix if set(spec.outputs.present()) - {"pooler"} else ""
    file: dict[str, Tensor] = {}
    for rule in rules:
        pieces = _theirs(rule, tensors[rule.ours])
        for name, piece in zip(spelled(rule), pieces, strict=True):
            own = prefix + name if name in trunk else name
            if own in file:
                raise BoughError(
                    f"a {family.title} checkpoint holds only one head under the name {own}; save one of them"
                )
            file[own] = piece.contiguous()
    unsaid = sorted(spec.tensors().keys() - {rule.ours for rule in rules})
    if unsaid:
        raise BoughError(f"a {family.title} checkpoint has no names for {', '.join(unsaid)}")
    return file


def _seconds(rules: Iterable[Rule]) -> Mapping[str, Sequence[Alias | Shadow]]:
    """The rules of second names, by the tensor of ours that each of them stands in for."""
    seconds: dict[str, list[Alias | Shadow]] = defaultdict(list)
    for rule in rules:
        if isinstance(rule, Alias | Shadow):
            seconds[rule.ours].append(rule)
    return seconds


def _take(rule: Rule, ours: Shape, theirs: Mapping[str, Tensor], result: Fit) -> None:
    wanted = their_shape(rule, ours)
    wrong = [f"{n} is {tuple(t.shape)} and should be {wanted}" for n, t in theirs.items() if tuple(t.shape) != wanted]
    wrong += [f"{n} is {t.dtype} and should be floating-point" for n, t in theirs.items() if not t.is_floating_point()]
    result.misshaped += wrong
    if wrong or isinstance(rule, Drop):
        return
    tensors = list(theirs.values())
    match rule:
        case Transpose():
            result.tensors[rule.ours] = tensors[0].t()
        case Fuse() | Alias() if len(tensors) > 1:
            result.tensors[rule.ours] = torch.cat(tensors)
        case Reshape():
            result.tensors[rule.ours] = tensors[0].reshape(ours)
        case _:
            result.tensors[rule.ours] = tensors[0]


def _theirs(rule: Rule, ours: Tensor) -> tuple[Tensor, ...]:
    match rule:
        case Transpose():
            return (ours.t(),)
        case Fuse() | Alias():
            return ours.chunk(len(spelled(rule)))
        case Reshape(shape=tuple() as shape):
            return (ours.reshape(shape),)
        case Shadow():
            # A safetensors file has no two names for the same bytes.
            return (ours.clone(),)
        case _:
            return (ours,)


def _compare(name: str, second: Tensor, first: Tensor, result: Fit) -> None:
    if second.shape != first.shape or not torch.equal(second, first):
        result.disagreeing.append(f"{name} is tied to another tensor and has other numbers")


def _as_written(names: Iterable[str], family: Family, spec: Spec, found: Mapping[str, str]) -> list[str]:
    """Canonical names as this file would spell them."""
    trunk = {name for rule in expand(family.trunk, spec) for name in spelled(rule)}
    prefixed = any(own.startswith(family.prefix) for own in found.values())
    return [family.prefix + name if prefixed and name in trunk else name for name in names]
