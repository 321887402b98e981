"""A hub id in place of a folder: the hub's own cache, and the variables that steer it, decide."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ASK = """
import sys, bough
try:
    print(bough.load(sys.argv[1]).spec.width)
except bough.BoughError as error:
    print(error.exit_code, error)
"""


@pytest.fixture
def home(folder: Path) -> Path:
    """A cache with one model, as the hub's library lays it out: a file once, and a link to it from each snapshot."""
    cached = folder.parent / "home" / "hub" / "models--them--it"
    snapshot = cached / "snapshots" / "0123456789abcdef0123456789abcdef01234567"
    for place in (snapshot, cached / "blobs", cached / "refs"):
        place.mkdir(parents=True)
    (cached / "refs" / "main").write_text(snapshot.name)
    for path in folder.iterdir():
        shutil.copy(path, cached / "blobs" / f"hash-of-{path.name}")
        (snapshot / path.name).symlink_to(f"../../blobs/hash-of-{path.name}")
    return folder.parent / "home"


def ask(name: str, home: Path, **variables: str) -> str:
    """What loading a hub id says, in a program of its own: the hub's library reads its variables at import."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-c", ASK, name],
        env={**kept, "HF_HOME": str(home), **variables},
        cwd=home.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_cached_model_is_read_offline(home: Path) -> None:
    assert ask("them/it", home, HF_HUB_OFFLINE="1") == "8"


def test_a_model_that_is_nowhere_is_said_plainly(home: Path) -> None:
    assert ask("them/other", home, HF_HUB_OFFLINE="1") == (
        "2 them/other: there is no such folder, the hub's cache does not have it, and the hub cannot be reached; "
        "name a folder, or fetch it once while online"
    )


def test_a_name_that_the_hub_cannot_have_is_said_plainly(home: Path) -> None:
    said = ask("them/-other-", home, HF_HUB_OFFLINE="1")
    assert said.startswith("2 them/-other-: there is no such folder, and the hub says: Repo id must")


class Closed(http.server.BaseHTTPRequestHandler):
    """A hub that lets nobody in, and notes who came."""

    came: list[str | None]

    def do_GET(self) -> None:
        self.came.append(self.headers["Authorization"])
        self.send_response(401)
        self.send_header("X-Error-Message", "Bring a key")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815  # the library's own spelling

    def log_request(self, code: object = "", size: object = "") -> None:
        """Keep the test's output clean."""


@pytest.fixture
def closed() -> Iterator[http.server.HTTPServer]:
    Closed.came = []
    with http.server.HTTPServer(("127.0.0.1", 0), Closed) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_token_is_shown_to_the_hub_and_its_refusal_to_the_user(home: Path, closed: http.server.HTTPServer) -> None:
    address = f"http://127.0.0.1:{closed.server_address[1]}"
    said = ask("them/other", home, HF_ENDPOINT=address, HF_TOKEN="hf_key", NO_PROXY="127.0.0.1")
    assert said.startswith("2 them/other: there is no such folder, and the hub says: ")
    assert "401 Unauthorized" in said
    assert "Bearer hf_key" in Closed.came
