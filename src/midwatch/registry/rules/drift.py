"""List and world → plan. Pure, and idempotent: once a plan is carried out, the same world gives no change any more.

Only a row that says `running` is ever ended, and only when its server has answered twice that there is no such session
and no process of it lives. What somebody meant (`stopped`, `terminated`, `archived`) is never rewritten. What cannot be
seen is no drift. Whatever is not sure is told and not changed.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from midwatch.core.presence import LIVES, UNKNOWN
from midwatch.registry.model import (
    AUTO_REGISTERED,
    ENDED,
    OTHER_LIST,
    OUTSIDE,
    RUNNING,
    AddRow,
    Drift,
    PaneDirectory,
    ReconcileMemory,
    ReconcilePlan,
    ReconcileRules,
    Registry,
    RegistryRow,
    RemoveRow,
    SetFields,
    TmuxPane,
    TmuxSnapshot,
    UnregisteredPane,
    iso,
    row_keys,
)
from midwatch.registry.rules import row as single
from midwatch.registry.rules.row import RowCase, RowMatcher

SECOND_LOOK = 1.0
"""Seconds between two looks of which both must have missed something."""
LOST = 5.0
"""Seconds after tmux lost a session before its row is marked: a tool that stops sessions can write its row first."""
LINGERS = 5.0
"""Seconds that a session may go on after its row says that it has ended."""


def plan_changes(
    registry: Registry, sight: TmuxSnapshot, before: ReconcileMemory, rules: ReconcileRules, *, now: float, wall: float
) -> tuple[ReconcilePlan, ReconcileMemory]:
    """What is to be changed and told, and what to remember for the next look (``now``: monotonic)."""
    return _Planner(registry, sight, before, rules, now, wall).plan()


class _Planner:
    def __init__(
        self,
        registry: Registry,
        sight: TmuxSnapshot,
        before: ReconcileMemory,
        rules: ReconcileRules,
        now: float,
        wall: float,
    ) -> None:
        self.rows, self.sight, self.before, self.rules = registry.rows, sight, before, rules
        self.now, self.wall = now, wall
        self.missed: dict[str, float] = {}
        self.waits: list[float] = []
        self.drifts: list[Drift] = []
        self.names = {row.name for row in self.rows}
        self.world = RowMatcher(sight)
        self.taken = {(row.agent, row.conversation) for row in self.rows if row.conversation}

    def plan(self) -> tuple[ReconcilePlan, ReconcileMemory]:
        refresh, turns = [], dict[str, str]()
        for row, key in zip(self.rows, row_keys(self.rows), strict=True):
            if row.problem or not row.is_on(self.rules.host):
                continue  # what its own machine tells of it arrives as an event
            case = self.world.case(row)
            self.drifts += [drift for drift in self.row_drifts(row, key, case) if self.is_due(drift)]
            if case.pane is not None and case.pane.turn and row.status == RUNNING:
                turns[key] = case.pane.turn
                if self.before.turns.get(key, case.pane.turn) != case.pane.turn and not self.rules.fresh.get(row.name):
                    refresh.append(SetFields(row.at, {"last_visible_status": case.pane.turn}))
            elif key in self.before.turns:
                turns[key] = self.before.turns[key]
        self.drifts += self.duplicates()
        self.drifts += self.shared_conversations()
        unknown, left_out = self.unregistered_sessions()
        self.drifts += [drift for drift in unknown if self.is_due(drift)]
        found = ReconcilePlan(tuple(self.drifts), tuple(refresh), min(self.waits, default=None), left_out)
        return found, ReconcileMemory(self.missed, turns)

    # One row

    def row_drifts(self, row: RegistryRow, key: str, case: RowCase) -> list[Drift]:
        found = []
        if row.status in ENDED:
            if case.pane is not None and not case.pane.dead and self.has_lingered(row, key):
                found.append(single.alive_drift(row, case.pane))
            if row.since is not None and self.wall - row.since > self.rules.keep_s and case.pane is None:
                found.append(self.old_row_drift(row))
        elif case.pane is None:
            found += self.absent_pane_drifts(row, key, case)
        else:
            found += self.present_pane_drifts(row, key, case.pane)
        if self.sight.artifacts.get(row.at) == "gone" and single.is_wanted(row) and not self.is_open(row):
            found.append(single.missing_conversation_drift(row))
        return found

    def absent_pane_drifts(self, row: RegistryRow, key: str, case: RowCase) -> list[Drift]:
        """Running, and no pane for it where it should be."""
        if case.trouble:
            return []
        if case.moved is not None:
            return [single.renamed_drift(row, case.moved)]
        if case.lives:
            return [single.other_host_drift(row)]
        if not self.is_confirmed("A", key):
            return []
        return [single.terminated_drift(row, iso(self.wall))._replace(wait_s=self.remaining_wait(row, key))]

    def present_pane_drifts(self, row: RegistryRow, key: str, pane: TmuxPane) -> list[Drift]:
        found = []
        if single.has_exited(row, pane):
            if self.is_confirmed("exited", key):
                found.append(single.exited_drift(row, pane))
        elif self.sight.processes.get(row.at) != LIVES and single.is_other_pane(row, pane):
            found.append(single.moved_drift(row, pane, self.rules.boot))
        talk = self.sight.appeared.get(row.at, "")
        agent = row.agent or pane.agent
        if not row.conversation and talk and agent and (agent, talk) not in self.taken:
            self.taken.add((agent, talk))
            found.append(single.materialized_drift(row, agent, talk))
        if row.conversation and pane.conversation and pane.agent == row.agent and pane.conversation != row.conversation:
            found.append(single.other_conversation_drift(row, pane))
        return found

    def old_row_drift(self, row: RegistryRow) -> Drift:
        days = int((self.wall - (row.since or 0.0)) // 86400)
        if not self.rules.prune:
            what = f"{row.name}: {row.status} for {days} days; `midwatch reconcile --prune` takes it out"
            return Drift("old", row.name, what, {"status": row.status})
        what = f"{row.name}: {row.status} for {days} days."
        return Drift("old", row.name, what, {"status": row.status}, {"status": None}, RemoveRow(row.at), "Taken out.")

    def is_open(self, row: RegistryRow) -> bool:
        """Whether an agent has the conversation at this moment: it may not have written anything of it yet."""
        return (row.agent, row.conversation) in self.world.open

    # Several rows, and none

    def duplicates(self) -> list[Drift]:
        several: dict[tuple[object, ...], list[RegistryRow]] = {}
        for row in self.rows:
            if row.status == RUNNING:
                several.setdefault((row.name, row.server), []).append(row)
                if row.pane.id and row.pane.pid:
                    several.setdefault((row.pane.id, row.pane.pid, row.server), []).append(row)
        found = {tuple(row.at for row in group): group for group in several.values() if len(group) > 1}
        return [single.duplicate_drift(group) for group in found.values()]

    def shared_conversations(self) -> list[Drift]:
        """One conversation in two panes: two agents that write to it spoil it."""
        several: dict[tuple[str, str], dict[tuple[object, ...], TmuxPane]] = {}
        for pane in self.sight.panes:
            if pane.conversation and pane.agent and not pane.dead:
                several.setdefault((pane.agent, pane.conversation), {})[pane.server, pane.id] = pane
        return [
            single.shared_conversation_drift(talk, [*panes.values()])
            for (_, talk), panes in several.items()
            if len(panes) > 1
        ]

    def unregistered_sessions(self) -> tuple[list[Drift], tuple[UnregisteredPane, ...]]:
        """Sessions that bear one of our names and are in no row: each once, by its pane with an agent.

        One that has no pane in the workspace is left out, and each of its agents is told.
        """
        several: dict[tuple[object, ...], list[TmuxPane]] = {}
        for pane in self.sight.panes:
            if pane.session not in self.names and not pane.dead and matches_naming(pane.session, self.rules.naming):
                several.setdefault((pane.server, pane.session), []).append(pane)
        once: dict[str, TmuxPane] = {}  # two servers may have a session of one name
        left = list[UnregisteredPane]()
        for panes in several.values():
            causes = {pane.id: find_exclusion_cause(self.directory(pane), self.rules.workspace) for pane in panes}
            ours = [pane for pane in panes if not causes[pane.id]]
            agents = [pane for pane in ours or panes if pane.agent] or (ours or panes)[:1]
            if ours:
                once.setdefault(agents[0].session, agents[0])
            else:
                left += [self.left_out(pane, causes[pane.id]) for pane in agents if not self.is_moved(pane)]
        found = [self.registration_drift(pane) for pane in once.values() if not self.is_moved(pane)]
        return found, tuple(each for each in left if each.session not in once)

    def directory(self, pane: TmuxPane) -> PaneDirectory:
        return self.rules.directories[pane.cwd]

    def left_out(self, pane: TmuxPane, cause: str) -> UnregisteredPane:
        return single.unregistered_pane(pane, cause, self.directory(pane), self.rules.workspace)

    def is_moved(self, pane: TmuxPane) -> bool:
        """Whether it is the pane of a row under another name: that row tells of it."""
        return any(
            row.status == RUNNING and single.is_same_pane(row, pane) and row.name not in self.world.sessions
            for row in self.rows
        )

    def registration_drift(self, pane: TmuxPane) -> Drift:
        agent = pane.agent or single.find_agent_name(pane.session)
        talk = pane.conversation if (agent, pane.conversation) not in self.taken else ""
        values: dict[str, object] = {
            "status": RUNNING, "agent": agent, "created_at": iso(self.wall),
            "pane": single.pane_fields(pane, self.rules.boot), "last_visible_status": AUTO_REGISTERED,
        }  # fmt: skip
        if pane.server:
            values["tmux_socket"] = pane.server[1]
        if agent:
            values[f"{agent}_session_id_own"] = talk or None
        if talk:
            self.taken.add((agent, talk))
        what = f"{pane.session}: tmux found but not in the list."
        return Drift("B", pane.session, what, {}, values, AddRow(pane.session, values), "Auto-registered.")

    # Time

    def is_confirmed(self, kind: str, key: str) -> bool:
        """Whether an earlier look has missed the same, long enough ago."""
        mark = f"{kind}:{key}"
        since = self.missed[mark] = min(self.before.missed.get(mark, self.now), self.now)
        return self.has_passed(since + SECOND_LOOK)

    def remaining_wait(self, row: RegistryRow, key: str) -> float:
        """Seconds until the row of a lost session may be marked. What a boot has ended, no tool is stopping."""
        if row.pane.boot and self.rules.boot and row.pane.boot != self.rules.boot:
            return 0.0
        return max(0.0, self.missed[f"A:{key}"] + LOST - self.now)

    def has_lingered(self, row: RegistryRow, key: str) -> bool:
        mark = f"alive:{key}"
        since = self.missed[mark] = min(self.before.missed.get(mark, self.now), self.now)
        told = LINGERS if row.since is None else LINGERS - (self.wall - row.since)
        return self.has_passed(since + min(max(told, 0.0), LINGERS))

    def has_passed(self, moment: float) -> bool:
        if self.now >= moment:
            return True
        self.waits.append(moment - self.now)
        return False

    def is_due(self, drift: Drift) -> bool:
        """Whether it is time to change this: what a person has just done is left alone for a while."""
        left = self.rules.fresh.get(drift.session, 0.0)
        if drift.change is None or left <= 0:
            return True
        self.waits.append(left)
        return False


def matches_naming(session: str, naming: tuple[str, ...]) -> bool:
    """Whether a session bears one of the names that belong into the list."""
    return any(fnmatchcase(session, pattern) for pattern in naming)


def find_exclusion_cause(directory: PaneDirectory, workspace: str) -> str:
    """The cause for which a pane in that directory is not registered in the list of a workspace; empty for none."""
    if not directory.real:
        return UNKNOWN
    if directory.real != workspace and not directory.real.startswith(workspace.rstrip("/") + "/"):
        return OUTSIDE
    return OTHER_LIST if directory.owner not in ("", workspace) else ""
