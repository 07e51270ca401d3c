"""Panes of ours whose program has ended: whether one is still there, and closing exactly that one.

Whether it may be closed is asked in the same command that closes it, so nothing can begin in it in between.
"""

from __future__ import annotations

import time

from midwatch.core.job_model import PaneRef
from midwatch.tmux import client as tmux_client
from midwatch.tmux.client import ClientResult
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.socket_gate import UnsafeServerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    PaneState = Literal["gone", "dead", "attached", "alive", "unknown"]

LIMIT = 10.0
ABSENT_PANE = ("can't find pane", "can't find window", "can't find session")


def pane_state(seat: PaneRef) -> PaneState:
    """What has become of a pane: gone, dead, dead with a person who looks at it, alive, or nobody knows."""
    answer = _ask(seat, "display-message", "-p", "-t", seat.id, "#{pane_dead} #{session_attached} #{pid} #{start_time}")
    if answer.late or not answer.out.strip():
        return _read_refusal(answer)
    dead, attached, life = [*answer.out.decode(errors="replace").strip().split(" ", 2), "", ""][:3]
    if seat.life and life != seat.life:
        return "gone"
    if dead != "1":
        return "alive" if life else "gone"  # an answer without a server's life names no pane
    return "dead" if attached == "0" else "attached"


def close_if_dead(seat: PaneRef) -> PaneState:
    """Close a pane in which nothing runs and at which nobody looks; its session goes with its last pane."""
    ours = f"#{{==:#{{pid}} #{{start_time}},{seat.life}}}"
    free = f"#{{&&:#{{==:#{{pane_dead}},1}},#{{&&:#{{==:#{{session_attached}},0}},{ours}}}}}"
    _ask(seat, "if-shell", "-F", "-t", seat.id, free, f"kill-pane -t {seat.id}")
    return pane_state(seat)


def _read_refusal(answer: ClientResult) -> PaneState:
    if answer.late:
        return "unknown"
    said = answer.errors.strip()
    if not said or said.startswith(ABSENT_PANE):
        return "gone" if said else "unknown"
    return "gone" if codec.read_trouble(said, "").cause == codec.ABSENT else "unknown"


def _ask(seat: PaneRef, *words: str) -> ClientResult:
    try:
        return tmux_client.run_client(tmux_client.socket_path(seat.server), [*words], time.monotonic() + LIMIT)
    except (OSError, UnsafeServerError) as error:
        return ClientResult(b"", f"not asked: {error}", late=False)
