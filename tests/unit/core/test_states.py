"""The states stand twice: as a type for checkers, and as tuples for programs."""

from __future__ import annotations

import ast
import inspect

from midwatch.core import states
from midwatch.core.exit_codes import NEXT
from midwatch.core.verdict import FINAL, LIVE


def test_the_type_of_a_state_names_exactly_the_states() -> None:
    tree = ast.parse(inspect.getsource(states))
    typed = next(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "VerdictState"
    )
    words = [str(node.value) for node in ast.walk(typed) if isinstance(node, ast.Constant)]
    assert sorted(words) == sorted({*LIVE, *FINAL}) == sorted(NEXT)
