"""One pass over the list of sessions: look, plan, write what is to change, and say what is new.

Level by level, never by event: whatever woke us, the whole list is compared with the whole world. What is written is
decided again under the lock: a row that somebody has changed since we looked is left for the next pass.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from dogwatch import proc
from dogwatch.formats import reported
from dogwatch.formats.mqtt import Told
from dogwatch.formats.reported import State
from dogwatch.judge import drift as judge
from dogwatch.loops.freshness import Freshness
from dogwatch.loops.world import World
from dogwatch.model.registry import (
    RUNNING,
    TERMINATED,
    Add,
    Change,
    Drift,
    Memory,
    Place,
    Plan,
    Registry,
    Remove,
    Row,
    Rules,
    Set,
    Sight,
)
from dogwatch.model.value import Value
from dogwatch.model.verdict import FINAL
from dogwatch.store import detectors, places, registry, settings
from dogwatch.store import reported as states
from dogwatch.store.registry import RegistryFile

PATIENCE = 20.0
"""Seconds that one pass may take until nothing is open any more."""


class Passed(Value):
    """What one pass came to."""

    checked: int
    new: tuple[tuple[Drift, bool], ...]
    """Drifts that were not told before, each with whether it was mended."""
    standing: int
    """Drifts that stand, the new ones among them."""
    troubles: tuple[str, ...]
    again: float | None


class Looked(Value):
    registry: Registry
    sight: Sight
    plan: Plan
    wall: float


class Reconciler:
    """One list, passed over again and again."""

    def __init__(self, path: str, *, usual: Place = (), prune: bool = False, dry: bool = False) -> None:
        self.path = path
        self.prune, self.dry = prune, dry
        self.file = RegistryFile(path)
        self.world = World(detectors.load_all(), places.hook_spool(), usual)
        self.workspace = registry.workspace(path)
        self.state_path = states.path_of(path)
        self.state = states.read(self.state_path)
        self.memory = Memory(turns=self.state.turns)
        self.host = os.uname().nodename
        self._homes: dict[str, bool] = {}
        self._fresh = Freshness(self.state.rows)
        self._digests: tuple[Registry, dict[str, str]] | None = None
        given = settings.load(places.project(self.workspace))
        self.naming, self.keep_s = given.naming, given.keep_s

    def close(self) -> None:
        self.world.close()

    def look(self) -> Looked:
        """Compare the list with the world, and change nothing."""
        listed = self.file.read()
        sight = self.world.look(listed.rows, self.file.changed)
        now, wall = time.monotonic(), time.time()
        fresh = self._fresh.look(self._digests_of(listed), self.file.changed, wall)
        rules = Rules(
            naming=self.naming, homes=self._homes_of(sight), fresh=fresh, keep_s=self.keep_s, prune=self.prune,
            boot=proc.boot_id(), host=self.host,
        )  # fmt: skip
        plan, self.memory = judge.plan(*self._in_one_word(listed, sight), self.memory, rules, now=now, wall=wall)
        return Looked(listed, sight, plan, wall)

    def settled(self) -> Looked:
        """Look until nothing is open any more: what is missed must be missed twice, what is fresh must have settled."""
        until = time.monotonic() + PATIENCE
        looked = self.look()
        while looked.plan.again is not None and time.monotonic() < until:
            time.sleep(looked.plan.again)
            looked = self.look()
        return looked

    def act(self, looked: Looked) -> Passed:
        """Write what is to change, and find out what is new."""
        plan = looked.plan
        done = () if self.dry else self._written(looked)
        mended = {id(change) for change in done}
        told = self.state.told
        standing, new = dict[str, str](), list[tuple[Drift, bool]]()
        for drift in plan.drifts:
            applied = drift.change is not None and id(drift.change) in mended
            if drift.change is not None and not applied and not self.dry:
                continue  # somebody was faster; the next pass sees what he has done
            mark, digest = reported.mark(drift), reported.digest(drift)
            if drift.change is None:
                standing[mark] = digest
            if self.dry or applied or told.get(mark) != digest:
                new.append((drift, applied))
        self._remember(looked, standing)
        return Passed(
            len(looked.registry.rows), tuple(new), len(plan.drifts),
            tuple(dict.fromkeys(looked.sight.troubles.values())), plan.again,
        )  # fmt: skip

    def hear(self, events: Sequence[Told]) -> None:
        """What machines tell of their sessions: what it was at last, and of one elsewhere that it has ended."""
        if not events or self.dry:
            return
        now = judge.iso(time.time())

        def decide(listed: Registry) -> Sequence[Change]:
            running = [row for row in listed.rows if row.status == RUNNING]
            about = {row.at: told for told in events for row in running if self._is_about(told, row)}
            return [Set(at, heard(told, now, elsewhere=told.host != self.host)) for at, told in about.items()]

        if self.file.update(decide):
            self._fresh.ours(self._digests_of(self.file.read()), {told.name for told in events})

    def _is_about(self, told: Told, row: Row) -> bool:
        if row.name != told.name:
            return False
        if told.host != self.host:
            return row.data.get("host") == told.host
        return row.is_on(self.host) and _related(told.project, self.workspace)

    # Writing

    def _written(self, looked: Looked) -> tuple[Change, ...]:
        planned = [drift.change for drift in looked.plan.drifts if drift.change is not None]
        if not planned and not looked.plan.refresh:
            return ()
        kept: dict[int, Change] = {}

        def decide(now: Registry) -> Sequence[Change]:
            kept.clear()
            same = {id(row): at for row, at in _unchanged(looked.registry.rows, now.rows)}
            names = {row.name for row in now.rows}
            changes = list[Change]()
            for change in (*planned, *looked.plan.refresh):
                moved = _moved(change, looked.registry.rows, same, names)
                if moved is not None:
                    kept[id(change)] = change
                    changes.append(moved)
            return changes

        if self.file.update(decide):
            rows = looked.registry.rows
            names = {change.name if isinstance(change, Add) else rows[change.at].name for change in kept.values()}
            self._fresh.ours(self._digests_of(self.file.read()), names)
        return tuple(kept.values())

    def _remember(self, looked: Looked, standing: dict[str, str]) -> None:
        if self.dry:
            return
        unseen = {row.name for row in looked.registry.rows if row.server in looked.sight.troubles}
        kept = {mark: text for mark, text in self.state.told.items() if mark.partition(":")[2] in unseen}
        state = State({**kept, **standing}, self.memory.turns, dict(self._fresh.known))
        if state != self.state:
            self.state = state
            states.write(self.state_path, state)

    # What the plan has to know

    def _in_one_word(self, listed: Registry, sight: Sight) -> tuple[Registry, Sight]:
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
                found[row.name] = found.get(row.name, "") + reported.row_digest(row)
            self._digests = (listed, found)
        return self._digests[1]

    def _homes_of(self, sight: Sight) -> frozenset[str]:
        """Directories of panes that are in this workspace, and not in one with a list of its own within it."""
        for pane in sight.panes:
            if pane.cwd not in self._homes:
                self._homes[pane.cwd] = self._is_home(pane.cwd)
        return frozenset(cwd for cwd, ours in self._homes.items() if ours)

    def _is_home(self, cwd: str) -> bool:
        real = os.path.realpath(cwd)
        if real != self.workspace and not real.startswith(self.workspace.rstrip("/") + "/"):
            return False
        nearest = registry.nearest(real)
        return not nearest or registry.workspace(nearest) == self.workspace


def look(path: str, server: Place = ()) -> tuple[Registry, tuple[Drift, ...], str]:
    """The list, its drifts and why something could not be seen; nothing is changed or remembered."""
    reconciler = Reconciler(path, usual=server, dry=True)
    try:
        looked = reconciler.settled()
    finally:
        reconciler.close()
    return looked.registry, looked.plan.drifts, "; ".join(dict.fromkeys(looked.sight.troubles.values()))


def _unchanged(before: tuple[Row, ...], now: tuple[Row, ...]) -> list[tuple[Row, int]]:
    """Rows that stand as they stood, each with where that is now."""
    if before is now:
        return [(row, row.at) for row in before]
    where: dict[str, list[Row]] = {}
    for row in now:
        where.setdefault(row.name, []).append(row)
    found = []
    for row in before:
        same = [each for each in where.get(row.name, []) if each.data == row.data]
        if same:
            found.append((row, same[0].at))
            where[row.name].remove(same[0])
    return found


def _moved(change: Change, rows: tuple[Row, ...], same: dict[int, int], names: set[str]) -> Change | None:
    """A change as the file stands now; None where what it was planned for is not as it was."""
    if isinstance(change, Add):
        return None if change.name in names else change
    at = same.get(id(rows[change.at]))
    if at is None:
        return None
    return Remove(at) if isinstance(change, Remove) else change._replace(at=at)


def heard(told: Told, now: str, *, elsewhere: bool) -> dict[str, object]:
    """What an event changes in a row. Of a session here the next look tells whether it has ended."""
    values: dict[str, object] = {"last_visible_status": told.state}
    if elsewhere and told.kind == "session" and told.state in FINAL:
        values |= {"status": TERMINATED, "terminated_at": now, "termination_mode": "reported"}
    return values


def _related(one: str, other: str) -> bool:
    """Whether one of two directories lies in the other."""
    one, other = os.path.realpath(one), os.path.realpath(other)
    return os.path.commonpath((one, other)) in (one, other)
