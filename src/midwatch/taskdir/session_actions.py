"""What a monitor does to the tmux session of a task: run its wrapper again, and clear it away at the end.

Targets are ids, which no other session can have. A command is typed only into the pane that was looked at, while it
is in no mode and nobody who is attached has touched a key for a moment.
"""

from __future__ import annotations

import os
import time

from midwatch.core.numbers import whole_number
from midwatch.taskdir.model import WrapperPane
from midwatch.tmux import client as tmux_client
from midwatch.tmux.client import ClientResult
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.socket_gate import UnsafeServerError

LIMIT = 5.0
A_PERSONS_TURN = 5.0
"""Seconds for which nothing is typed after a person who is attached has touched a key."""


class TaskSessionActions:
    def __init__(self, server: tuple[str, ...], tmux: str = tmux_client.PROGRAM) -> None:
        self.place = tmux_client.socket_path(server)
        self.tmux = tmux

    def run(self, pane: WrapperPane, command: str) -> str:
        """Type a command into a pane's shell and enter it. Returns why not; empty when it was typed.

        As text of a buffer, since keys that are typed would be read by tmux's own parser first.
        """
        if self._touched(pane.id):
            return "somebody is typing there"
        buffer = f"midwatch-{codec.mark(os.urandom(10))}"
        same = f"#{{==:#{{pane_pid}},{pane.pid}}}"
        answer = self._ask(
            *("set-buffer", "-b", buffer, "--", command, ";"),
            *("if-shell", "-F", "-t", pane.id, f"#{{&&:{same},#{{==:#{{pane_in_mode}},0}}}}"),
            f"paste-buffer -d -b {buffer} -t {pane.id} ; send-keys -t {pane.id} Enter ; display-message -p typed",
            f"delete-buffer -b {buffer} ; display-message -p '#{{pane_in_mode}}'",
        )
        said = answer.out.decode(errors="replace").strip()
        if said == "typed":
            return ""
        if answer.errors or answer.late:
            self._ask("delete-buffer", "-b", buffer)
            return answer.errors.strip() or "tmux does not answer"
        return "it is in copy mode"

    def clear_away(self, name: str, pane: str) -> str:
        """Close the capture and kill exactly the session of that name. Returns why not; empty when it is gone."""
        if pane:
            self._ask("pipe-pane", "-t", pane)
        listed = self._ask("list-sessions", "-F", "#{session_id} #{session_name}")
        pairs = [line.partition(" ") for line in listed.out.decode(errors="surrogateescape").splitlines()]
        meant = [number for number, _, called in pairs if called == name]
        if not meant:
            return listed.errors.strip()
        return self._ask("kill-session", "-t", meant[0]).errors.strip()

    def _touched(self, pane: str) -> bool:
        """Whether a person who is attached to a pane's session has just touched a key."""
        found = self._ask("list-clients", "-t", pane, "-F", "#{client_activity}").out.split()
        return any(time.time() - (whole_number(moment.decode()) or 0) < A_PERSONS_TURN for moment in found)

    def _ask(self, *command: str) -> ClientResult:
        if not tmux_client.is_socket(self.place):
            return ClientResult(
                b"", tmux_client.refusal(self.place) or f"no server running on {self.place}", late=False
            )
        try:
            return tmux_client.ask(self.place, [*command], time.monotonic() + LIMIT, tmux=self.tmux)
        except UnsafeServerError as error:
            return ClientResult(b"", str(error), late=False)
        except OSError as error:
            return ClientResult(b"", f"{self.tmux} cannot be started: {error.strerror}", late=False)
