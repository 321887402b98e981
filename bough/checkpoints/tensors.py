"""Reading the large files: safetensors, mapped into memory rather than read; pickles only where that is allowed."""

from __future__ import annotations

import math
import pickle
import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from bough.checkpoints.files import Folder
from bough.errors import ArtefactError, BoughError

LARGEST_HEADER = 16 * 2**20
"""Ten thousand tensors fit in one; a file that claims more is out to cost time."""


def read_all(folder: Folder, allow_pickle: bool = False) -> dict[str, Tensor]:
    """Every tensor of a checkpoint under the name its file has for it, mapped or ready to be."""
    for base, read in (("model.safetensors", _safetensors), ("pytorch_model.bin", _pickled)):
        index = f"{base}.index.json"
        if not folder.has(base) and not folder.has(index):
            continue
        if read is _pickled and not allow_pickle:
            path = folder.path / base
            raise ArtefactError(
                f"{path}: refused, because a pickle can hold a program; convert it to model.safetensors where it "
                "came from, or allow it with allow_pickle=True (--allow-pickle)"
            )
        return read(folder.file(base)) if folder.has(base) else _sharded(folder, index, read)
    raise BoughError(f"{folder.path}: has no model.safetensors, nor an index of shards; is this a checkpoint's folder?")


def _sharded(folder: Folder, index: str, read: Callable[[Path], dict[str, Tensor]]) -> dict[str, Tensor]:
    path = folder.path / index
    places = folder.json(index).get("weight_map")
    if not isinstance(places, dict) or not all(
        isinstance(name, str) for name in cast("dict[str, Any]", places).values()
    ):
        raise ArtefactError(f"{path}: weight_map must map tensors to file names")
    places = cast("dict[str, str]", places)
    for name in places.values():
        if Path(name).name != name or name in (".", ".."):
            raise ArtefactError(f"{path}: refused, because it names {name!r}, which is not a plain file name")
    shards = {name: _shard(folder, path, name, read) for name in sorted(set(places.values()))}
    absent = sorted(tensor for tensor, name in places.items() if tensor not in shards[name])
    if absent:
        raise ArtefactError(f"{path}: names tensors that their files do not hold: {', '.join(absent)}")
    return {tensor: value for shard in shards.values() for tensor, value in shard.items()}


def _shard(folder: Folder, index: Path, name: str, read: Callable[[Path], dict[str, Tensor]]) -> dict[str, Tensor]:
    if not folder.has(name):
        raise ArtefactError(f"{index}: names {name}, which is not there; fetch it again")
    return read(folder.file(name))


def _safetensors(path: Path) -> dict[str, Tensor]:
    _check_header(path)
    try:
        with cast("Any", safe_open(path, framework="pt")) as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is not a dict
    except (SafetensorError, AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise ArtefactError(f"{path}: is not a sound safetensors file ({error}); fetch or write it again") from None
    except OSError as error:
        raise BoughError(f"{path}: {error.strerror or error}") from None


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(8)
    length = struct.unpack("<Q", start)[0] if len(start) == 8 else math.inf
    if length > LARGEST_HEADER:
        said = f"a header of {length:,} bytes" if length < math.inf else "no header"
        raise ArtefactError(f"{path}: is not a sound safetensors file ({said}); fetch or write it again")


def _pickled(path: Path) -> dict[str, Tensor]:
    _check_zip(path)
    try:
        data = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError, KeyError, AttributeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ArtefactError(f"{path}: torch's weights-only reader refuses it ({reason})") from None
    if not isinstance(data, Mapping):
        raise ArtefactError(f"{path}: must hold tensors by name, not a {type(data).__name__}")
    state = cast("Mapping[Any, Any]", data)
    odd = [name for name, value in state.items() if not isinstance(name, str) or not isinstance(value, Tensor)]
    if odd:
        raise ArtefactError(f"{path}: must hold tensors by name; {odd[0]!r} is not one")
    return dict(state)


def _check_zip(path: Path) -> None:
    """Torch stores its entries as they are; one that would unpack to more than the file is out to fill the memory."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        entries: Iterable[zipfile.ZipInfo] = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ArtefactError(f"{path}: refused, because it is a compressed archive, which torch never writes")
