"""One row and what was found of it: which pane is its own, and each drift in words."""

from __future__ import annotations

from midwatch.core.presence import LIVES, UNKNOWN
from midwatch.core.shells import SHELLS
from midwatch.core.text import visible
from midwatch.core.value import Value
from midwatch.registry.model import (
    AUTO_DETECTED,
    OTHER_LIST,
    OUTSIDE,
    REPORTED,
    RUNNING,
    TERMINATED,
    Drift,
    PaneDirectory,
    RegistryRow,
    SetFields,
    TmuxPane,
    TmuxSnapshot,
    UnregisteredPane,
)

CREATOR = "-creator-"


class RowCase(Value):
    """A row, and what there is of it."""

    pane: TmuxPane | None
    """The pane of its session; of several the one that the row names, else the one with its agent, else the first."""
    moved: TmuxPane | None
    """Its own pane in a session of another name."""
    lives: bool
    """Its process lives, or there is one of which nobody can tell whether it is its own."""
    trouble: str
    """Why its server could not be asked."""


class RowMatcher:
    """What was found, by the names under which rows ask for it."""

    def __init__(self, sight: TmuxSnapshot) -> None:
        self.sight = sight
        self.sessions: dict[str, list[TmuxPane]] = {}
        self.pids: dict[int, list[TmuxPane]] = {}
        for pane in sight.panes:
            self.sessions.setdefault(pane.session, []).append(pane)
            self.pids.setdefault(pane.pid, []).append(pane)
        self.open = {(pane.agent, pane.conversation) for pane in sight.panes if pane.conversation}

    def case(self, row: RegistryRow) -> RowCase:
        own = self._there(row, self.sessions.get(row.name, []))
        moved = (
            ()
            if own
            else (each for each in self._there(row, self.pids.get(row.pane.pid, [])) if is_same_pane(row, each))
        )
        process = self.sight.processes.get(row.at, UNKNOWN)
        return RowCase(
            pane=max(own, key=lambda pane: _rank(row, pane), default=None),
            moved=next(iter(moved), None),
            lives=process == LIVES or (process == UNKNOWN and row.pane.pid > 0),
            trouble=self.sight.troubles.get(row.server, ""),
        )

    def _there(self, row: RegistryRow, panes: list[TmuxPane]) -> list[TmuxPane]:
        return [pane for pane in panes if row.server is None or pane.server == row.server]


def _rank(row: RegistryRow, pane: TmuxPane) -> tuple[bool, ...]:
    return (not pane.dead, is_same_pane(row, pane), bool(row.agent) and pane.agent == row.agent, bool(pane.agent))


def is_same_pane(row: RegistryRow, pane: TmuxPane) -> bool:
    """Whether it is the very pane that the row names. A number alone may be another's after a restart of tmux."""
    if not row.pane.pid or row.pane.pid != pane.pid or (row.pane.id and row.pane.id != pane.id):
        return False
    return not row.pane.start or not pane.start or row.pane.start == pane.start


def is_other_pane(row: RegistryRow, pane: TmuxPane) -> bool:
    """Whether the session's pane is not the one that the row names; one that names none is left as it is."""
    return row.pane.pid > 0 and not is_same_pane(row, pane)


def has_exited(row: RegistryRow, pane: TmuxPane) -> bool:
    """Whether the agent of a row is gone, and its pane is there: dead, or with a shell where the agent was."""
    if pane.dead:
        return True
    return not pane.agent and is_shell(pane.command) and bool(row.pane.cmd) and not is_shell(row.pane.cmd)


def is_shell(command: str) -> bool:
    return command.removeprefix("-") in SHELLS


def is_wanted(row: RegistryRow) -> bool:
    """Whether somebody may want the conversation of a row back."""
    return row.resumable is not False and row.status != "archived"


def is_text_path(path: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in path)


def find_agent_name(session: str) -> str:
    """The agent that a name like `lab-creator-claude` tells; empty where it tells none."""
    _, creator, agent = session.rpartition(CREATOR)
    return agent if creator else ""


def pane_fields(pane: TmuxPane, boot: str) -> dict[str, object]:
    found: dict[str, object] = {"pid": pane.pid, "cmd": pane.command, "cwd": pane.cwd, "id": pane.id}
    if not is_text_path(pane.cwd):
        del found["cwd"]  # a list is UTF-8, and a path need not be
    if pane.start and boot:
        found |= {"start": pane.start, "boot": boot}
    return found


# The drifts --------------------------------------------------------------------------------------------------------


def terminated_drift(row: RegistryRow, at: str) -> Drift:
    was = ", ".join(
        part for part in (f"pane {row.pane.pid}" if row.pane.pid else "", _format_pair("cmd", row.pane.cmd)) if part
    )
    before: dict[str, object] = {"status": RUNNING}
    before |= {"pane.pid": row.pane.pid} if row.pane.pid else {}
    before |= {"pane.cmd": row.pane.cmd} if row.pane.cmd else {}
    after: dict[str, object] = {"status": TERMINATED, "terminated_at": at, "termination_mode": AUTO_DETECTED}
    what = f"{row.name}: tmux gone{f' (was {was})' if was else ''}."
    return Drift("A", row.name, what, before, after, SetFields(row.at, after), "Marked terminated.")


