"""The causes that programs decide by are those that the documents list."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def declared() -> set[str]:
    tree = ast.parse((ROOT / "src/midwatch/core/causes.py").read_text())
    literals = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    (found,) = [node for node in literals if ast.unparse(node.value) == "Literal"]
    assert isinstance(found.slice, ast.Tuple)
    return {str(each.value) for each in found.slice.elts if isinstance(each, ast.Constant)} - {""}


def test_every_cause_is_listed_and_every_listed_cause_is_one() -> None:
    part = (ROOT / "docs/reference/states.md").read_text().split("## Causes\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[2] for line in part.splitlines() if line.startswith("| ")]
    assert {word for row in rows for word in re.findall(r"`([a-z-]+)`", row)} == declared()
