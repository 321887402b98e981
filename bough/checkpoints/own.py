"""The layout of our own, for architectures that no other tool has: the spec in config.json, tensors under our names.

It is a family like any other to the rest of this room, made for the one spec.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from bough.errors import ArtefactError, BoughError, FieldError
from bough.families import Family, family
from bough.families.family import as_its_config_says
from bough.keymap import Rename
from bough.spec import Outputs, Spec

MODEL_TYPE = "bough"
"""What the config.json of this layout calls itself."""
KEY = "spec"


def own(spec: Spec) -> Family:
    """The family that holds this architecture in our layout."""
    kin = family(spec.family)
    offered = {**kin.outputs.present(), **spec.outputs.present()}
    try:
        names = spec.but(outputs=Outputs(**offered)).tensors()  # type: ignore[arg-type]  # heads by their own names
    except FieldError:
        # Some head of the family's is none for this architecture.
        offered, names = spec.outputs.present(), spec.tensors()
    rules = tuple(Rename(name, name) for name in names)
    trunk = tuple(one for one in rules if not one.ours.startswith("outputs.") or one.ours.startswith("outputs.pooler."))
    return dataclasses.replace(
        kin,
        model_type=MODEL_TYPE,
        base=spec,
        outputs=Outputs(**offered),  # type: ignore[arg-type]  # likewise
        settings=(),
        prefix="",
        trunk=trunk,
        heads=tuple(one for one in rules if one not in trunk),
        harmless=frozenset([KEY]),
        tells={},
        settles=as_its_config_says,
    )


def read(config: Mapping[str, Any], where: str) -> Family | None:
    """The family of a config in our layout; None where it is in another."""
    if config.get("model_type", MODEL_TYPE) != MODEL_TYPE or KEY not in config:
        return None
    try:
        return own(Spec.from_json(json.dumps(config.get(KEY))))
    except BoughError as error:
        raise ArtefactError(f"{where}: {KEY}: {error}") from None
