"""From a folder to an architecture and its tensors: config, family, heads, then a strict fit."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from bough import settings
from bough.checkpoints import own, recognise, tensors
from bough.checkpoints.keys import canonical, fit
from bough.checkpoints.sentences import sentence_vector, trunk_folder
from bough.checkpoints.tensors import TOKENIZER
from bough.core import fresh
from bough.errors import ArtefactError, BoughError, FieldError
from bough.families import Family, family
from bough.families.family import HARMLESS, TRUST
from bough.files.folder import Folder, find
from bough.keymap import Drop, Rule, spelled, written_out
from bough.spec import Classify, Outputs, Spec, Tag


@dataclass(frozen=True)
class Checkpoint:
    """What a folder holds: an architecture, its tensors under our names, and the rest of its config."""

    folder: Folder
    spec: Spec
    tensors: dict[str, Tensor]
    extras: Mapping[str, Any]
    """Keys of its config that change no number; they are written back as they were."""
    tokenizer: str | None
    """The fingerprint of the tokenizer that it was saved with, where its file says one."""


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

    `ignore` names config keys, tensors or heads to pass over, or the tokenizer's fingerprint; `new_head` is drawn
    afresh from the seed.
    """
    whole = find(source, allow_pickle)
    folder = trunk_folder(whole, ignore)
    config = folder.json("config.json") if folder.has("config.json") else {}
    found = tensors.read_all(folder, allow_pickle)
    where = str(folder.path / "config.json")
    ours = own.read(config, where)
    kin = ours or (family(family_name) if family_name else recognise.which_family(config, found, where))
    # What will be drawn is not looked for, whatever the file or its class has of it.
    passed = {*ignore, *([new_head] if new_head else [])}
    held = recognise.which_heads(kin, config, found, passed)
    passed |= recognise.tensors_of(kin, found, passed, held)
    outputs = with_new_head(kin, held, new_head) if new_head else held
    spec = spec_of(kin, config, _with_counted_labels(outputs, kin, found), ignore, where)
    spec = kin.settles(spec, canonical((name for name in found if name not in passed), kin))
    spec = spec.but(vector=sentence_vector(whole, ignore))
    filled = _filled(kin, spec.but(outputs=spec.outputs.only(*held.present())), found, passed, folder)
    if new_head:
        spec = spec.but(**{f"outputs.{new_head}.labels": tuple(labels)}) if labels else spec
        drawn = fresh(spec, seed, only="outputs.")
        filled = {**{name: drawn[name] for name in spec.tensors().keys() - filled.keys()}, **filled}
    read = settings.keys(kin.settings) | set(ignore)
    extras = {key: value for key, value in config.items() if key not in read}
    return Checkpoint(
        folder, spec, filled, extras, None if TOKENIZER in ignore else tensors.told(folder).get(TOKENIZER)
    )


def with_new_head(family: Family, held: Outputs, head: str) -> Outputs:
    """The heads of a file with one more, in the family's form, and what that one reads."""
    offered = family.outputs.present()
    if head not in offered:
        raise BoughError(f"new_head: {family.title} has no {head!r}; it offers {', '.join(offered)}")
    return family.outputs.only(*held.present(), head)


def spec_of(
    family: Family,
    config: Mapping[str, Any],
    outputs: Outputs,
    ignore: Collection[str] = (),
    where: str = "config.json",
) -> Spec:
    """The architecture that a config describes; a key that nobody here knows is an error."""
    rules = family.rules
    known = settings.keys(rules) | HARMLESS | TRUST | family.harmless | set(ignore)
    unknown = [
        # Their tool's own notes start with an underscore.
        key
        for key, value in config.items()
        if key not in known and value is not None and not key.startswith("_")
    ]
    try:
        spec = settings.read(
            rules, family.base.but(outputs=outputs), {k: v for k, v in config.items() if k not in ignore}
        )
    except FieldError as error:
        raise ArtefactError(f"{where}: {error}") from None
    if unknown:
        names = ", ".join(unknown)
        raise ArtefactError(
            f"{where}: {names}: not a setting that {family.title} has here; if it changes no number, "
            f"pass over it with ignore={unknown!r} (--ignore {unknown[0]})"
        )
    return spec


def _with_counted_labels(outputs: Outputs, family: Family, found: Mapping[str, Tensor]) -> Outputs:
    """The heads, with as many labels as their tensors have rows; the config may then name them."""
    # A tensor without numbers may claim any number of rows.
    filled = {name: found[own] for name, own in canonical(found, family).items() if found[own].numel()}
    rows = {name: tensor.shape[0] for name, tensor in filled.items() if tensor.dim()}
    rules = [one for rule in family.heads for one in written_out(rule, family.whole)]
    changes: dict[str, Classify | Tag] = {}
    for head, part in outputs.present().items():
        if isinstance(part, Classify | Tag):
            names = [name for rule in rules if _ours(rule) == f"outputs.{head}.out.weight" for name in spelled(rule)]
            count = next((rows[name] for name in names if name in rows), len(part.labels))
            named = part.labels if count == len(part.labels) else tuple(f"LABEL_{i}" for i in range(count))
            changes[head] = part.but(labels=named)
    return outputs.but(**changes)


def _ours(rule: Rule) -> str:
    return "" if isinstance(rule, Drop) else rule.ours


def _filled(
    family: Family, spec: Spec, found: Mapping[str, Tensor], ignore: Collection[str], folder: Folder
) -> dict[str, Tensor]:
    """Every tensor of the architecture, or one error that names all that does not fit."""
    result = fit(family, spec, found, ignore)
    complaint = result.complaint()
    if complaint:
        remedy = "ask for a head that it lacks with new_head= (--new-head), pass over a tensor with ignore= (--ignore)"
        raise ArtefactError(
            f"{folder.path}: its tensors are not those of {family.title} as its config has it: {complaint}; {remedy}"
        )
    return result.tensors
