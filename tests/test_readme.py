"""What the documents say is so: their commands run, their tables are the registry's, their tree is the real one.

`python tests/test_readme.py` writes the tables anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from bough import samples

ROOT = Path(__file__).parents[1]
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
DOCUMENTS = [README, CONTRIBUTING, *sorted((ROOT / "docs").glob("*.md"))]
INSTALLED = Path(sys.executable).parent


def blocks(document: Path, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)


def marked(document: Path, name: str) -> str:
    """What stands between a document's marks of this name."""
    return document.read_text().split(f"<!-- {name}:start -->\n")[1].split(f"<!-- {name}:end -->")[0]


def families() -> str:
    """The README's table of the tree."""
    rows = ["| family | year | limb | grew from | adds | sizes |", "| --- | --- | --- | --- | --- | --- |"]
    known = bough.families()
    for one in known.values():
        parent = known[one.parent].title if one.parent else ""
        sizes = ", ".join(f"`{name}`" for name in one.presets)
        rows.append(f"| {one.title} | {one.year} | {one.branch} | {parent} | {one.adds} | {sizes} |")
    return "\n".join(rows) + "\n"


def line_counts() -> str:
    """CONTRIBUTING's table of what a branch costs."""
    rows = ["| file | families | lines |", "| --- | --- | --- |"]
    files = sorted((ROOT / "bough" / "families").glob("*.py"))
    for file in (one for one in files if one.stem not in ("__init__", "family")):
        titles = [one.title for one in bough.families().values() if f'title="{one.title}"' in file.read_text()]
        rows.append(f"| `{file.name}` | {', '.join(titles)} | {len(file.read_text().splitlines())} |")
    return "\n".join(rows) + "\n"


TABLES = [(README, "families", families), (CONTRIBUTING, "lines", line_counts)]


def listed(tree: str) -> Iterator[str]:
    """The paths that an indented tree lists."""
    parents: list[str] = []
    for line in tree.splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        parents[depth:] = [name]
        yield "".join(parents)


def expected(code: str) -> list[str]:
    """What the comments behind and below its print calls say that a block prints."""
    lines: list[str] = []
    printing = False
    for line in map(str.strip, code.splitlines()):
        call, _, comment = line.partition("  # ")
        printing = line.startswith("print(") or (printing and line.startswith("# "))
        if printing and (comment or not call.startswith("print(")):
            lines.append(comment or line.removeprefix("# "))
    return lines


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home like that of a user who has seen the demo."""
    folder = tmp_path_factory.mktemp("home")
    (folder / ".cache" / "bough").mkdir(parents=True)
    (folder / ".cache" / "bough" / "minilm").symlink_to(samples.encoder())
    return folder


def run(command: list[str], home: Path) -> str:
    """What a command prints in that home."""
    kept = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    path = f"{INSTALLED}{os.pathsep}{os.environ['PATH']}"
    environment = {**kept, "HOME": str(home), "PATH": path, "PYTHONWARNINGS": "error", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.name)
def test_every_python_example_runs_and_prints_what_it_says(document: Path, home: Path) -> None:
    for code in blocks(document, "python"):
        assert run([sys.executable, "-c", code], home).splitlines() == expected(code)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.name)
def test_every_command_runs_and_every_make_target_exists(document: Path, home: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", document.read_text())) <= targets
    for line in "".join(blocks(document, "sh")).splitlines():
        command = line.partition(" #")[0].strip()
        if command.startswith("make "):
            assert command.removeprefix("make ") in targets
        elif command.startswith(".venv/bin/"):
            assert (INSTALLED / command.removeprefix(".venv/bin/").split()[0]).exists()
        else:
            assert run(["sh", "-euc", command], home)


@pytest.mark.parametrize(("document", "name", "table"), TABLES, ids=lambda one: one if isinstance(one, str) else "")
def test_its_tables_are_those_of_the_registry(document: Path, name: str, table: object) -> None:
    assert callable(table)
    assert marked(document, name) == table(), "run `python tests/test_readme.py`"


def test_no_branch_needs_more_than_a_hundred_and_fifty_lines() -> None:
    assert max(int(row) for row in re.findall(r"\| (\d+) \|", line_counts())) <= 150


def test_its_tree_is_the_real_one() -> None:
    said = list(listed(marked(README, "tree").strip("`\n").removeprefix("text\n")))
    package = ROOT / "bough"
    files = {
        f"{one.relative_to(ROOT)}" for one in package.rglob("*.py") if one.name not in ("__init__.py", "__main__.py")
    }
    rooms = {f"{one.parent.relative_to(ROOT)}/" for one in package.rglob("__init__.py")}
    assert {one for one in said if one.startswith("bough/")} == files | rooms
    assert [one for one in said if not (ROOT / one).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.name)
def test_every_link_leads_to_a_file(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", document.read_text())
    assert [one for one in links if not (document.parent / one).exists()] == []


if __name__ == "__main__":
    for document, name, table in TABLES:
        before, rest = document.read_text().split(f"<!-- {name}:start -->\n")
        after = rest.split(f"<!-- {name}:end -->")[1]
        document.write_text(f"{before}<!-- {name}:start -->\n{table()}<!-- {name}:end -->{after}")
