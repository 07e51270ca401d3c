"""The list of sessions, for its owner: which row is meant, what there is of it now, and what is written back.

A session of the list is ours if there is a record of it; any other is known by its tmux session and the process of its
pane. Whatever is decided here about one row is by the same look and the same words as `reconcile`'s.
"""

from __future__ import annotations

import os

from midwatch.agents import catalog
from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Record
from midwatch.core.presence import GONE, LIVES
from midwatch.core.value import Value
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.registry import tmux_servers
from midwatch.registry.model import (
    AUTO_DETECTED,
    RUNNING,
    TERMINATED,
    AddRow,
    Change,
    Place,
    Registry,
    RegistryRow,
    SetFields,
    TmuxPane,
)
from midwatch.registry.observe import RegistryObserver
from midwatch.registry.rules.row import RowCase, pane_fields
from midwatch.registry.rules.row import RowMatcher as Shown
from midwatch.registry.store import RegistryFile
from midwatch.sessions import conversation_lease
from midwatch.system import procfs
from midwatch.tmux import client as tmux_client
from midwatch.tmux.sessions import tmux_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.agents.definition import Detector

DEFAULT = ("-L", "default")
OVER = ("terminated_at", "stopped_at", "archived_at", "termination_mode", "reason")
"""What a row tells of its end; a session that is there again has none."""


class UnregisteredError(RefusedError):
    """The list has no such session."""


class RowStatus(Value):
    """A row, and what there is of it now."""

    row: RegistryRow
    case: RowCase
    process: str
    """LIVES, GONE or UNKNOWN: that of its pane, whatever tmux says."""
    record: Record | None = None
    """Where it is a session of ours."""
    over: bool = True
    """As far as that record tells."""
    conversation: str = ""
    """The one that its agent has, or had last; empty where nobody knows."""

    @property
    def pane(self) -> TmuxPane | None:
        """Its pane, in which something lives."""
        return self.case.pane if self.case.pane is not None and not self.case.pane.dead else None

    @property
    def agent(self) -> TmuxPane | None:
        """Its pane, with an agent in it."""
        return self.pane if self.pane is not None and self.pane.agent else None

    @property
    def lives(self) -> bool:
        """Something of it is there beyond doubt."""
        return self.pane is not None or not self.over or self.process == LIVES

    @property
    def is_gone(self) -> bool:
        """Nothing of it is there, and that is known."""
        unknown = self.case.trouble or (self.row.status == RUNNING and self.case.lives)
        return not self.lives and (self.process == GONE or not unknown)


class RegisteredSessions:
    """One list, and the directory in which sessions of ours have their records."""

    def __init__(self, path: str, looker: JobDirectory, usual: Place = ()) -> None:
        """``usual``: the server of rows that name none."""
        self.path = path
        self.file = RegistryFile(path)
        self.looker = looker
        self.usual = usual
        self.detectors = catalog.load_all()
        self.host = os.uname().nodename
        self._world: RegistryObserver | None = None

    def close(self) -> None:
        if self._world is not None:
            self._world.close()

    # Rows

    def row(self, name: str) -> RegistryRow:
        """The one that is meant by a name: that which runs, else the last."""
        rows = rows_with_name(self.file.read(), name)
        if not rows:
            raise UnregisteredError(f"there is no session {name} in {self.path}; `midwatch session list` lists them")
        if not any(row.is_on(self.host) for row in rows):
            raise RefusedError(f"{name} is a session of {rows[-1].data.get('host')}; this can only be done there")
        rows = [row for row in rows if row.is_on(self.host)]
        check_valid(rows)
        running = [row for row in rows if row.status == RUNNING]
        if len(running) > 1:
            lines = ", ".join(str(row.line) for row in running)
            raise RefusedError(f"{len(running)} rows say that {name} runs ({self.path}, lines {lines}); leave one")
        return [*rows, *running][-1]

    def observe(self, row: RegistryRow) -> RowStatus:
        """One look at all that a row tells of."""
        return self.observe_rows((row,))[0]

    def observe_rows(self, rows: tuple[RegistryRow, ...]) -> list[RowStatus]:
        if self._world is None:
            self._world = RegistryObserver(self.detectors, paths.hook_spool(), self.usual)
        sight = self._world.observe(rows, self.file.changed, tmux_servers.refused_servers(self.path, rows, self.usual))
        shown = Shown(sight)
        return [self._standing(row, shown.case(row), sight.processes.get(row.at, "")) for row in rows]

    def _standing(self, row: RegistryRow, case: RowCase, process: str) -> RowStatus:
        talk = case.pane.conversation if case.pane is not None else ""
        found = RowStatus(row, case, process, conversation=talk or row.conversation)
        facts = self.looker.facts(row.name) if row.name == tmux_session_name(row.name) else None
        record = facts.record if facts else None
        if facts is None or record is None or not self._is_of(row, record):
            return found
        known = (
            conversation_lease.read_conversation(f"{self.looker.directory}/{row.name}", record.run)
            or record.conversation
        )
        over = job_verdict.judge(facts).final and not facts.survivors
        return found._replace(record=record, over=over, conversation=talk or known or row.conversation)

    def detector(self, row: RegistryRow) -> Detector:
        found = next((each for each in self.detectors if each.agent == row.agent), None)
        if found is None:
            known = ", ".join(each.agent for each in self.detectors)
            told = f"{row.agent!r}, which nobody knows" if row.agent else "none"
            raise RefusedError(f"which agent {row.name} is? Its row tells {told}; put `agent: …` there ({known})")
        return found

    def variables(self, standing: RowStatus) -> dict[str, str]:
        """Where an agent that is started now would have its files."""
        agent, env = self.detector(standing.row), standing.record.env if standing.record else {}
        own = {name: os.environ[name] for name in ("HOME", *agent.variables) if name in os.environ}
        return own | {name: value for name, value in env.items() if name in agent.variables}

    def server(self, row: RegistryRow) -> Place:
        """Where a row's session is to be. RefusedError where its file may not name that server."""
        found = self.usual if row.server is None else row.server
        if why := tmux_servers.refused_servers(self.path, self.file.read().rows, self.usual).get(found):
            raise RefusedError(why)
        return found

    def _is_of(self, row: RegistryRow, record: Record) -> bool:
        """Whether a record of that name is of the very session that a row means."""
        if record.pane is None or record.pane.session != row.name:
            return False
        if row.pane.pid and (row.pane.pid, row.pane.start or record.shim.start) == (record.shim.pid, record.shim.start):
            return True
        meant = self.usual if row.server is None else row.server
        return tmux_client.socket_path(meant) == tmux_client.socket_path(record.pane.server)

    # Writing

    def write(self, row: RegistryRow, values: dict[str, object]) -> RegistryRow:
        """Give a row these values, wherever it stands by now. Returns it as it is then."""

        def decide(registry: Registry) -> list[Change]:
            now = _find_same_row(registry, row)
            if now is None:
                raise RefusedError(f"somebody has taken {row.name} out of {self.path} meanwhile")
            return [SetFields(now.at, values)]

        self.file.update(decide)
        return _find_same_row(self.file.read(), row) or row

    def record_start(self, name: str, values: dict[str, object]) -> RegistryRow:
        """A row for a session that has just begun: the one of that name, else a new one."""

        def decide(registry: Registry) -> list[Change]:
            rows = rows_with_name(registry, name)
            check_valid(rows)
            running = [row for row in rows if row.status == RUNNING]
            if not rows:
                return [AddRow(name, values)]
            row = [*rows, *running][-1]
            return [SetFields(row.at, {**_cleared_fields(row), **_flatten(values)})]

        self.file.update(decide, create=True)
        return self.row(name)

    def mark_restarted(self, row: RegistryRow, record: Record) -> RegistryRow:
        """It runs again."""
        return self.write(row, _cleared_fields(row) | _flatten({"status": RUNNING, "pane": record_pane_fields(record)}))

    def mark_running(self, row: RegistryRow, pane: TmuxPane) -> RegistryRow:
        """It never ended, and is here."""
        return self.write(
            row, _cleared_fields(row) | _flatten({"status": RUNNING, "pane": pane_fields(pane, procfs.boot_id())})
        )

    def record_turn(self, row: RegistryRow) -> RegistryRow:
        """Note what its agent is at."""
        pane = self.observe(row).pane
        if pane is None or not pane.turn or pane.turn == row.seen_status:
            return row
        return self.write(row, {"last_visible_status": pane.turn})


