"""Every client of tmux goes through one gate: `tmux/client.py` builds its command line, checks it, and starts it.

What a client asks for is built in `tmux/` too: no other package holds a command of tmux.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "midwatch"
GATE = "tmux/client.py"
STARTERS = frozenset((
    "run", "Popen", "call", "check_call", "check_output", "posix_spawn", "posix_spawnp", "execv", "execve", "execvp",
    "execvpe", "execl", "execlp", "system", "popen", "create_subprocess_exec", "create_subprocess_shell",
))  # fmt: skip
"""Calls that start programs."""


CALLED = re.compile(r"(^|[\s;&|(`])tmux\s+(-|[a-z]+-[a-z]+\b|ls\b|attach\b|display\b)")
"""How a script would call it."""


def is_program(node: ast.AST) -> bool:
    """What names the program: a literal, or one of the names that it has in our code."""
    match node:
        case ast.Constant(value=str(text)):
            return text.rpartition("/")[2] == "tmux"
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ("tmux", "PROGRAM")
    return False


def is_line(node: ast.AST) -> bool:
    """A literal that a shell would run."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(CALLED.search(node.value))


def breaches(code: str) -> list[int]:
    """Lines that build a command line of tmux, or start it."""
    found = []
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.List(elts=[first, *_]) if is_program(first):
                found.append(node.lineno)
            case ast.Tuple(elts=[first, second, *_]) if is_program(first) and not is_word(second):
                found.append(node.lineno)
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[first, *_]) if name in STARTERS:
                found += [node.lineno] if is_program(first) or is_line(first) else []
    return found


def private_uses(code: str) -> list[int]:
    """Lines that use what is private to the gate, by whatever name it was imported."""
    tree, found, names = ast.parse(code), [], {"midwatch.tmux.client"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "midwatch.tmux":
            names |= {each.asname or each.name for each in node.names if each.name == "client"}
        elif isinstance(node, ast.ImportFrom) and node.module == "midwatch.tmux.client":
            found += [node.lineno for each in node.names if each.name.startswith("_")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and ast.unparse(node.value) in names:
            found.append(node.lineno)
    return found


def is_word(node: ast.AST) -> bool:
    """Of a list of names ("tmux", "ntm"), not of a command ("tmux", "-u")."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isalpha()


def test_no_other_module_builds_or_starts_a_client() -> None:
    found = {
        path.relative_to(SOURCES).as_posix(): lines
        for path in sorted(SOURCES.rglob("*.py"))
        if (lines := breaches(path.read_text()))
    }
    assert set(found) == {GATE}, found


def test_no_other_module_starts_what_the_gate_starts() -> None:
    """The parts of the gate that check nothing are private to it."""
    for path in sorted(SOURCES.rglob("*.py")):
        assert private_uses(path.read_text()) == [], path


@pytest.mark.parametrize(
    "code",
    [
        "from midwatch.tmux import client as gate\ngate._start(x)",
        "import midwatch.tmux.client\nmidwatch.tmux.client._start(x)",
        "x = 1\nfrom midwatch.tmux.client import _start",
    ],
)
def test_such_a_use_is_found(code: str) -> None:
    assert private_uses(code) == [2]


def test_no_script_of_ours_calls_tmux() -> None:
    from midwatch.cli.commands import completion  # noqa: PLC0415

    scripts = [*SOURCES.rglob("*.sh"), *SOURCES.rglob("*.js"), Path(completion.__file__)]
    assert scripts
    for path in scripts:
        assert not [line for line in path.read_text().splitlines() if CALLED.search(line)], path


@pytest.mark.parametrize(
    "code",
    [
        "subprocess.run(['tmux', '-S', path])", "x = ['tmux', *words]", "x = [servers.PROGRAM, '-S', place]",
        "x = [self.tmux, *words]", "os.execvp('tmux', words)", "x = ('tmux', '-u')", "os.system('tmux kill-server')",
        "x = ['/usr/bin/tmux', 'ls']",
    ],
)  # fmt: skip
def test_such_a_line_is_found(code: str) -> None:
    assert breaches(code) == [1]


@pytest.mark.parametrize("code", ["WAYS = ('tmux', 'ntm')", "x = {'tmux': look}", "Finding('note', 'tmux', says)"])
def test_words_are_no_commands(code: str) -> None:
    assert breaches(code) == []


COMMANDS = frozenset((
    "attach-session", "bind-key", "break-pane", "capture-pane", "choose-buffer", "choose-client", "choose-tree",
    "clear-history", "command-prompt", "confirm-before", "copy-mode", "delete-buffer", "detach-client",
    "display-menu", "display-message", "display-panes", "display-popup", "find-window", "has-session", "if-shell",
    "join-pane", "kill-pane", "kill-server", "kill-session", "kill-window", "last-pane", "last-window", "link-window",
    "list-buffers", "list-clients", "list-commands", "list-keys", "list-panes", "list-sessions", "list-windows",
    "load-buffer", "lock-client", "lock-server", "lock-session", "move-pane", "move-window", "new-session",
    "new-window", "next-layout", "next-window", "paste-buffer", "pipe-pane", "previous-layout", "previous-window",
    "refresh-client", "rename-session", "rename-window", "resize-pane", "resize-window", "respawn-pane",
    "respawn-window", "rotate-window", "run-shell", "save-buffer", "select-layout", "select-pane", "select-window",
    "send-keys", "send-prefix", "set-buffer", "set-environment", "set-hook", "set-option", "set-window-option",
    "show-buffer", "show-environment", "show-hooks", "show-messages", "show-options", "show-window-options",
    "source-file", "split-window", "start-server", "suspend-client", "swap-pane", "swap-window", "switch-client",
    "unbind-key", "unlink-window", "wait-for",
))  # fmt: skip
"""`tmux list-commands`, but for the aliases, which are ordinary words."""


def tmux_words(code: str) -> list[int]:
    """Lines with a string that is a command of tmux, or several. Prose that names one does not begin with it."""
    texts = [(node.lineno, node.value) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
    return [
        line
        for line, text in texts
        if isinstance(text, str) and any(set(each.split()[:1]) & COMMANDS for each in text.split(";"))
    ]


def test_no_other_package_builds_a_command_of_tmux() -> None:
    found = {
        path.relative_to(SOURCES).as_posix(): tmux_words(path.read_text()) for path in sorted(SOURCES.rglob("*.py"))
    }
    assert {path: lines for path, lines in found.items() if lines and not path.startswith("tmux/")} == {}
    assert "tmux/sessions.py" in {path for path, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        "ask(place, ['kill-pane', '-t', pane])", "x = f'send-keys -t {pane} Enter'",
        "x = f'if -F {guard} ; paste-buffer -t {pane}'",
    ],
)  # fmt: skip
def test_such_a_command_is_found(code: str) -> None:
    assert tmux_words(code) == [1]


@pytest.mark.parametrize("code", ["x = 'see `tmux list-sessions`'", "x = 'midwatch kill-all'"])
def test_prose_is_no_command(code: str) -> None:
    assert tmux_words(code) == []
