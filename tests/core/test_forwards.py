"""The trunk's forwards as they are written: none asks which family, mode or variant it is in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bough.core

FILES = sorted(Path(bough.core.__file__).parent.glob("*.py"))
RUNS = {"forward", "attend", "states", "state", "scores", "turn", "reads", "context", "extend", "crossed", "weights"}
"""The methods that run when a net does."""
WORDS = {"family", "spec", "kind", "mode", "model_type", "branch", "name", "isinstance", "type"}


def conditions(tree: ast.AST) -> Iterator[ast.expr]:
    """What is asked in every branch."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test
        elif isinstance(node, ast.Match):
            yield node.subject


def forwards() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every method of the trunk that runs when a net does."""
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name in RUNS:
                yield f"{file.stem}.{node.name}:{node.lineno}", node


@pytest.mark.parametrize("method", [pytest.param(node, id=name) for name, node in forwards()])
def test_no_forward_branches_on_a_family_a_mode_or_a_name(method: ast.FunctionDef) -> None:
    for condition in conditions(method):
        for node in ast.walk(condition):
            said = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            assert said not in WORDS, ast.unparse(condition)
            # A word is no tensor: what is compared with one is a name.
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, str)), ast.unparse(condition)
