"""From an architecture and its tensors to a folder in the layout that other tools read."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType]  # partly untyped
from torch import Tensor

from bough import settings
from bough.checkpoints.atomic import replaced, sync, write
from bough.checkpoints.keys import spread
from bough.checkpoints.sentences import sentence_files
from bough.families import family
from bough.families.family import COMMON, Family
from bough.spec import Spec

STALE = ("model.safetensors", "model.safetensors.index.json", "model-*-of-*.safetensors", "pytorch_model*.bin*")
"""What holds the weights of whatever lay in the folder before."""
NOT_PASSED_ON = ("auto_map", "custom_pipelines", "trust_remote_code", "torch_dtype")
"""Keys by which a config asks other tools to run programs, and one whose newer name is written."""


def save(
    path: str | os.PathLike[str],
    spec: Spec,
    tensors: Mapping[str, Tensor],
    extras: Mapping[str, Any] = {},
    files: Mapping[str, bytes] = {},
) -> None:
    """Write a checkpoint, whole or not at all. `extras` are further keys of its config, `files` what lies beside it."""
    kin = family(spec.family)
    theirs = spread(kin, spec, tensors)
    config = config_of(kin, spec, {**extras, "dtype": _dtype(theirs)})
    small = {name: _json(data) for name, data in {"config.json": config, **sentence_files(spec)}.items()}
    with replaced(Path(path)) as folder:
        for pattern in STALE:
            for stale in folder.glob(pattern):
                stale.unlink()
        for name, content in {**files, **small}.items():
            write(folder / name, content)
        save_file(theirs, folder / "model.safetensors", metadata={"format": "pt"})
        sync(folder / "model.safetensors")


def config_of(family: Family, spec: Spec, extras: Mapping[str, Any] = {}) -> dict[str, Any]:
    """The config.json of a Spec in its family's words."""
    said = settings.write((*family.settings, *COMMON), family.base.but(outputs=spec.outputs, vector=spec.vector), spec)
    said |= {"label2id": {label: int(i) for i, label in said["id2label"].items()}} if "id2label" in said else {}
    kept = {key: value for key, value in extras.items() if key not in NOT_PASSED_ON}
    return {
        **family.tells,
        **kept,
        **said,
        "model_type": family.model_type,
        "architectures": [family.architecture(spec.outputs)],
    }


def _dtype(tensors: Mapping[str, Tensor]) -> str:
    """The narrowest type that holds all of the tensors."""
    kinds = {tensor.dtype for tensor in tensors.values()}
    return str(functools.reduce(torch.promote_types, kinds)).removeprefix("torch.")


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
