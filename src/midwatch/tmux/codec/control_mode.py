"""tmux's control mode: what is written to a client in it, and bytes in, answers and notices out.

A client in control mode takes lines of commands. What each command prints stands between ``%begin T N F`` and ``%end T
N F`` (or ``%error``) with the same three numbers; lines outside are notices. The numbers can be guessed, by a program
that wants its screen to pass for tmux. So we trust a last line only: each request ends with a command that prints a
word of chance, and what came before that is the answer, whatever it holds. What the answer says is told from it by
marks and by counting (`tmux.codec.commands`).
"""

from __future__ import annotations

import re

from midwatch.core.pane_model import Pane
from midwatch.core.value import Value
from midwatch.tmux.codec.query_modes import BEGIN, END, QueryMode

ERROR = b"%error "
PLAIN = re.compile(r"[A-Za-z0-9-][A-Za-z0-9%-]*")
SIGN = re.compile(rb"^%.*", re.MULTILINE)
OVER = "Z"
"""After a request's word: the last line of its answer."""
FLAGS = "no-output,ignore-size"
HOOKS = ("client-attached", "client-session-changed", "client-detached", "pane-focus-in")
"""What an owner may have tmux do when somebody comes or goes; all others are not called by us (tried)."""
ALONE = "/0/0/(0|off)/(1|on)/$"
STATE = "/".join(
    [
        "#{pane_pid}/#{pane_dead}/#{session_attached}/#{exit-unattached}/#{detach-on-destroy}",
        "".join([f"#{{{hook}[0]}}" for hook in HOOKS]),
    ]
)


class ControlReply(Value):
    """Everything that came for one request, guards included."""

    text: bytes
    errors: str
    """What commands complained of."""


class ControlNotice(Value):
    """Something that happened on the server: its name without the sign, and the rest of the line."""

    name: str
    rest: str


Heard = ControlReply | ControlNotice


# Out ----------------------------------------------------------------------------------------------------------


def attach_command(pane: Pane) -> list[str]:
    """The command of a client in control mode that attaches it to the session of a pane that we started.

    Only if that is still the same pane in a session of exactly that name, and lives; nobody is attached to it; the
    server would not live on just because we are there; we are not put into another session when this one ends; and no
    hook of the owner waits for somebody to come. No server is started by it. All of that happens in one go, or nothing.
    """
    here = f"={pane.session}:.{pane.id}"
    come = f"attach-session -E -f {FLAGS} -t {quote_argument(f'={pane.session}:')}"
    return [
        *("has-session", "-t", here, ";"),
        *("if-shell", "-F", "-t", here, f"#{{m/r:^{pane.pid}{ALONE},{STATE}}}", come),
    ]


def encode_request(command: list[str], word: str, way: QueryMode) -> bytes:
    """Commands that are asked with a word, as lines; between them stands ";", or a line feed.

    If one fails, the rest of its line is dropped. A paste buffer has that word for its name and goes with the last of
    them, or with the next line if that one was dropped half way; otherwise there is none, and that line alone fails.
    """
    gone = f"delete-buffer -b {word}"
    line = " ".join([part if part in (";", "\n") else quote_argument(part) for part in command])
    lines = [f"{line} ; {gone}", gone] if way.buffered else [line]
    return "\n".join([*lines, f"display-message -p {word}{OVER}", ""]).encode("utf-8", "surrogateescape")


def quote_argument(text: str) -> str:
    """Any text but NUL as one argument of a command line of tmux, on one line.

    Nothing means anything between single quotes. They themselves and line feeds, which would end the line, stand
    outside of them.
    """
    if PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\\''").replace("\n", "'\\n'") + "'"


# In -----------------------------------------------------------------------------------------------------------


class ControlModeParser:
    """Reads a stream that may be cut anywhere."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._last: bytes | None = None
        self._guard: bytes | None = None

    def expect(self, word: str) -> None:
        """A request is sent: what comes is its answer, until it is over."""
        self._last = f"\n{word}{OVER}\n".encode()

    def feed(self, data: bytes) -> list[Heard]:
        heard: list[Heard] = []
        known = len(self._rest)
        self._rest += data
        if self._last is not None:
            at = self._rest.find(self._last, max(0, known - len(self._last)))
            if at < 0:
                return []
            text = self._cut(at + 1)
            errors = self._scan(text, heard)
            heard.append(ControlReply(text, errors))
            # The line before the last is its guard for sure, whatever a screen may have made us take for one.
            self._guard = text[text.rfind(b"\n", 0, at) + 1 : at].removeprefix(BEGIN)
            self._cut(len(self._last) - 1)
            self._last = None
        self._scan(self._cut(self._rest.rfind(b"\n") + 1), heard)
        return heard

    def _cut(self, length: int) -> bytes:
        text = bytes(self._rest[:length])
        del self._rest[:length]
        return text

    def _scan(self, text: bytes, heard: list[Heard]) -> str:
        """Find the notices in whole lines; what commands complained of."""
        errors: list[bytes] = []
        since = 0
        for found in SIGN.finditer(text):
            line = found[0]
            if self._guard is None:
                if line.startswith(BEGIN):
                    self._guard, since = line.removeprefix(BEGIN), found.end() + 1
                else:
                    name, _, rest = _decode(line[1:]).partition(" ")
                    heard.append(ControlNotice(name, rest))
            elif line == END + self._guard:
                self._guard = None
            elif line == ERROR + self._guard:
                self._guard = None
                errors.append(text[since : found.start()])
        return _decode(b"".join(errors))


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")
