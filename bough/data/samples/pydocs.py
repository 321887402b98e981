"""The sample `pydocs`: the documentation that this Python carries, read from its sources, of which none is run."""

from __future__ import annotations

import ast
import inspect
import platform
import re
import sysconfig
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bough.data.samples.sides import split
from bough.errors import BoughError

TOPICS = "pydoc_data.topics"
"""The module that holds the texts behind `help("topics")`."""
LEFT_OUT = re.compile(r"site-packages|dist-packages|tests?|idle_test|config-.*|__pycache__")
"""Folders whose modules document nothing of Python's, or hold no modules."""
UNFIT = re.compile("[\0-\x08\x0b-\x1f\x7f\ud800-\udfff]")
"""What no text file should hold."""
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

README = """# pydocs

The documentation that Python {version} carries, as plain text: `train.txt`, `valid.txt` and `test.txt`, UTF-8. A blank
line ends a document. A document is a module's docstrings, each behind its name, or one of the topics of `help()`.

| side | documents | letters |
| --- | --- | --- |
{rows}

Source: the sources of the standard library in the folder of this Python. Another version has other documentation.

How it was made: no module was imported. Blank lines inside documents and control characters are left out. A package
stays on one side, which a hash decides.

Licence: the Python Software Foundation License, version 2; (c) 2001 and later, Python Software Foundation.
"""


@dataclass(frozen=True)
class Document:
    """The module it is of, and its text, which has no blank lines."""

    module: str
    text: str

    @property
    def package(self) -> str:
        """What stays on one side: a package with all its modules; each topic is one of its own."""
        return self.module if self.module.startswith(TOPICS) else self.module.split(".")[0]


def make() -> dict[str, bytes]:
    """The files of the sample."""
    folder = Path(sysconfig.get_path("stdlib"))
    packages: dict[str, list[Document]] = {}
    for one in documents(folder):
        packages.setdefault(one.package, []).append(one)
    if not packages:
        raise BoughError(f"pydocs: no sources in {folder}; use a Python that came with those of its library")
    sides = split(list(packages.values()), key=lambda one: one.package, weight=lambda one: {"letters": len(one.text)})
    texts = {name: "\n\n".join(one.text for one in side) + "\n" for name, side in sides.items()}
    return {**{f"{name}.txt": text.encode() for name, text in texts.items()}, "README.md": _readme(sides, texts)}


def documents(folder: Path) -> Iterator[Document]:
    """What the modules of a folder say of themselves, in the order of their names."""
    names = {_module(path.relative_to(folder)): path for path in sorted(folder.rglob("*.py"))}
    for name, path in sorted(names.items()):
        if any(LEFT_OUT.fullmatch(part) for part in path.relative_to(folder).parts):
            continue
        tree = _parsed(path)
        yield from _topics(tree) if name == TOPICS else ()
        text = _clean("\n".join(_docstrings(tree, name)))
        if text:
            yield Document(name, text)


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _parsed(path: Path) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that will once be errors
        try:
            return ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # a template, say, that is no module
            return ast.Module(body=[], type_ignores=[])


def _docstrings(node: Documented, name: str) -> Iterator[str]:
    """The docstring of a module, class or function behind its name, then those of what it defines."""
    text = ast.get_docstring(node)
    if text:
        asked = f"({ast.unparse(node.args)})" if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""
        yield f"{name}{asked}\n{text}"
    for inner in node.body:
        if isinstance(inner, Documented):
            yield from _docstrings(inner, f"{name}.{inner.name}")


def _topics(tree: ast.Module) -> Iterator[Document]:
    """The topics: the one dictionary that the module holds."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            for name, text in ast.literal_eval(node.value).items():
                yield Document(f"{TOPICS}.{name}", _clean(inspect.cleandoc(text)))


def _clean(text: str) -> str:
    lines = (UNFIT.sub("", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _readme(sides: Mapping[str, Sequence[Document]], texts: Mapping[str, str]) -> bytes:
    rows = "\n".join(f"| {name} | {len(side)} | {len(texts[name])} |" for name, side in sides.items())
    return README.format(version=platform.python_version(), rows=rows).encode()
