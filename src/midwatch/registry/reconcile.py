"""One pass over the list of sessions: look, plan, write what is to change, and say what is new.

Level by level, never by event: whatever woke us, the whole list is compared with the whole world. What is written is
decided again under the lock: a row that somebody has changed since we looked is left for the next pass.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence

from midwatch.agents import catalog
from midwatch.config import load, paths
from midwatch.core.errors import RefusedError
from midwatch.core.text import first_few
from midwatch.core.value import Value
from midwatch.integrations.mqtt.codec.messages import SubjectEvent
from midwatch.registry import apply_changes, tmux_servers
from midwatch.registry import store as registry_store
from midwatch.registry.apply_changes import ChangeResult
from midwatch.registry.codec import reconcile_state
from midwatch.registry.codec.reconcile_state import ReconcileRecord
from midwatch.registry.model import (
    RUNNING,
    Drift,
    DriftReport,
    PaneDirectory,
    Place,
    ReconcileMemory,
    ReconcilePlan,
    ReconcileRules,
    Registry,
    TmuxSnapshot,
    UnregisteredPane,
)
from midwatch.registry.observe import RegistryObserver
from midwatch.registry.recent_edits import RecentEdits
from midwatch.registry.reconcile_memory import ReconcileState
from midwatch.registry.remote_ends import ReportedEnds
from midwatch.registry.rules import drift as judge
from midwatch.registry.store import RegistryFile
from midwatch.system import procfs

PATIENCE = 20.0
"""Seconds that one pass may take until nothing is open any more."""
NAP = 1.0
"""Seconds between the looks of one pass, at most: somebody may write the list meanwhile."""


class ReconcilePass(Value):
    """What one pass came to."""

    checked: int
    new: tuple[DriftReport, ...]
    """Drifts that were not reported before, or whose change was made now."""
    standing: int
    """Drifts that stand, the new ones among them."""
    troubles: tuple[str, ...]
    again: float | None
    left_out: tuple[UnregisteredPane, ...] = ()
    """Panes that would be registered if they were in the workspace."""


def failed_pass(trouble: str) -> ReconcilePass:
    """A pass that came to nothing."""
    return ReconcilePass(0, (), 0, (trouble,), None)


class RegistryObservation(Value):
    registry: Registry
    sight: TmuxSnapshot
    plan: ReconcilePlan
    wall: float
    again: float | None
    """Seconds after which a further look is due; None: nothing is open."""


class Reconciler:
    """One list, passed over again and again."""

    def __init__(self, path: str, *, usual: Place = (), prune: bool = False, dry: bool = False) -> None:
        self.path = path
        self.prune, self.dry = prune, dry
        self.file = RegistryFile(path)
        self.world = RegistryObserver(catalog.load_all(), paths.hook_spool(), usual)
        self.workspace = registry_store.registry_workspace(path)
        self.reported = ReconcileState(path)
        self.memory = ReconcileMemory(self.reported.missed(), self.reported.state.turns)
        self.host = os.uname().nodename
        self._events: tuple[SubjectEvent, ...] = ()
        self._claims: dict[tuple[str, str], Drift] = {}
        """Ends that messages tell and that may not be written, by session and host: the first of each."""
        self._directories: dict[str, PaneDirectory] = {}
        self._fresh = RecentEdits(self.reported.state.rows)
        self._digests: tuple[Registry, dict[str, str]] | None = None
        given = load.load(paths.project_root(self.workspace))
        self.naming, self.keep_s = given.naming, given.keep_s

    def close(self) -> None:
        self.world.close()

    def observe(self) -> RegistryObservation:
        """Compare the list with the world, and change nothing."""
        listed = self.file.read()
        refused = tmux_servers.refused_servers(self.path, listed.rows, self.world.usual)
        sight = self.world.observe(listed.rows, self.file.changed, refused)
        now, wall = time.monotonic(), time.time()
        fresh = self._fresh.observe(self._digests_of(listed), self.file.changed, wall)
        rules = ReconcileRules(
            naming=self.naming, workspace=self.workspace, directories=self._directories_of(sight), fresh=fresh,
            keep_s=self.keep_s, prune=self.prune, boot=procfs.boot_id(), host=self.host,
        )  # fmt: skip
        plan, self.memory = judge.plan_changes(
            *self._in_one_word(listed, sight), self.memory, rules, now=now, wall=wall
        )
        plan = plan._replace(drifts=(*plan.drifts, *self._claimed(listed)))
        if self.dry:  # nothing is written, so nothing needs to wait
            plan = plan._replace(drifts=tuple(drift._replace(wait_s=0.0) for drift in plan.drifts))
        waits = [drift.wait_s for drift in plan.drifts if drift.wait_s > 0]
        again = min([*waits, *([] if plan.again is None else [plan.again])], default=None)
        return RegistryObservation(listed, sight, plan, wall, again)

    def settled(self, tell: Callable[[tuple[DriftReport, ...]], None] | None = None) -> RegistryObservation:
        """Look until nothing is open any more: what is missed must be missed twice, what is fresh must have settled.

        Drifts whose change has to wait are told as soon as they are known.
        """
        until = time.monotonic() + PATIENCE
        looked = self.observe()
        while looked.again is not None and time.monotonic() < until:
            if tell is not None and (waiting := self.announced(looked)):
                tell(waiting)
            time.sleep(min(looked.again, NAP))
            looked = self.observe()
        return looked

    def announced(self, looked: RegistryObservation) -> tuple[DriftReport, ...]:
        """Drifts that nobody has reported yet and whose change has to wait; they count as reported from now on."""
        waiting = [drift for drift in looked.plan.drifts if drift.wait_s > 0 and not self.reported.knows(drift)]
        if not waiting:
            return ()
        told = {
            **self.reported.state.told,
            **{reconcile_state.format_mark(drift): reconcile_state.digest_drift(drift) for drift in waiting},
        }
        return self._report([DriftReport(drift) for drift in waiting], looked, told)[0]

    def act(self, looked: RegistryObservation) -> ReconcilePass:
        """Write what is to change, and find out what is new."""
        plan, written = looked.plan, ChangeResult() if self.dry else self._written(looked)
        unread = [row.problem for row in looked.registry.rows if row.problem]
        troubles = [*_named(looked.sight), *first_few(unread, "rows that cannot be understood")]
        standing, new = dict[str, str](), list[DriftReport]()
        for drift in plan.drifts:
            applied = drift.change is not None and id(drift.change) in written.made
            refused = id(drift.change) in written.refused
            if drift.change is not None and not (applied or self.dry or refused or drift.wait_s):
                continue  # somebody was faster; the next pass sees what he has done
            if not applied:
                standing[reconcile_state.format_mark(drift)] = reconcile_state.digest_drift(drift)
            known = self.reported.knows(drift)
            if self.dry or applied or not known:
                new.append(DriftReport(drift, applied, repeated=applied and known))
        found, trouble = self._report(new, looked, self._unseen(looked) | standing)
        troubles += [*written.troubles, *([trouble] if trouble else [])]
        return ReconcilePass(
            len(looked.registry.rows), found, len(plan.drifts), tuple(dict.fromkeys(troubles)), looked.again,
            plan.left_out,
        )  # fmt: skip

    def apply_reports(self, events: Sequence[SubjectEvent], accepted: tuple[str, ...] = ()) -> tuple[DriftReport, ...]:
        """Write what machines that are ``accepted`` report of their sessions; the ends among that are drifts.

        While the list cannot be written, the events are kept for the next call.
        """
        self._events = () if self.dry else (*self._events, *events)
        if not self._events:
            return ()
        found = ReportedEnds(self.file, self.host, accepted).write(self._events)
        if found.written:
            self._fresh.record_own_edits(self._digests_of(self.file.read()), {told.name for told in self._events})
        self._claims = {**found.claims, **self._claims}
        self._events = ()
        return found.ends

    def _claimed(self, listed: Registry) -> tuple[Drift, ...]:
        """Claims of rows that still run; one that somebody has seen to is forgotten."""
        running = {(row.name, str(row.data.get("host"))) for row in listed.rows if row.status == RUNNING}
        self._claims = {about: drift for about, drift in self._claims.items() if about in running}
        return tuple(self._claims.values())

    # Writing

    def _written(self, looked: RegistryObservation) -> ChangeResult:
        planned = [drift.change for drift in looked.plan.drifts if drift.change is not None and not drift.wait_s]
        rows = looked.registry.rows
        written = apply_changes.write_changes(self.file, [*planned, *looked.plan.refresh], rows)
        if written.names:
            self._fresh.record_own_edits(self._digests_of(self.file.read()), set(written.names))
        return written

    # Reporting

    def _unseen(self, looked: RegistryObservation) -> dict[str, str]:
        """What was told of sessions that cannot be seen now."""
        unseen = {row.name for row in looked.registry.rows if row.server in looked.sight.troubles}
        told = self.reported.state.told
        return {mark: text for mark, text in told.items() if mark.partition(":")[2] in unseen}

    def _report(
        self, new: list[DriftReport], looked: RegistryObservation, told: dict[str, str]
    ) -> tuple[tuple[DriftReport, ...], str]:
        """What is still new when other processes are asked, and why it could not be remembered."""
        if self.dry:
            return tuple(new), ""
        waiting = any(drift.wait_s for drift in looked.plan.drifts)
        missing = {mark: at for mark, at in self.memory.missed.items() if waiting and mark.startswith("A:")}
        state = ReconcileRecord(
            told, self.memory.turns, dict(self._fresh.known), missing, procfs.boot_id() if missing else ""
        )
        if all(report.applied for report in new):
            return tuple(new), self.reported.save(state)
        with contextlib.suppress(RefusedError), self.file.locked():  # else two would report the same
            self.reported.learn()
            found = tuple(report for report in new if report.applied or not self.reported.knows(report.drift))
            return found, self.reported.save(state)
        return tuple(new), self.reported.save(state)

    # What the plan has to know

    def _in_one_word(self, listed: Registry, sight: TmuxSnapshot) -> tuple[Registry, TmuxSnapshot]:
        """List and world with one name for each server: rows may name it as for `-L` and as for `-S`."""
        names = {row.server: self.world.place(row.server) for row in listed.rows if row.server is not None}
        if all(name == place for name, place in names.items()):
            return listed, sight
        rows = [row if row.server is None else row._replace(server=names[row.server]) for row in listed.rows]
        troubles = {None if name is None else names[name]: why for name, why in sight.troubles.items()}
        return Registry(tuple(rows)), sight._replace(troubles=troubles)

    def _digests_of(self, listed: Registry) -> dict[str, str]:
        if self._digests is None or self._digests[0] is not listed:
            found: dict[str, str] = {}
            for row in listed.rows:
                found[row.name] = found.get(row.name, "") + reconcile_state.digest_row(row)
            self._digests = (listed, found)
        return self._digests[1]

    def _directories_of(self, sight: TmuxSnapshot) -> dict[str, PaneDirectory]:
        for pane in sight.panes:
            if pane.cwd not in self._directories:
                self._directories[pane.cwd] = _read_directory(pane.cwd)
        return self._directories


def _named(sight: TmuxSnapshot) -> list[str]:
    return first_few(sight.troubles.values(), "tmux servers that cannot be asked")


def _read_directory(cwd: str) -> PaneDirectory:
    if not cwd:
        return PaneDirectory("")
    real = os.path.realpath(cwd)
    nearest = registry_store.nearest_registry(real)
    return PaneDirectory(real, registry_store.registry_workspace(nearest) if nearest else "")


def find_drifts(path: str, server: Place = ()) -> tuple[Registry, tuple[Drift, ...], str]:
    """The list, its drifts and why something could not be seen; nothing is changed or remembered."""
    reconciler = Reconciler(path, usual=server, dry=True)
    try:
        looked = reconciler.settled()
    finally:
        reconciler.close()
    return looked.registry, looked.plan.drifts, "; ".join(_named(looked.sight))


def find_unregistered(path: str, server: Place, sessions: set[str]) -> tuple[UnregisteredPane, ...]:
    """What the plan for a list leaves out, if one of these sessions can be among it; nothing is changed."""
    reconciler = Reconciler(path, usual=server, dry=True)
    try:
        if not any(judge.matches_naming(session, reconciler.naming) for session in sessions):
            return ()
        return reconciler.observe().plan.left_out
    finally:
        reconciler.close()
