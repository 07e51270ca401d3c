"""What Codex's shared daemon says of the conversation in a pane.

The daemon listens on a Unix socket and speaks JSON-RPC over WebSocket. We only read, by `thread/loaded/list` and
`thread/read`; `thread/list` is left alone, because it repairs the daemon's database on the way. The name that we give
is that of Codex's own probe: any other the daemon would from then on send along with its requests to the model, and
write into the conversations that people begin.

A connection is kept between looks. On it the daemon tells when a conversation's status changes: thence the moment.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

from midwatch.agents import conversation_holders
from midwatch.agents.codex.conversation import (
    CodexThread,
    ConversationChoice,
    choose_conversation,
    never,
    start_time,
    unused_conversation,
    works_in,
)
from midwatch.agents.codex.websocket import ConnectionLostError, WebSocket
from midwatch.agents.definition import Detector
from midwatch.core.numbers import parse_moment
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system import process_tree

TYPE_CHECKING = False  # the typing module costs half an interpreter start
if TYPE_CHECKING:
    from typing import Any

LIMIT = 0.5
"""Seconds that one look may take."""
CLIENT = {"name": "codex_app_server_daemon", "title": "Midwatch", "version": "1"}


class CodexDaemon:
    """The daemons, one for each home of Codex."""

    def __init__(self) -> None:
        self._daemons: dict[str, _DaemonConnection] = {}

    def read(
        self,
        running: RunningAgent,
        conversation: str = "",
        before: str = "",
        blank: Callable[[], bool] = never,
        alone: Callable[[], bool] = never,
    ) -> SourceReport | None:
        """What its daemon says of the conversation in a pane; None where no daemon runs or knows of one.

        Of a Codex without a daemon: which conversation it has begun and not used yet.

        ``conversation`` is its id where a better source knows it. Else ``before``, ``blank`` and ``alone`` help to
        choose (see ``whose``).
        """
        daemon = self._daemon(running)
        if daemon is None:
            new = unused_conversation(running)
            return SourceReport("api", None, {"conversation": new}) if new and blank() else None
        deadline = time.monotonic() + LIMIT
        try:
            found = ConversationChoice(conversation)
            if not conversation:
                found = choose_conversation(daemon.loaded(deadline), running, before, blank, alone)
            if not found.id:
                return SourceReport("api", None, {}, found.trouble, found.unclear) if found.trouble else None
            return daemon.observe(found.id, deadline)
        except ConnectionLostError as error:
            daemon.close()
            return SourceReport("api", None, {}, f"Codex's daemon {error}")

    def daemon_pid(self, running: RunningAgent) -> int | None:
        """The process that the tools of a Codex are below; None where it has no daemon."""
        daemon = self._daemon(running)
        try:
            return daemon.pid(time.monotonic() + LIMIT) if daemon else None
        except ConnectionLostError:
            return None

    def is_alone(self, running: RunningAgent, agent: Detector) -> bool:
        """Whether no other Codex that lives can have begun a conversation of its daemon in its directory."""
        own = process_tree.list_ancestry(running.pid)
        for task in conversation_holders.find_running_agents(agent):
            if task.pid in own or running.pid in process_tree.list_ancestry(task.pid):
                continue  # a launcher and the program that it has started are one Codex
            other = process_tree.find_running_agent(task, running.agent, agent.variables)
            if other and daemon_socket_path(other) == daemon_socket_path(running) and works_in(running.cwd, other):
                return False
        return True

    def close(self) -> None:
        for daemon in self._daemons.values():
            daemon.close()

    def _daemon(self, running: RunningAgent) -> _DaemonConnection | None:
        path = daemon_socket_path(running)
        return self._daemons.setdefault(path, _DaemonConnection(path)) if os.path.exists(path) else None


def daemon_socket_path(running: RunningAgent) -> str:
    """Where the daemon of a Codex listens; empty for one that has its own server."""
    home = running.environment.get("CODEX_HOME") or running.environment.get("HOME", "") + "/.codex"
    # The name in Codex's home is a link, since that path may be longer than a socket's may be.
    path = os.path.realpath(f"{home}/app-server-control/app-server-control.sock")
    return "" if "--no-daemon" in running.args else path


class _DaemonConnection:
    """One daemon: asks, remembers what does not change, and when what does change did so."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._wire: WebSocket | None = None
        self._count = 0
        self._threads: dict[str, CodexThread] = {}
        self._changed: dict[str, tuple[object, float]] = {}
        """Status of a conversation as the daemon told it by itself, and when."""

    def loaded(self, deadline: float) -> list[CodexThread]:
        """Every conversation that the daemon has in memory."""
        (listed,) = self._ask(deadline, ("thread/loaded/list", {}))
        found = [each for each in listed.get("data") or [] if isinstance(each, str)]
        self._read(deadline, [each for each in found if each not in self._threads])
        if any(each in self._threads and not self._threads[each].used for each in found):
            # Which one it is depends on when the others had their last prompt.
            self._read(deadline, [each for each in found if each in self._threads and not self._threads[each].hidden])
        return [self._threads[each] for each in found if each in self._threads]

    def _read(self, deadline: float, conversations: list[str]) -> None:
        for reply in self._ask(deadline, *[("thread/read", {"threadId": each}) for each in conversations]):
            self._learn(reply.get("thread"))

    def observe(self, conversation: str, deadline: float) -> SourceReport | None:
        (reply,) = self._ask(deadline, ("thread/read", {"threadId": conversation}))
        thread = self._learn(reply.get("thread"))
        if thread is None:
            return None
        status = reply["thread"].get("status")
        if not isinstance(status, dict) or not isinstance(status.get("type"), str):
            raise ConnectionLostError("gives no status of its conversation; is it of a later version?")
        told, at = self._changed.get(conversation, (None, 0.0))
        flags = status.get("activeFlags")
        words = {"status": status["type"], "flags": ",".join(map(str, flags if isinstance(flags, list) else []))}
        words |= {"conversation": thread.id, "cwd": thread.cwd, "transcript": thread.path}
        return SourceReport("api", at or None if told == status else None, words)

    def pid(self, deadline: float) -> int | None:
        if self._wire is None:
            self._ask(deadline, ("thread/loaded/list", {}))
        return self._wire.peer or None if self._wire else None

    def close(self) -> None:
        if self._wire is not None:
            self._wire.close()
        self._wire = None

    def _learn(self, found: Any) -> CodexThread | None:
        if not isinstance(found, dict) or not isinstance(found.get("id"), str):
            return None
        source = found.get("threadSource") or "user"
        hidden = bool(found.get("ephemeral") or found.get("parentThreadId") or source != "user")
        thread = CodexThread(
            id=found["id"],
            cwd=str(found.get("cwd") or ""),
            path=str(found.get("path") or ""),
            begun=start_time(found["id"]),
            hidden=hidden,
            used=hidden or bool(found.get("preview", "?")),
            asked=parse_moment(found.get("recencyAt")) or 0.0,
        )
        self._threads[thread.id] = thread
        return thread

    def _ask(self, deadline: float, *calls: tuple[str, dict[str, str]]) -> list[dict[str, Any]]:
        """Send some requests and wait for every reply; {} for one that was refused."""
        if self._wire is not None:
            try:
                return self._exchange(self._wire, deadline, calls)
            except ConnectionLostError:  # it was restarted since, or dropped us for not listening
                self.close()
        self._changed = {}
        self._wire = WebSocket(self._path, deadline)
        self._exchange(self._wire, deadline, [("initialize", {"clientInfo": CLIENT})])
        self._wire.send(b'{"method": "initialized"}', deadline)
        return self._exchange(self._wire, deadline, calls)

    def _exchange(self, wire: WebSocket, deadline: float, calls: Any) -> list[dict[str, Any]]:
        wanted: dict[int, dict[str, Any]] = {}
        for method, parameters in calls:
            self._count += 1
            wanted[self._count] = {}
            call = {"id": self._count, "method": method, "params": parameters}
            wire.send(json.dumps(call).encode(), deadline)
        left = set(wanted)
        while left:
            message = _parse_reply(wire.receive(deadline))
            if message.get("method") == "thread/status/changed":
                self._note(message)
            elif message.get("id") in left and "method" not in message:
                left.remove(message["id"])
                result = message.get("result")
                wanted[message["id"]] = result if isinstance(result, dict) else {}
        return list(wanted.values())

    def _note(self, message: dict[str, Any]) -> None:
        told, at = message.get("params"), message.get("emittedAtMs")
        if isinstance(told, dict):
            moment = at / 1000 if isinstance(at, int | float) else 0.0
            self._changed[str(told.get("threadId"))] = (told.get("status"), moment)


def _parse_reply(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ConnectionLostError(f"says what we do not understand: {text[:30]!r}")
    return found
