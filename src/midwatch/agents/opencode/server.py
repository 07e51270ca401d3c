"""What OpenCode's own server says of the sessions in its directory.

It listens only if OpenCode was told a port, by argument or in its settings; which one is seen from the sockets of the
process. It is asked for no more than three lists that it has in memory. A session that it does not list is idle; one
that waits for a person is busy in that list, and the questions stand in the two others.
"""

from __future__ import annotations

import json
import os
import time

from midwatch.core.errors import MidwatchError
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.core.value import Value
from midwatch.system import procfs

TYPE_CHECKING = False  # the typing module costs half an interpreter start
if TYPE_CHECKING:
    from typing import Any

LIMIT = 0.5
"""Seconds that one look may take."""
LARGEST = 1 << 22
MOST = 512
"""Agents that are remembered."""
LISTENING = "0A"
LOCAL = ("0100007F", "00000000")
"""Addresses that reach us on this machine, as the kernel writes them."""
HIDDEN = "its server runs in another network, where it cannot be asked"


class ServerSilentError(MidwatchError):
    """The server cannot be asked, or says what we do not understand."""


class OpenCodeServer:
    def __init__(self) -> None:
        self._known: dict[tuple[int, int], _Sockets] = {}

    def read(self, running: RunningAgent, conversation: str = "") -> SourceReport | None:
        """What the server says; None where there is none."""
        who = (running.pid, running.start)
        self._known[who] = found = find_sockets(running.pid, self._known.pop(who, None))
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        port = found.port
        if port is None:
            return None
        try:
            if os.stat(f"/proc/{running.pid}/ns/net").st_ino != os.stat("/proc/self/ns/net").st_ino:
                return SourceReport("api", None, {}, HIDDEN)
            ask = _Server(port, running.cwd)
            try:
                status, permissions, questions = ask("/session/status"), ask("/permission"), ask("/question")
                sessions = ask("/session") if isinstance(status, dict) and len(status) > 1 and not conversation else []
            finally:
                ask.close()
        except (OSError, ServerSilentError) as error:
            return SourceReport("api", None, {}, f"OpenCode's server {error}")
        return combine_replies(status, permissions, questions, sessions, conversation)


def combine_replies(
    status: Any, permissions: Any, questions: Any, sessions: Any, conversation: str = ""
) -> SourceReport:
    """The server's answers, put together. With several sessions at work the one that no other began is meant."""
    if not isinstance(status, dict) or not all(isinstance(each, list) for each in (permissions, questions, sessions)):
        return SourceReport(
            "api", None, {}, "OpenCode's server says what we do not understand; is it of a later version?"
        )
    children = {each.get("id") for each in sessions if isinstance(each, dict) and each.get("parentID")}
    at_work = {key: each for key, each in status.items() if isinstance(each, dict)}
    found = conversation or next((key for key in at_work if key not in children), next(iter(at_work), ""))
    this = at_work.get(found, {})
    words = {"status": str(this.get("type") or "idle"), "conversation": found}
    words["waiting"] = "permission" if permissions else "question" if questions else ""
    for word, key in (("message", "message"), ("retry_attempt", "attempt")):
        if key in this:
            words[word] = str(this[key])
    if isinstance(this.get("next"), int | float):
        words["retry_next"] = str(this["next"] / 1000)
    return SourceReport("api", None, words)


class _Sockets(Value):
    """The sockets of a process, and the port at which it can be reached through one of them."""

    own: frozenset[str]
    port: int | None
    sure: bool = False
    """Two looks found the same sockets: none of them will begin to listen any more."""


def find_sockets(pid: int, before: _Sockets | None = None) -> _Sockets:
    """The port at which a process can be reached from this machine; the lowest if there are several.

    Which of all sockets of the machine listen costs the kernel more than all else of a look: it is asked no oftener
    than it takes to be sure.
    """
    try:
        links = [_read_link(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        own = frozenset([link[len("socket:[") : -1] for link in links if link.startswith("socket:[")])
        if before is not None and before.own == own and before.sure:
            return before
        lines = procfs.read_text(f"/proc/{pid}/net/tcp").splitlines()[1:] if own else []
    except OSError:
        return _Sockets(frozenset(), None)
    ports = []
    for fields in map(str.split, lines):
        address, _, port = fields[1].partition(":")
        if fields[3] == LISTENING and address in LOCAL and fields[9] in own:
            ports.append(int(port, 16))
    return _Sockets(own, min(ports, default=None), sure=before is not None and before.own == own)


def _read_link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


class _Server:
    """Asks one server, all questions together for no longer than the limit."""

    def __init__(self, port: int, directory: str) -> None:
        import http.client  # noqa: PLC0415  # costs as much as all else that is imported, and few have such a server
        from urllib.parse import quote  # noqa: PLC0415

        self._deadline = time.monotonic() + LIMIT
        self._broken = (http.client.HTTPException, ValueError, RecursionError)
        self._query = f"?directory={quote(directory, safe='')}"
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)

    def __call__(self, path: str) -> Any:
        try:
            self._wait()
            self._connection.request("GET", path + self._query, headers={"Accept": "application/json"})
            answer = self._connection.getresponse()
            data = b""
            while part := answer.read1(1 << 16):
                data += part
                self._wait()
                if len(data) > LARGEST:
                    raise ServerSilentError("says more than we can hear")
            answer.close()  # else the connection does not know that it has been read to its end
            if answer.status != 200:  # noqa: PLR2004
                raise ServerSilentError(f"refuses to answer ({answer.status} {answer.reason})")
            return json.loads(data)
        except OSError as error:
            raise ServerSilentError(f"does not answer: {error.strerror or error}") from error
        except self._broken as error:
            raise ServerSilentError(f"says what we do not understand: {type(error).__name__}") from error

    def close(self) -> None:
        self._connection.close()

    def _wait(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise ServerSilentError(f"does not answer within {LIMIT:g} s")
        self._connection.timeout = left
        if self._connection.sock is not None:
            self._connection.sock.settimeout(left)
