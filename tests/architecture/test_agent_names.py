"""What is particular to one coding agent stands in its folder: its name is in no code outside of it.

Code asks for a part of an agent's folder by the name that a definition, a process or a row told
(`midwatch.agents.parts`), so another agent needs no change elsewhere. Prose may name agents: docstrings and comments
are not looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.agents import catalog, parts
from tests.architecture.test_shape import ROOT, SOURCES

PACKAGE = ROOT / "src" / "midwatch"
ANY = "program"
"""The folder of whatever program reports of itself; it is no agent's name."""
AGENTS = sorted({path.parent.name for path in PACKAGE.glob(f"agents/*/{catalog.FILE}")} - {ANY})
NAMES = (*AGENTS, "antigravity", "copilot")
NAMED = re.compile(
    rf"(?i:{'|'.join(name for name in NAMES if len(name) > 3)})"
    rf"|(?i:(?<![a-z])(?:{'|'.join(name for name in NAMES if len(name) <= 3)})(?![a-z]))"
)
"""A short name is one only as a word of its own."""
EVERYWHERE = ("compat/", "cli/command_table/")
"""Programs of others that are taken the place of, and help with its examples."""
ARGUED = {
    "cli/commands/spawn.py": (1, "an error shows how the command is written, with an example"),
    "config/model.py": (2, "names of tmux sessions by which the registry's first format told its own; a setting"),
    "config/project_files.py": (2, "directories of projects, as `midwatch trust` and the documents list them"),
    "stories/parse.py": (1, "the command that is asked if none is set; the documents name it"),
}
"""How many mentions a file may have, and why."""


def prose(tree: ast.AST) -> set[int]:
    """Strings that stand alone, such as docstrings."""
    return {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def words(node: ast.AST) -> Iterator[str]:
    """Every name and every text that a node of its own holds."""
    match node:
        case ast.Constant(value=str(value)):
            yield value
        case ast.Constant(value=bytes(content)):
            yield content.decode("utf-8", "replace")
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            yield name
        case ast.keyword(arg=str(name)) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ImportFrom(module=str(module)):
            yield module
        case ast.alias(name=name, asname=other):
            yield from filter(None, (name, other))


def mentions(code: str) -> list[int]:
    """Lines of code in which an agent is named."""
    tree = ast.parse(code)
    passed = prose(tree)
    return sorted(
        getattr(node, "lineno", 0)
        for node in ast.walk(tree)
        if id(node) not in passed and any(NAMED.search(word) for word in words(node))
    )


def is_judged(path: Path) -> bool:
    name = path.relative_to(PACKAGE).as_posix()
    own = tuple(f"agents/{agent}/" for agent in AGENTS)
    return not name.startswith((*own, *EVERYWHERE))


def test_the_names_are_those_of_the_folders() -> None:
    assert {"agy", "claude", "codex", "gemini", "opencode", "qwen"} <= set(AGENTS)


def test_no_code_outside_of_its_folder_names_an_agent() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): lines
        for path in SOURCES
        if is_judged(path) and (lines := mentions(path.read_text()))
    }
    assert {name: lines for name, lines in found.items() if len(lines) > ARGUED.get(name, (0, ""))[0]} == {}
    assert {name: len(found.get(name, [])) for name in ARGUED} == {name: count for name, (count, _) in ARGUED.items()}


@pytest.mark.parametrize(
    "code",
    [
        "if agent == 'claude': pass",
        "AGENTS = ('codex', 'x')",
        "from midwatch.agents.opencode.server import Server",
        "from midwatch.agents import gemini",
        "import midwatch.agents.qwen.files as found",
        "from x import y as CodexThing",
        "def claude_home(environment): pass",
        "class OpenCode: pass",
        "x = self.codex_daemon",
        "call(qwen=1)",
        "x = f'{agy_home}/brain'",
        "x = f'{home}/.claude'",
        "x = b'GEMINI_CLI_HOME'",
        "match agent:\n    case 'copilot': pass",
        "x = 'Antigravity'",
        "x = environment.get('CLAUDECODE')",
        "def look(agy): pass",
    ],
)
def test_a_mention_would_be_found(code: str) -> None:
    assert mentions(code)


@pytest.mark.parametrize(
    "code", ['"""Claude Code says so."""', "x = 1\n'''As Codex does.'''", "x = 1  # qwen", "x = 'imagyne'"]
)
def test_prose_may_name_agents(code: str) -> None:
    assert not mentions(code)


@pytest.mark.parametrize("agent", AGENTS)
def test_each_folder_has_a_definition_and_the_files_of_the_agent(agent: str) -> None:
    assert catalog.load(agent).agent == agent
    assert type(parts.files(agent)).__module__ == f"midwatch.agents.{agent}.files"
    assert (parts.database(agent) is not None) == parts.files(agent).in_database


def test_no_folder_imports_another_agents_folder() -> None:
    for agent in AGENTS:
        for path in (PACKAGE / "agents" / agent).glob("*.py"):
            others = [name for name in AGENTS if name != agent and f"midwatch.agents.{name}" in path.read_text()]
            assert not others, path
