"""Finding a checkpoint's folder, here or on the hub, and reading its small files without trusting them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from bough.errors import ArtefactError, BoughError, ResourceError

HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
SMALL = ("*.json", "*.txt", "*.model", "*.spm", "*/config.json", "README.md")
"""What is fetched from the hub beside the weights."""
LARGEST_FILE = 64 * 2**20
LARGEST_JSON = 4 * 2**20
"""Of a file that is parsed here; what parsing makes of it takes twenty times the room."""
DEEPEST_JSON = 64
TOO_DEEP = f"refused, because it is nested more than {DEEPEST_JSON} deep"
BESIDE = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "source.spm",
    "target.spm",
    "target_vocab.json",
    "generation_config.json",
    "preprocessor_config.json",
)
"""What lies beside a model's weights and belongs to it whatever its architecture."""


class Folder:
    """A checkpoint's folder, from which a name never reaches out."""

    def __init__(self, path: Path, roots: tuple[Path, ...] = ()) -> None:
        self.path = path
        own = Path(os.path.realpath(path))
        # The hub's cache keeps a file once, beside its snapshots, and links to it from each.
        shared = (own.parent.parent / "blobs",) if own.parent.name == "snapshots" else ()
        self.roots = roots or (own, *shared)

    def __truediv__(self, name: str) -> Folder:
        """A folder inside this one."""
        return Folder(self.file(name), self.roots)

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return os.path.isfile(self.path / name)  # noqa: PTH113  # a Path's own raises on a name that no file can have

    def file(self, name: str) -> Path:
        """The path of a file that a checkpoint names, once it is known to lie in the folder."""
        path = self.path / name
        if not self._holds(path):
            raise ArtefactError(f"{path}: refused, because it leads out of its folder; put the file itself there")
        return path

    def _holds(self, path: Path) -> bool:
        """Whether a path, its links followed, ends in the folder."""
        try:
            # Unlike a Path's own, this gets over links that run in a circle.
            real = Path(os.path.realpath(path))
        except ValueError:  # a name that no file can have
            return False
        return any(real.is_relative_to(root) for root in self.roots)

    def bytes(self, name: str, most: int = LARGEST_FILE) -> bytes:
        """What a small file holds."""
        path = self.file(name)
        try:
            if path.stat().st_size > most:
                raise ArtefactError(f"{path}: refused, because no such file has more than {most >> 20} MiB")
            return path.read_bytes()
        except OSError as error:
            raise BoughError(f"{path}: {error.strerror}") from None

    def json(self, name: str) -> dict[str, Any]:
        """The JSON object in a small file."""
        return cast("dict[str, Any]", self._json(name, dict))

    def json_list(self, name: str) -> list[Any]:
        """The JSON list in a small file."""
        return cast("list[Any]", self._json(name, list))

    def _json(self, name: str, kind: type) -> object:
        path, content = self.path / name, self.bytes(name, LARGEST_JSON)
        try:
            data = json.loads(content.decode())
        except RecursionError:
            raise ArtefactError(f"{path}: {TOO_DEEP}") from None
        except ValueError as error:
            raise ArtefactError(f"{path}: not JSON ({error}); fetch or write the file again") from None
        if not isinstance(data, kind):
            raise ArtefactError(f"{path}: must hold a JSON {'object' if kind is dict else 'list'}")
        if _deeper(data, DEEPEST_JSON):
            raise ArtefactError(f"{path}: {TOO_DEEP}")
        return data


def _deeper(data: Any, levels: int) -> bool:
    """Whether an object or list holds others nested deeper than so many levels."""
    level: list[Any] = [data]
    for _ in range(levels):
        level = [item for part in level for item in _inside(part) if isinstance(item, dict | list)]
    return bool(level)


def _inside(part: Any) -> Iterable[Any]:
    return cast("dict[str, Any]", part).values() if isinstance(part, dict) else part


def small_files(folder: Folder) -> dict[str, bytes]:
    """The tokenizer's files and their like, by name."""
    return {name: folder.bytes(name) for name in BESIDE if folder.has(name)}


def find(source: str | os.PathLike[str], allow_pickle: bool = False) -> Folder:
    """The folder of a checkpoint: a path, or a hub id, which the hub's own cache and variables decide about."""
    path = Path(source)
    if os.path.isdir(path):  # noqa: PTH112  # a Path's own raises on a name that no file can have
        return Folder(path)
    if os.path.isfile(path):  # noqa: PTH113  # likewise
        raise BoughError(f"{path}: is a file; name the folder that holds it and its config.json")
    if not HUB_ID.fullmatch(str(source)):
        raise BoughError(f"{path}: there is no such folder")
    return Folder(_fetch(str(source), allow_pickle))


def _fetch(name: str, allow_pickle: bool) -> Path:
    from huggingface_hub import snapshot_download  # pyright: ignore[reportUnknownVariableType]  # partly untyped
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    weights = ["model.safetensors", "model-*.safetensors"]
    if allow_pickle:
        weights += ["pytorch_model*.bin"]
    try:
        return Path(snapshot_download(name, allow_patterns=[*SMALL, *weights]))
    except LocalEntryNotFoundError:
        why = "there is no such folder, the hub's cache does not have it, and the hub cannot be reached"
        raise BoughError(f"{name}: {why}; name a folder, or fetch it once while online") from None
    except (HfHubHTTPError, HFValidationError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BoughError(f"{name}: there is no such folder, and the hub says: {reason}") from None
    except OSError as error:
        raise ResourceError(f"{name}: cannot be fetched ({error})") from None
