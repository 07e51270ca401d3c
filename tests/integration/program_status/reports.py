"""What a terminal understands of what it is sent, for tests that play one."""

from __future__ import annotations

import base64
import re

from tests.integration.run.terminals import Terminal

AUTO, ON = {"MIDWATCH_PROGRAM_STATUS": "auto"}, {"MIDWATCH_PROGRAM_STATUS": "on"}
GHOSTTY = {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.4.0"}
QUERY = b"\x1b]7501;?\x1b\\\x1b[c"
YES, ATTRIBUTES = b"\x1b]7501;?\x1b\\", b"\x1b[?62;22c"
REPORT = re.compile(rb"\x1b\]7501;(state=[\x20-\x7e]*)\x1b\\")
BAR = re.compile(rb"\x1b\]9;4;(\d+;\d+)\x07")


def answered(screen: Terminal, answer: bytes = YES + ATTRIBUTES) -> None:
    """Wait for the query, and answer it."""
    screen.see(re.escape(QUERY.decode("latin-1")))
    screen.type(answer)


def reports(screen: Terminal) -> list[dict[str, str]]:
    """The reports so far, with title and message as a person reads them."""
    return [_decoded(found) for found in REPORT.findall(screen.shown)]


def report(screen: Terminal, state: str) -> dict[str, str]:
    """Wait for a report of a state: the last one of it."""
    screen.see(rf"7501;state={state}(:[^\x1b]*)?\x1b\\")
    return [found for found in reports(screen) if found["state"] == state][-1]


def bars(screen: Terminal) -> list[str]:
    return [found.decode() for found in BAR.findall(screen.shown)]


def _decoded(pairs: bytes) -> dict[str, str]:
    found = dict(pair.split("=", 1) for pair in pairs.decode("ascii").split(":"))
    return found | {key: base64.b64decode(found[key]).decode() for key in ("title", "msg") if key in found}
