"""Running the command: in this process, or for real in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


def command(*arguments: object) -> list[str]:
    """The line that runs the command in a process of its own."""
    return [sys.executable, "-m", "bough.cli", *map(str, arguments)]


def in_a_process(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run the command for real."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=60, check=False, **settings)
