"""Values are made from annotations, which Python 3.14 no longer puts into the namespace of a class.

It puts a function there (`__annotate_func__`) that makes them when it is asked, unless a module has the future import.
No such Python is needed here: the namespaces that it would make are made by hand.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.value import Value
from tests.architecture.test_shape import ROOT, SOURCES

ANNOTATE = ("__annotate_func__", "__annotate__")
"""As Python 3.14 calls it, and as its first releases did."""


def make(name: str, space: dict[str, Any]) -> Any:
    """What a class statement does with the namespace that its body has filled."""
    maker: Any = type(Value)
    return maker(name, (Value,), {"__module__": __name__, "__qualname__": name} | space)


def annotate(fields: list[tuple[str, str]]) -> Any:
    """The function that Python 3.14 compiles for these annotations; it lives in a module where no name is known."""
    made = ", ".join(f"{name!r}: {annotation}" for name, annotation in fields)
    code = f"def annotate(format, /):\n    if format > 2: raise NotImplementedError\n    return {{{made}}}\n"
    space: dict[str, Any] = {"__builtins__": {"NotImplementedError": NotImplementedError}}
    exec(code, space)
    return space["annotate"]


def values() -> Iterator[tuple[Path, ast.ClassDef]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "Value" for base in node.bases):
                yield path, node


@pytest.mark.parametrize("key", ANNOTATE)
def test_a_value_is_made_where_annotations_are_not_evaluated(key: str) -> None:
    fields = [("x", "int"), ("y", "checkers.Only['this'] | None"), ("z", "tuple[int, ...] | Unknown[str]")]
    point = make("Point", {key: annotate(fields), "z": (7,)})
    assert point(1, 2) == (1, 2, (7,))
    assert (point(1, y=3).y, point._fields, point._field_defaults) == (3, ("x", "y", "z"), {"z": (7,)})


def test_a_value_is_made_where_annotations_are_values() -> None:
    assert make("Point", {"__annotations__": {"x": int, "y": int}})(1, 2).y == 2


def test_a_value_of_names_around_it_is_made() -> None:
    """A class in a function, with names of that function, and the cell in which 3.14 keeps the class's own names."""
    __classdict__ = {"x": 1}
    local = int

    def annotate(form: int, /) -> dict[str, object]:
        if form > 2:
            raise NotImplementedError
        return {"x": local, "y": __classdict__}

    assert make("Point", {"__annotate_func__": annotate})._fields == ("x", "y")


def test_a_value_without_fields_is_one() -> None:
    assert make("Nothing", {})() == ()


def test_every_value_of_the_tree_has_the_same_fields_under_python_3_14() -> None:
    found = 0
    for path, node in values():
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        real = getattr(importlib.import_module(module), node.name)
        fields = [
            (each.target.id, ast.unparse(each.annotation))
            for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        ]  # fmt: skip
        again = make(node.name, {"__annotate_func__": annotate(fields), **real._field_defaults})
        assert (again._fields, again._field_defaults) == (real._fields, real._field_defaults), (module, node.name)
        found += 1
    assert found > 50
