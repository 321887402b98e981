"""What is kept of the rows of a corpus: where each stands, and its text, which waits in a temporary file."""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bough.data.reading.rows import Place, Row


@dataclass(frozen=True, slots=True)
class Numbered:
    """A row under check."""

    number: int
    """Counted over all sets."""
    part_of: int
    """The number of its set."""
    row: Row
    texts: tuple[tuple[str, str], ...]
    """Its texts, each with the part of the row that it is."""

    @property
    def plain(self) -> bool:
        """Whether it is a text and nothing more: a line or a document."""
        return len(self.texts) == 1 and self.texts[0][0] == "text" and "label" not in self.row.values

    @property
    def whole(self) -> str:
        """All its texts as one."""
        return "\n".join(text for _, text in self.texts)


def digest(text: str) -> int:
    """A number for a text, by which it is known again; 0 for none."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) if text else 0


class Kept(AbstractContextManager["Kept"]):
    """Rows by their numbers, as long as it is open: 16 bytes of each in memory, and its text on the disk."""

    def __init__(self) -> None:
        self.sets: list[str] = []
        """The names of the sets."""
        self.starts: list[int] = []
        """The number of each set's first row."""
        self._files: list[str] = []
        self._file_starts: list[int] = []
        self._lines = array("Q")
        self._ends = array("Q", [0])
        self._texts = tempfile.TemporaryFile()  # noqa: SIM115  # closed when this is

    def __exit__(self, *failure: object) -> None:
        self._texts.close()

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._lines)

    @property
    def ends(self) -> list[int]:
        """The number behind each set's last row."""
        return [*self.starts[1:], len(self)]

    def begin(self, name: str) -> None:
        """What is added from here on is of the set of this name."""
        self.sets.append(name)
        self.starts.append(len(self))

    def add(self, rows: Sequence[Numbered]) -> None:
        """Keep these, which come in order."""
        for one in rows:
            place = one.row.place
            if not self._files or self._files[-1] != place.file:
                self._files.append(place.file)
                self._file_starts.append(len(self))
            self._lines.append(place.row)
            self._ends.append(self._ends[-1] + self._texts.write(one.whole.encode("utf-8", "surrogatepass")))

    def place(self, number: int) -> Place:
        """Where a row stands."""
        return Place(self._files[bisect_right(self._file_starts, number) - 1], self._lines[number])

    def text(self, number: int) -> str:
        """All texts of a row as one."""
        self._texts.seek(self._ends[number])
        return self._texts.read(self._ends[number + 1] - self._ends[number]).decode("utf-8", "surrogatepass")

    def part_of(self, number: int) -> int:
        """The number of the set that a row is of."""
        return bisect_right(self.starts, number) - 1

    def each(self) -> list[int]:
        """The number of the set of every row."""
        spans = map(range, self.starts, self.ends)
        return [which for which, span in enumerate(spans) for _ in span]
