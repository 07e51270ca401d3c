"""Nothing prints what others wrote without choosing how.

A `ForeignText` is no `str`, so the type checker refuses to join, write or pass it where text is wanted. What it cannot
refuse is formatting: an f-string, `print` and `str` take anything. So it is asked for the type of every expression that
the program formats, and each one that is a foreign text is found, whatever its variable is called.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mypy import api

from tests.architecture.test_shape import ROOT, SOURCES

FOREIGN = "midwatch.core.foreign_text.ForeignText"
FORMATTERS = frozenset({"print", "str", "format", "repr", "ascii", "print_warning", "print_remark"})
"""What makes a text of anything, as a function or as a method."""
OWN = ("core/foreign_text.py",)
"""The type itself."""
FACES = [path for path in SOURCES if path.parent.name in ("cli", "compat")]
FILES = {"compat/story_automator/marker.py", "compat/story_automator/status_check.py", "cli/commands/demo.py"}
"""Faces that also write JSON to files of others; the demonstration shows its own result."""
NOTE = re.compile(r"^(?P<path>.+?):(?P<line>\d+): note: Revealed type is \"(?P<type>.*)\"$")

VIOLATIONS = (
    'print(f"it says {beat.note}")',
    'print(f"it says {words:>20}")',
    'print(f"{words!r}")',
    "print(words)",
    "print('x', mail.text)",
    "print(str(verdict.message))",
    'print("{}".format(mail.subject))',
    'print("%s" % mail.subject)',
    'print("%s %s" % (mail.id, mail.subject))',
    "print(perhaps)",
    'print(f"{perhaps or 1}")',
    "print(notes)",
    "print(*notes)",
    "print(', '.join(map(str, notes)))",
    "print(', '.join([f'{note}' for note in notes]))",
    "print(f'{notes[0]}')",
    "print(f'{next(iter(notes))}')",
)
CHOICES = ("print(beat.note.line())", "print(mail.text.block())", 'print(f"{words.line(20):<20}")', "print(mail.id)")
PLANTED = """
from midwatch.core.job_model import Beat
from midwatch.core.foreign_text import ForeignText
from midwatch.mail.model import Mail
from midwatch.core.verdict import Verdict

def face(verdict: Verdict, beat: Beat, mail: Mail, notes: list[ForeignText], perhaps: ForeignText | None) -> None:
    words = beat.note
    {}
"""


class Reveal(ast.NodeTransformer):
    """Has the type checker tell the type of whatever is formatted."""

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        node.value = revealed(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if called(node.func) in FORMATTERS or (called(node.func) == "map" and called(node.args[0]) in FORMATTERS):
            node.args = [revealed(each) for each in node.args]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod):
            node.right = revealed(node.right)
        return node


def called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def revealed(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Starred):
        return ast.Starred(revealed(node.value))
    if isinstance(node, ast.Constant | ast.JoinedStr):
        return node
    return ast.Call(ast.Name("reveal_type"), [node], [])


@pytest.fixture(scope="module")
def formatted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """By file, the lines that format a foreign text; those that are planted are files of their own."""
    base = tmp_path_factory.mktemp("revealed")
    planted = {f"planted_{at}.py": PLANTED.format(each) for at, each in enumerate((*VIOLATIONS, *CHOICES))}
    known = {str(path.relative_to(ROOT / "src" / "midwatch")): path.read_text() for path in SOURCES}
    for name, code in (known | planted).items():
        path = base / "midwatch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ast.unparse(ast.fix_missing_locations(Reveal().visit(ast.parse(code)))))
    told, trouble, _ = api.run(
        ["--config-file=", "--no-incremental", f"--cache-dir={os.devnull}", "--ignore-missing-imports", str(base)]
    )
    assert not trouble, trouble
    found: dict[str, list[str]] = {}
    count = 0
    for note in filter(None, map(NOTE.match, told.splitlines())):
        count += 1
        if FOREIGN in note["type"] and not note["type"].startswith("def "):
            lines = Path(note["path"]).read_text().splitlines()
            name = str(Path(note["path"]).relative_to(base / "midwatch"))
            found.setdefault(name, []).append(lines[int(note["line"]) - 1].strip())
    assert count > len(SOURCES), told[-2000:]
    return found


def test_no_foreign_text_is_formatted_without_a_choice(formatted: dict[str, list[str]]) -> None:
    assert {path: lines for path, lines in formatted.items() if not path.startswith(("planted", *OWN))} == {}


@pytest.mark.parametrize("at", range(len(VIOLATIONS)), ids=lambda at: VIOLATIONS[at])
def test_a_violation_would_be_found(formatted: dict[str, list[str]], at: int) -> None:
    assert f"planted_{at}.py" in formatted


@pytest.mark.parametrize("at", range(len(CHOICES)), ids=lambda at: CHOICES[at])
def test_a_choice_is_no_violation(formatted: dict[str, list[str]], at: int) -> None:
    assert f"planted_{len(VIOLATIONS) + at}.py" not in formatted


# JSON


def own_json(code: str) -> Iterator[int]:
    """Where JSON is made otherwise than by `core.json_text.dump`."""
    for node in ast.walk(ast.parse(code)):
        made = isinstance(node, ast.Attribute) and node.attr in ("dumps", "JSONEncoder")
        if made or (isinstance(node, ast.ImportFrom) and node.module == "json"):
            yield node.lineno  # type: ignore[attr-defined]  # both have one


@pytest.mark.parametrize("path", FACES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_faces_print_json_that_hides_nothing(path: Path) -> None:
    lines = list(own_json(path.read_text()))
    assert not lines or f"{path.parent.name}/{path.name}" in FILES


def test_other_json_would_be_found() -> None:
    assert list(own_json("import json\nprint(json.dumps(x, ensure_ascii=False))")) == [2]
    assert list(own_json("from json import dumps")) == [1]