def reported_end_drift(row: RegistryRow, host: str, state: str, at: str) -> Drift:
    """The end of a session on another machine, as that machine reports it."""
    after: dict[str, object] = {
        "last_visible_status": state, "status": TERMINATED, "terminated_at": at, "termination_mode": REPORTED,
    }  # fmt: skip
    before: dict[str, object] = {"status": RUNNING, "host": host}
    what = f"{row.name}: {host} reports that it has ended ({state})."
    return Drift("reported", row.name, what, before, after, SetFields(row.at, after), "Marked terminated.")


def claimed_end_drift(row: RegistryRow, host: str, state: str) -> Drift:
    """The same where nothing proves that it was that machine, and the user does not accept that."""
    what = (
        f"{row.name}: {host} reports that it has ended ({state}). The message is not signed, so nothing is written; "
        f"look there, or list {host} under accept_unsigned in [mqtt]"
    )
    return Drift("reported", row.name, what, {"status": RUNNING, "host": host, "reported": state})


def materialized_drift(row: RegistryRow, agent: str, conversation: str) -> Drift:
    field = f"{agent}_session_id_own"
    what = f"{row.name}: session id materialized {conversation}."
    return Drift(
        "C", row.name, what, {field: None}, {field: conversation}, SetFields(row.at, {field: conversation}), "Noted."
    )


def missing_conversation_drift(row: RegistryRow) -> Drift:
    what = (
        f"{row.name}: its conversation {row.conversation} is not on the disk any more; it cannot be resumed unless "
        "its file comes back. The id stays in the list"
    )
    return Drift("D", row.name, what, {"conversation": row.conversation})


def alive_drift(row: RegistryRow, pane: TmuxPane) -> Drift:
    what = (
        f"{row.name}: {row.status} in the list, but its session goes on (pane {pane.id}, {pane.command}, pid "
        f"{pane.pid}); `midwatch session resume {row.name}` registers it again, "
        f"`midwatch session stop {row.name}` ends it"
    )
    return Drift("alive", row.name, what, {"status": row.status, "pane.pid": pane.pid})


def other_host_drift(row: RegistryRow) -> Drift:
    what = (
        f"{row.name}: tmux does not have it, but its process {row.pane.pid} lives: on another server? Put its socket "
        "into its row (tmux_socket); it stays running"
    )
    return Drift("elsewhere", row.name, what, {"pane.pid": row.pane.pid})


def exited_drift(row: RegistryRow, pane: TmuxPane) -> Drift:
    how = "its pane is dead" if pane.dead else f"there is a shell ({pane.command}) where {row.pane.cmd} was"
    what = (
        f"{row.name}: its agent has exited; {how}. `midwatch session resume {row.name}` brings it back, "
        f"`midwatch session stop {row.name}` closes it"
    )
    return Drift("exited", row.name, what, {"pane.cmd": row.pane.cmd, "pane.pid": pane.pid, "dead": pane.dead})


def moved_drift(row: RegistryRow, pane: TmuxPane, boot: str) -> Drift:
    after: dict[str, object] = {f"pane.{field}": value for field, value in pane_fields(pane, boot).items()}
    now = {f"pane.{field}": value for field, value in row.pane._asdict().items() if value and f"pane.{field}" in after}
    was = f"pane {row.pane.pid}" if row.pane.pid else "not noted"
    what = f"{row.name}: its pane is {pane.id} now, pid {pane.pid} ({pane.command}); it was {was}."
    return Drift("moved", row.name, what, now, after, SetFields(row.at, after), "Noted.")


def renamed_drift(row: RegistryRow, pane: TmuxPane) -> Drift:
    what = (
        f"{row.name}: its pane {pane.id} is in the session {pane.session} now; "
        f"`tmux rename-session -t ={pane.session} {row.name}` gives it its name back, or change it in the list"
    )
    return Drift("moved", row.name, what, {"session": row.name, "pane.id": pane.id, "now": pane.session})


def other_conversation_drift(row: RegistryRow, pane: TmuxPane) -> Drift:
    what = (
        f"{row.name}: its agent has conversation {pane.conversation} open now, the list has {row.conversation}; "
        f"`midwatch session stop {row.name} --capture-id` will note the new one"
    )
    return Drift("other", row.name, what, {"conversation": row.conversation, "open": pane.conversation})


def duplicate_drift(group: list[RegistryRow]) -> Drift:
    lines = ", ".join(str(row.line) for row in group)
    names = " and ".join(dict.fromkeys(row.name for row in group))
    what = f"{group[0].name}: {len(group)} rows for one pane ({names}; lines {lines}); take out all but one"
    return Drift("duplicate", group[0].name, what, {"rows": [row.name for row in group]})


def shared_conversation_drift(conversation: str, panes: list[TmuxPane]) -> Drift:
    where = " and ".join(f"{pane.session} ({pane.id})" for pane in panes)
    what = f"{panes[0].session}: conversation {conversation} is open in {where}; two agents spoil it: end all but one"
    return Drift("shared", panes[0].session, what, {"conversation": conversation, "panes": [pane.id for pane in panes]})


def unregistered_pane(pane: TmuxPane, cause: str, directory: PaneDirectory, workspace: str) -> UnregisteredPane:
    here, home = f"its directory {visible(pane.cwd)}", f"in the workspace {visible(workspace)}"
    words = {
        OUTSIDE: f"{here} is not {home}",
        OTHER_LIST: f"{here} belongs to the list of the workspace {visible(directory.owner)}",
        UNKNOWN: f"tmux does not tell its directory, which must be {home}",
    }
    return UnregisteredPane(pane.server, pane.session, pane.id, pane.cwd, cause, words[cause])


def _format_pair(what: str, value: str) -> str:
    return f"{what} {value}" if value else ""
