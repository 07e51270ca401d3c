"""One module handles the signals that end a program; who else sets a handler does something else, and says what."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "midwatch"
HANDLERS = {
    "system/end_signals.py": "the handler",
    "jobs/foreground_relay.py": "passes signals on to the work in the foreground",
    "preflight/run.py": "ignores a second Ctrl-C while what it started is ended",
    "shim/fork.py": "the shim imports leaves only, and the work gets the handlers of its caller",
    "tmux/client.py": "a child before its program begins",
}


def sets_handler(code: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("signal", "sigaction", "add_signal_handler")
        and (node.attr == "add_signal_handler" or (isinstance(node.value, ast.Name) and node.value.id == "signal"))
        for node in ast.walk(ast.parse(code))
    )


def test_no_other_module_handles_signals() -> None:
    paths = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.rglob("*.py"))]
    assert [path for path in paths if sets_handler((ROOT / path).read_text())] == sorted(HANDLERS)


def test_a_handler_elsewhere_would_be_found() -> None:
    assert sets_handler("signal.signal(15, stop)")
    assert sets_handler("loop.add_signal_handler(15, stop)")
    assert not sets_handler("number = signal.SIGTERM")
