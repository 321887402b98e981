"""A source and a tokenizer as a store: made once, then found again by fingerprints of all that decides it.

What is trusted: that a file whose size, inode and times of change are as they were has the content it had. A corpus is
hashed again only where one of these is new, or so recent that a change behind it could bear the same time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Generator
from pathlib import Path

from bough.data.reading.source import Source
from bough.data.storing.store import Store, writing
from bough.data.storing.tokenised import Preparation, tokenise
from bough.errors import BoughError
from bough.files.atomic import write
from bough.files.fetch import cache as users_cache
from bough.record import plain
from bough.text import Tokenizer

RULES = 1
"""Goes up when the same rows come to another store, so that no cache survives that."""
RECENT = 2 * 10**9
"""Nanoseconds; as coarse as the clock of a file system may be."""
STALE = 60
"""Seconds after which whoever made a folder has come to lock it."""
PLAIN = Preparation()

Seen = list[tuple[str | int, ...]]


def prepared(source: Source, tokenizer: Tokenizer, what: Preparation = PLAIN, cache: Path | None = None) -> Store:
    """The store of a source: made where there is none yet, in the user's cache unless another folder is named."""
    room = cache or users_cache() / "prepared"
    seen = _seen(source)
    fingerprints = {
        "data": _fingerprint(source, seen, room / "hashes"),
        "tokenizer": tokenizer.fingerprint,
        "settings": _settings(what),
    }
    folder = room / _sha256(fingerprints)
    if not folder.exists():
        _clean(room)
        # The lock outlasts the writing, so that what is written is never without one before it is in place.
        with contextlib.ExitStack() as held, writing(folder) as writer:
            held.enter_context(locked(writer.folder))
            tokenise(source, tokenizer, what, writer)
            writer.about |= {"fingerprints": fingerprints}
            if _seen(source) != seen:
                raise BoughError(
                    f"{', '.join(source.paths)}: was changed while it was read; try again when it is whole"
                )
    return Store(folder)


def _settings(what: Preparation) -> str:
    """A hash of what is stored. How often each label was counted decides nothing."""
    labels = what.labels and what.labels.but(counts=())
    return _sha256([RULES, plain(what.but(labels=labels))])


def _seen(source: Source) -> Seen:
    """What the file system says of a source's files, which is new when one has changed; nothing of stdin."""
    found: Seen = []
    for file in source.files():
        if file.name != "stdin":
            now = Path(file.name).stat()
            found.append((file.name, now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns))
    return found


def _fingerprint(source: Source, seen: Seen, hashes: Path) -> str:
    """The source's fingerprint, remembered from another time where its files are as they were."""
    if len(seen) < len(source.files()):
        return source.fingerprint()
    memory = hashes / _sha256([source.but(paths=()).to_json(), seen])
    # Where nothing can be remembered, it is hashed again.
    with contextlib.suppress(OSError):
        if re.fullmatch("[0-9a-f]{64}", known := memory.read_text()):
            return known
    before = time.time_ns() - RECENT
    found = source.fingerprint()
    if _seen(source) == seen and all(
        int(moment) < before for *_, changed, moved in seen for moment in (changed, moved)
    ):
        with contextlib.suppress(OSError):
            hashes.mkdir(parents=True, exist_ok=True)
            write(memory, found.encode())
    return found


@contextlib.contextmanager
def locked(folder: Path) -> Generator[None]:
    """Hold a lock on a folder, which the system takes back when this process ends, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _clean(room: Path) -> None:
    """Remove what is left of preparations that were killed: nobody holds a lock on it."""
    for aside in room.glob(".*-*"):
        # Another process may be as busy here as this one.
        with contextlib.suppress(OSError):
            if aside.stat().st_mtime < time.time() - STALE:
                with locked(aside):
                    shutil.rmtree(aside)


def _sha256(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
