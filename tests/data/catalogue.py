"""Making a compiled catalogue, byte for byte as gettext's manual lays it out."""

from __future__ import annotations

import struct
from collections.abc import Mapping


def compiled(entries: Mapping[str, str], order: str = "<") -> bytes:
    """A `.mo` file of these."""
    ordered = sorted((key.encode(), form.encode()) for key, form in entries.items())
    tables, strings = [], b""
    start = 28 + 16 * len(ordered)
    for column in (0, 1):
        for entry in ordered:
            tables += [len(entry[column]), start + len(strings)]
            strings += entry[column] + b"\0"
    head = struct.pack(f"{order}7I", 0x950412DE, 0, len(ordered), 28, 28 + 8 * len(ordered), 0, 0)
    return head + struct.pack(f"{order}{len(tables)}I", *tables) + strings