def rows_with_name(registry: Registry, name: str) -> list[RegistryRow]:
    return [row for row in registry.rows if row.name == name]


def check_valid(rows: list[RegistryRow]) -> None:
    """RefusedError where one of the rows cannot be understood: nobody knows what it says of the session."""
    if problem := next((row.problem for row in rows if row.problem), ""):
        raise RefusedError(f"{problem}; mend that row first")


def new_row(record: Record, conversation: str, at: str, socket: str | None) -> dict[str, object]:
    """The fields of a session of ours that has just begun."""
    found: dict[str, object] = {
        "status": RUNNING, "agent": record.agent, "created_at": at, "pane": record_pane_fields(record),
        "resumable": True,
        f"{record.agent}_session_id_own": conversation or None,
    }  # fmt: skip
    assert record.pane is not None
    if socket is not None:
        found["tmux_socket"] = os.path.abspath(socket) if "/" in socket else socket
    elif tmux_client.socket_path(record.pane.server) != tmux_client.socket_path(DEFAULT):
        found["tmux_socket"] = tmux_client.socket_path(record.pane.server)
    return found


def record_pane_fields(record: Record) -> dict[str, object]:
    """The pane's process is our shim."""
    assert record.pane is not None
    return {
        "pid": record.shim.pid, "cmd": os.path.basename(record.command[0]), "cwd": record.cwd, "id": record.pane.id,
        "start": record.shim.start, "boot": record.shim.boot,
    }  # fmt: skip


def has_ended_unexpectedly(standing: RowStatus) -> bool:
    """Whether it ran until something ended it that nobody meant to, or may have: that is to be found out then."""
    row = standing.row
    if row.status == RUNNING:
        return standing.is_gone or (bool(standing.case.trouble) and not standing.lives)
    return row.status == TERMINATED and row.data.get("termination_mode") == AUTO_DETECTED


def _cleared_fields(row: RegistryRow) -> dict[str, object]:
    return {field: None for field in OVER if row.data.get(field) is not None}


def _flatten(values: dict[str, object]) -> dict[str, object]:
    """Fields with dots for what lies deeper."""
    found: dict[str, object] = {}
    for key, value in values.items():
        found |= {f"{key}.{inner}": each for inner, each in value.items()} if isinstance(value, dict) else {key: value}
    return found


def _find_same_row(registry: Registry, row: RegistryRow) -> RegistryRow | None:
    """The same row after others may have written."""
    rows = rows_with_name(registry, row.name)
    alike = [each for each in rows if (each.conversation, each.pane.pid) == (row.conversation, row.pane.pid)]
    at = [each for each in alike or rows if each.at == row.at]
    return next(iter([*at, *alike, *rows]), None)
