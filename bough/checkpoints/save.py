"""From an architecture and its tensors to a folder in the layout that other tools read."""

from __future__ import annotations

import functools
import json
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType]  # partly untyped
from torch import Tensor

from bough import settings
from bough.checkpoints import own
from bough.checkpoints.keys import names_of, spread
from bough.checkpoints.sentences import LENGTHS, MODULES, sentence_files
from bough.checkpoints.tensors import TOKENIZER
from bough.errors import BoughError
from bough.families import family
from bough.families.family import TRUST, Family
from bough.files.atomic import replaced, sync, write
from bough.files.folder import BESIDE
from bough.record import plain
from bough.spec import Spec

log = logging.getLogger("bough")

STALE = (
    "model.safetensors", "model.safetensors.index.json", "model-*-of-*.safetensors", "pytorch_model*.bin*",
    "tf_model.h5", "flax_model.msgpack", MODULES, LENGTHS,
)  # fmt: skip
"""What holds the weights, or the pooling, of whatever lay in the folder before."""
NOT_PASSED_ON = TRUST | {"torch_dtype"}
"""A config's keys of trust, and one whose newer name is written."""


def save(
    path: str | os.PathLike[str],
    spec: Spec,
    tensors: Mapping[str, Tensor],
    extras: Mapping[str, Any] = {},
    files: Mapping[str, bytes] = {},
    tokenizer: str | None = None,
) -> None:
    """Write a checkpoint, whole or not at all.

    `extras` are further keys of its config, `files` what lies beside it, `tokenizer` the fingerprint of the one in it.
    """
    kin = layout(spec)
    theirs = spread(kin, spec, tensors)
    config = config_of(kin, spec, {**extras, "dtype": _dtype(theirs)})
    small = {name: _json(data) for name, data in {"config.json": config, **sentence_files(spec)}.items()}
    beside = {
        name: _distrusted(content) if name.endswith("_config.json") else content for name, content in files.items()
    }
    told = {"format": "pt", **({TOKENIZER: tokenizer} if tokenizer else {})}
    with replaced(Path(path)) as folder:
        # A model that brings a tokenizer leaves no file there of the one before.
        for pattern in (*STALE, *(BESIDE if files else ())):
            for stale in folder.glob(pattern):
                stale.unlink()
        for name, content in {**beside, **small}.items():
            write(folder / name, content)
        _write_tensors(theirs, folder / "model.safetensors", told)


def layout(spec: Spec) -> Family:
    """The family whose files can say this architecture: its own, or else the one we make for it."""
    kin = family(spec.family)
    if not kin.settings:
        return own.own(spec)
    try:
        config_of(kin, spec)
    except BoughError as error:
        log.warning("saved in Bough's own layout, which other tools do not read: %s", error)
        return own.own(spec)
    return kin


def config_of(family: Family, spec: Spec, extras: Mapping[str, Any] = {}) -> dict[str, Any]:
    """The config.json of a Spec in its family's words."""
    base = family.base.but(outputs=family.outputs.only(*spec.outputs.present()), vector=spec.vector)
    said = settings.write(family.rules, base, spec, lambda read: family.settles(read, names_of(family, spec)))
    said |= {own.KEY: plain(spec)} if family.model_type == own.MODEL_TYPE else {}
    said |= {"label2id": {label: int(i) for i, label in said["id2label"].items()}} if "id2label" in said else {}
    kept = {key: value for key, value in extras.items() if key not in NOT_PASSED_ON}
    return {
        **family.tells,
        **kept,
        **said,
        "model_type": family.model_type,
        "architectures": [family.architecture(spec.outputs, extras.get("architectures"))],
    }


def _write_tensors(tensors: dict[str, Tensor], path: Path, told: dict[str, str]) -> None:
    try:
        save_file(tensors, path, metadata=told)
    except SafetensorError as error:
        # The library keeps the system's complaint in its words alone.
        code = re.search(r"os error (\d+)", str(error))
        if not code:
            raise
        raise OSError(int(code[1]), os.strerror(int(code[1]))) from None
    _write_told(path, told)
    sync(path)


def _write_told(path: Path, told: dict[str, str]) -> None:
    """What a file says of itself, in order: the library has one of its own each time, and no two files are the same."""
    with path.open("r+b") as file:
        file.seek(8)
        said = json.dumps({"__metadata__": told}, separators=(",", ":"))[:-1].encode()
        assert sorted(file.read(len(said))) == sorted(said)
        file.seek(8)
        file.write(said)


def _distrusted(content: bytes) -> bytes:
    """A small config without its keys of trust; the very bytes where it has none."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if not isinstance(data, dict) or not TRUST & data.keys():
        return content
    return _json({key: value for key, value in cast("dict[str, Any]", data).items() if key not in TRUST})


def _dtype(tensors: Mapping[str, Tensor]) -> str:
    """The narrowest type that holds all of the tensors."""
    kinds = {tensor.dtype for tensor in tensors.values()}
    return str(functools.reduce(torch.promote_types, kinds)).removeprefix("torch.")


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=2, sort_keys=True) + "\n").encode()
