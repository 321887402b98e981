"""A program that trains in a process of its own: prints what came of each kind, or how much memory it took at its peak.

python trainer.py hashes KIND...
python trainer.py peak KIND WORDS TIMES [MEMORY]
"""

from __future__ import annotations

import hashlib
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.text.learning.kinds import Plan
from bough.text.learning.train import trained

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


def made(words: int, times: int = 1, length: int = 8) -> Iterator[str]:
    """So many words, nearly all of them different, said so many times, ten to a line."""
    for _ in range(times):
        draw = random.Random(1)
        for _ in range(words // 10):
            yield " ".join("".join(draw.choices(LETTERS, range(26, 0, -1), k=length)) for _ in range(10))


def hashes(kinds: list[str]) -> None:
    """A hash of all files, for each kind."""
    # Short words of few letters: most pairs and pieces are as frequent as some others.
    texts = [*made(3000, length=3), "Ein Straßenbahn-Dépôt, zwölf Äpfel; 東京 и Москва 😀" * 2]
    for kind in kinds:
        files = trained(texts, Plan(_kind(kind), 700, alphabet=30 if kind in ("bpe", "unigram") else None)).files
        sys.stdout.write(f"{kind} {hashlib.sha256(b''.join(files.values())).hexdigest()}\n")


def peak(kind: str, words: int, times: int, memory: int | None) -> None:
    """The peak of this process in bytes, and what was said of the vocabulary."""
    found = trained(made(words, times), Plan(_kind(kind), 2000, memory=memory))
    # The peak that the usual call tells of would be that of the test, where the test took more before it began this.
    [held] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    sys.stdout.write("\n".join([str(int(held) * 1024), *found.notes, ""]))


def _kind(name: str) -> Any:
    return name


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["hashes", *names]:
            hashes(names)
        case ["peak", name, words, times, *memory]:
            peak(name, int(words), int(times), int(memory[0]) if memory else None)
        case _:
            sys.exit(__doc__)
