"""Reading the large files: safetensors, mapped into memory rather than read; pickles only where that is allowed."""

from __future__ import annotations

import json
import pickle
import struct
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from bough.errors import ArtefactError, BoughError
from bough.files.folder import Folder
from bough.record import brief

LARGEST_HEADER = 16 * 2**20
"""Ten thousand tensors fit in one; a file that claims more is out to cost time."""
TOKENIZER = "tokenizer"
"""What a file calls the fingerprint of the tokenizer that its model reads, in what it says of itself."""
UNREADABLE = (
    pickle.UnpicklingError,
    zipfile.BadZipFile,
    struct.error,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What torch's reader raises on a file that is damaged or made up, by trial of thousands."""


def read_all(folder: Folder, allow_pickle: bool = False) -> dict[str, Tensor]:
    """Every tensor of a checkpoint under the name its file has for it, mapped or ready to be."""
    for base, read in (("model.safetensors", _safetensors), ("pytorch_model.bin", _pickled)):
        index = f"{base}.index.json"
        if not folder.has(base) and not folder.has(index):
            continue
        if read is _pickled and not allow_pickle:
            path = folder.path / (base if folder.has(base) else index)
            raise ArtefactError(
                f"{path}: refused, because a pickle can hold a program; convert it to model.safetensors where it "
                "came from, or allow it with allow_pickle=True (--allow-pickle)"
            )
        return read(folder.file(base)) if folder.has(base) else _sharded(folder, index, read)
    raise BoughError(f"{folder.path}: has no model.safetensors, nor an index of shards; is this a checkpoint's folder?")


def told(folder: Folder) -> dict[str, str]:
    """What the weights' file says of itself; nothing where that is none of ours."""
    name = "model.safetensors"
    if not folder.has(name):
        return {}
    with cast("Any", safe_open(folder.file(name), framework="pt")) as file:
        return file.metadata() or {}


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
            raise ArtefactError(f"{path}: refused, because it names {brief(name)}, which is not a plain file name")
    shards = {name: _shard(folder, path, name, read) for name in sorted(set(places.values()))}
    absent = sorted(tensor for tensor, name in places.items() if tensor not in shards[name])
    if absent:
        raise ArtefactError(f"{path}: names tensors that their files do not hold: {', '.join(absent)}")
    everything = {tensor: value for shard in shards.values() for tensor, value in shard.items()}
    return {**everything, **{tensor: shards[name][tensor] for tensor, name in places.items()}}


def _shard(folder: Folder, index: Path, name: str, read: Callable[[Path], dict[str, Tensor]]) -> dict[str, Tensor]:
    if not folder.has(name):
        raise ArtefactError(f"{index}: names {brief(name)}, which is not there; fetch it again")
    return read(folder.file(name))


def _safetensors(path: Path) -> dict[str, Tensor]:
    try:
        _check_length(path)
        with cast("Any", safe_open(path, framework="pt")) as file:
            _check_names(path)
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is not a dict
    except (SafetensorError, AttributeError, TypeError, ValueError, RuntimeError) as error:
        said = _gist(error)
        raise ArtefactError(f"{path}: is not a sound safetensors file ({said}); fetch or write it again") from None
    except OSError as error:
        raise BoughError(f"{path}: {error.strerror or error}") from None


def _check_length(path: Path) -> None:
    """The library reads a header of any length up to its own bound, which takes seconds."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > LARGEST_HEADER:
        raise ValueError(f"a header of {length:,} bytes")


def _check_names(path: Path) -> None:
    """The library keeps the last of several tensors with one name, and says nothing."""
    with path.open("rb") as file:
        header = file.read(int.from_bytes(file.read(8), "little"))
    names: list[str] = json.loads(header, object_pairs_hook=lambda pairs: [name for name, _ in pairs])
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ValueError(f"{brief(twice[0])} is there twice")


def _pickled(path: Path) -> dict[str, Tensor]:
    try:
        _check_zip(path)
        with warnings.catch_warnings(action="ignore"):
            data = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except OSError as error:
        raise BoughError(f"{path}: {error.strerror or error}") from None
    except UNREADABLE as error:
        # What torch says at first is how to read the file without this care; beneath it lies what was wrong.
        said = _gist(error.__context__ or error)
        remedy = "fetch it again, or convert it to model.safetensors where it came from"
        raise ArtefactError(f"{path}: is not a sound pickle of tensors ({said}); {remedy}") from None
    if not isinstance(data, Mapping):
        raise ArtefactError(f"{path}: must hold tensors by name, not a {type(data).__name__}")
    state = cast("Mapping[Any, Any]", data)
    odd = [name for name, value in state.items() if not isinstance(name, str) or not _is_plain(value)]
    if odd:
        raise ArtefactError(f"{path}: must hold tensors by name; {brief(odd[0])} is not one")
    return dict(state)


def _is_plain(value: object) -> bool:
    """Whether this is a tensor whose numbers are all there, one after another."""
    return isinstance(value, Tensor) and value.layout is torch.strided and value.device.type == "cpu"


def _check_zip(path: Path) -> None:
    """Torch stores its entries as they are; one that would unpack to more than the file is out to fill the memory."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise ValueError("a compressed archive, which torch never writes")
    if sum(entry.file_size for entry in entries) > path.stat().st_size:
        raise ValueError("it would unpack to more than it holds")


def _gist(error: BaseException) -> str:
    """The first sentence of what a library says: torch puts a trace behind it, and advice that we do not give."""
    return str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".") or type(error).__name__
