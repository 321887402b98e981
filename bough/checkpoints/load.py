"""From a folder to an architecture and its tensors: config, family, heads, then a strict fit."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from bough import settings
from bough.checkpoints import recognise, tensors
from bough.checkpoints.files import Folder, find
from bough.checkpoints.keys import canonical, fit
from bough.checkpoints.sentences import sentence_vector
from bough.core import fresh
from bough.errors import ArtefactError, BoughError, FieldError
from bough.families import Family, family
from bough.families.family import COMMON
from bough.spec import Outputs, Spec


@dataclass(frozen=True)
class Checkpoint:
    """What a folder holds: an architecture, its tensors under our names, and the rest of its config."""

    folder: Folder
    spec: Spec
    tensors: dict[str, Tensor]
    extras: Mapping[str, Any]
    """Keys of its config that change no number; they are written back as they were."""


def load(
    source: str | os.PathLike[str],
    *,
    family_name: str | None = None,
    allow_pickle: bool = False,
    ignore: Collection[str] = (),
    new_head: str | None = None,
    labels: Sequence[str] = (),
    seed: int = 0,
) -> Checkpoint:
    """Read a checkpoint. Whatever is missing, unexpected or cannot be honoured is one error.

    `ignore` names config keys, tensors or heads to pass over; `new_head` is drawn afresh from the seed.
    """
    folder = find(source, allow_pickle)
    config = folder.json("config.json") if folder.has("config.json") else {}
    found = tensors.read_all(folder, allow_pickle)
    where = str(folder.path / "config.json")
    kin = family(family_name) if family_name else recognise.which_family(config, found, where)
    outputs = recognise.which_heads(kin, config, found, ignore)
    spec = _spec(kin, config, _with_counted_labels(outputs, kin, config, found), ignore, where)
    spec = spec.but(vector=sentence_vector(folder, ignore))
    filled = _filled(kin, spec, found, ignore, new_head, folder)
    if new_head:
        spec = spec.but(outputs=with_new_head(kin, spec, new_head, labels))
        drawn = fresh(spec, seed)
        filled = {**{name: drawn[name] for name in spec.tensors().keys() - filled.keys()}, **filled}
    extras = {key: value for key, value in config.items() if key not in settings.keys(kin.settings)}
    return Checkpoint(folder, spec, filled, extras)


def with_new_head(family: Family, spec: Spec, head: str, labels: Sequence[str]) -> Outputs:
    """The heads of a spec with one more, in the family's form."""
    offered = family.outputs.present()
    if head not in offered:
        raise BoughError(f"new_head: {family.title} has no {head!r}; it offers {', '.join(offered)}")
    part = offered[head].but(labels=tuple(labels)) if labels else offered[head]
    needed = family.outputs.only(head).but(**{head: part}).present()
    return spec.outputs.but(**{**needed, **{k: v for k, v in spec.outputs.present().items() if k != head}})


def _spec(family: Family, config: Mapping[str, Any], outputs: Outputs, ignore: Collection[str], where: str) -> Spec:
    """The architecture that a config describes; a key that nobody here knows is an error."""
    rules = (*family.settings, *COMMON)
    known = settings.keys(rules) | family.harmless | set(ignore)
    unknown = [key for key, value in config.items() if key not in known and value is not None]
    try:
        spec = settings.read(rules, family.base.but(outputs=outputs), {k: v for k, v in config.items() if k not in ignore})
    except FieldError as error:
        raise ArtefactError(f"{where}: {error}") from None
    if unknown:
        names = ", ".join(unknown)
        raise ArtefactError(
            f"{where}: {names}: not a setting that {family.title} has here; if it changes no number, "
            f"pass over it with ignore={unknown!r} (--ignore {unknown[0]})"
        )
    return spec
