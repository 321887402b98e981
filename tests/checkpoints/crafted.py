"""Files made by hand, byte by byte, as no sound program would write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bough import BoughError


def tensor(shape: list[int], start: int, end: int, dtype: str = "F32") -> dict[str, Any]:
    """A tensor's entry in the header of a safetensors file."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def safetensors(header: Mapping[str, Any] | bytes, numbers: int) -> bytes:
    """A safetensors file with this header and so many bytes of zeros behind it."""
    said = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(said).to_bytes(8, "little") + said + bytes(numbers)


def rewrite(path: Path, **changes: Any) -> None:
    """Change keys of a file of JSON; a key that becomes None is taken out."""
    data = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))


def complaint(error: pytest.ExceptionInfo[BoughError]) -> str:
    """What a user reads, once it is known to be one line."""
    said = str(error.value)
    assert said.isprintable()
    return said
