"""Bough: the transformer tree of life as one small library. These are its public names; nothing here loads torch.

`bough.spec` and `bough.families` are functions that share their names with the rooms they open. They are bound after
those rooms are imported, so that no later import of a room takes the name back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bough import families as _families
from bough.errors import ArtefactError, BoughError, FieldError, ResourceError
from bough.spec import Spec

if TYPE_CHECKING:
    from bough.core import Net, build
    from bough.model import Model, load

__version__ = "0.1.0"
__all__ = [
    "ArtefactError",
    "BoughError",
    "FieldError",
    "Model",
    "Net",
    "ResourceError",
    "Spec",
    "build",
    "families",
    "load",
    "spec",
]


def families() -> dict[str, _families.Family]:
    """Every branch of the tree, by name: its presets, its paper, what it added."""
    return dict(_families.FAMILIES)


def spec(name: str) -> Spec:
    """The architecture of a preset, such as "bert-base"; `families()` knows them all."""
    return _families.preset(name)


_WITH_TORCH = {"build": "bough.core", "Net": "bough.core", "load": "bough.model", "Model": "bough.model"}


def __getattr__(name: str) -> Any:
    if name not in _WITH_TORCH:
        raise AttributeError(f"module 'bough' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_WITH_TORCH[name]), name)
