"""Removing what has ended: jobs with their dead panes, archived runs, read mail, spools, and old events.

Every name is dealt with under its lease, after a fresh look: what lives, what is watched, and what somebody is still to
hear of stays. Each removal stands for itself: whoever is killed in the middle leaves only what the next
call removes.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from midwatch.config import paths, sentinel_files
from midwatch.core.errors import MidwatchError, RefusedError
from midwatch.core.job_model import JobFacts, Record
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs import job_removal, monitor_store
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import removal as removal_rules
from midwatch.mail import removal as mail_removal
from midwatch.notifications import outbox, pending_runs
from midwatch.sessions import watch_restore
from midwatch.sessions.prompting import undelivered_store
from midwatch.shim import drop_box
from midwatch.system import file_locks, processes
from midwatch.tmux import client as tmux_client
from midwatch.tmux import dead_panes

EVENTS_KEPT = 30 * 86400.0
"""Seconds for which events are kept where nobody says."""


class CleanedItem(Value):
    """What became of one thing."""

    kind: str
    """job, session, pane, archive, mail, spools, events."""
    name: str
    removed: bool
    why: str = ""
    """Why it stays."""
    number: int = 1
    size: int = 0
    """Bytes that were freed, or would be."""
    live: bool = False
    recent: bool = False
    """It has ended, but not as long ago as was asked for."""


class Cleaner:
    def __init__(self, looker: JobDirectory, *, older_s: float = 0.0, dry_run: bool = False) -> None:
        if drop_box.find_own_box():
            raise RefusedError("in a sandbox nothing can be removed; run `midwatch clean` outside of it")
        if others := paths.find_sharing(looker.directory):
            raise RefusedError(f"{others}: nothing is removed there")
        self.looker = looker
        self.directory = looker.directory
        self.older_s = older_s
        self.dry_run = dry_run
        self.now = time.time()
        self.gone: set[str] = set()
        """Runs that were removed."""
        self._marked: set[str] = set()
        self._marked_at = -1.0

    def clean_all(self, mail: str) -> Iterator[CleanedItem]:
        """Everything of the directory that may go, and the read mail in ``mail``."""
        try:
            found = sentinel_files.list_jobs(self.directory)
        except FileNotFoundError:
            found = []
        shelves = set(job_removal.list_archived_names(self.directory))
        for name in sorted({*found, *shelves}):
            yield from self.clean_name(name)
        yield from self._clean_mail(mail)
        yield from self._clean_journal()

    def clean_name(self, name: str) -> Iterator[CleanedItem]:
        """A job or session with its pane and its archived runs, or why it stays."""
        is_job = sentinel_files.is_job(f"{self.directory}/{name}")
        facts, verdict = self.looker.observe(name)
        kind = facts.record.kind if facts.record else "job"
        if is_job and not verdict.final:  # it lives, so its lease is not even asked for
            yield CleanedItem(kind, name, removed=False, why=self._find_obstacle(facts, verdict), live=True)
            return
        if is_job and facts.record is None:  # a script's, which has no lease
            yield CleanedItem(kind, name, removed=False, why=self._find_obstacle(facts, verdict))
            return
        with contextlib.ExitStack() as leases:
            if not self._hold_name(name, leases):
                yield CleanedItem(kind, name, removed=False, why="it is being started or watched; try again")
                return
            if is_job:
                yield from self._clean_job(name, kind)
            yield from self._clean_archive(name)

    def _hold_name(self, name: str, leases: contextlib.ExitStack) -> bool:
        base = f"{self.directory}/{name}"
        if self.dry_run:  # to take a lease may make a file
            return file_locks.is_free(f"{base}.lock") and file_locks.is_free(f"{base}.actor")
        try:
            lease = job_removal.hold_name(self.looker, name)
            if lease is None:
                return False
            leases.callback(job_removal.release_name, self.directory, name, lease)
            if os.path.lexists(f"{base}.actor"):
                actor = monitor_store.session_lease(base)
                leases.callback(actor.close)
                return actor.take()
        except OSError as error:
            raise RefusedError(f"cannot write to {self.directory}: {error.strerror}") from error
        return True

    def _clean_job(self, name: str, kind: str) -> Iterator[CleanedItem]:
        facts, verdict = self.looker.observe(name)  # under the lease
        record = facts.record
        why = self._find_obstacle(facts, verdict)
        pane = record.pane if record is not None and record.adopted is None else None
        if not why and pane is not None and not self.dry_run and dead_panes.pane_state(pane) == "dead":
            why = self._obstacle_for_pane(facts, verdict, dead_panes.close_if_dead(pane))
            if not why:
                yield CleanedItem("pane", name, removed=True, size=0)
        size = 0
        if not why:
            try:
                size = (job_removal.measure_job if self.dry_run else job_removal.remove_job)(self.directory, name)
            except OSError as error:
                why = f"it cannot be removed: {error.strerror}"
            else:
                self.gone |= {record.run} if record else set()
        recent = bool(why) and record is not None and self._age(name, record) < self.older_s
        yield CleanedItem(kind, name, removed=not why, why=why, size=size, recent=recent)

    def _obstacle_for_pane(self, facts: JobFacts, verdict: Verdict, pane: dead_panes.PaneState) -> str:
        seen = removal_rules.RemovalFacts(since_end_s=0.0, pane="none" if pane == "gone" else pane)
        why = removal_rules.find_obstacle(facts, verdict, seen)
        return why or ("its pane could not be closed; try again" if pane == "dead" else "")

    def _find_obstacle(self, facts: JobFacts, verdict: Verdict) -> str:
        if facts.record is None or not verdict.final:
            return removal_rules.find_obstacle(facts, verdict, removal_rules.RemovalFacts(0.0))
        name, record = facts.name, facts.record
        unsent = self._is_unsent(name, {record.run})  # first: what is taken in becomes a notification
        pane = dead_panes.pane_state(record.pane) if record.pane and record.adopted is None else "none"
        seen = removal_rules.RemovalFacts(
            since_end_s=self._age(name, record),
            older_s=self.older_s,
            processes=len(self._processes(record)),
            unsent=unsent,
            undelivered=self._count_undelivered(name),
            prompts=self._count_prompts(record),
            mail=job_removal.has_mail(self.directory, name),
            monitored=self._is_monitored(name, record),
            watches=watch_restore.find_watched_session(self.looker, name),
            pane=pane,
        )
        return removal_rules.find_obstacle(facts, verdict, seen)

    def _age(self, name: str, record: Record) -> float:
        return max(0.0, self.now - job_removal.ended_at(self.directory, name, record))

    def _processes(self, record: Record) -> list[int]:
        """What is left of a run that has ended; one search of all processes tells for all that ended before it."""
        if record.end is None or record.end.at >= self._marked_at:
            self._marked_at, self._marked = time.time(), processes.find_marked_runs()
        if record.run not in self._marked:
            return []
        from midwatch.jobs import lost_job  # noqa: PLC0415  # only where anything of the run is left

        return [pid for _, pid in lost_job.find_survivors(record)]

    def _is_unsent(self, name: str, runs: set[str]) -> bool:
        if any(change.name == name for _, change in outbox.read_reports(self.directory)):
            return True
        return any(each == name and run in runs for each, run in pending_runs.list_runs(self.directory))

    def _count_undelivered(self, name: str) -> int:
        return sum(notice.name == name for notice in outbox.list_pending(self.directory))

    def _count_prompts(self, record: Record) -> int:
        if record.pane is None:
            return 0
        return len(undelivered_store.read_notes(tmux_client.socket_path(record.pane.server), record.pane.id))

    def _is_monitored(self, name: str, record: Record) -> bool:
        """Whether a monitor has not come to an end of its watch; one that was killed, or torn off, is to go on."""
        if record.pane is not None and watch_restore.find_lost_watch(self.looker, name) is not None:
            return True
        watch = monitor_store.read_state(f"{self.directory}/{name}")
        if watch is None or watch.verdict is not None or watch.left:
            return False
        return not monitor_store.is_stop_requested(f"{self.directory}/{name}", record.started)

    # Archived runs, mail, journal

    def _clean_archive(self, name: str) -> Iterator[CleanedItem]:
        runs = job_removal.list_archived_runs(self.directory, name)
        free = [run for run in runs if self.now - run.ended >= self.older_s and not self._is_needed(name, run)]
        freed, why = 0, ""
        for run in free:
            try:
                freed += job_removal.measure_tree(run.path) if self.dry_run else job_removal.remove_archived_run(run)
            except OSError as error:
                why = f"an archived run cannot be removed: {error.strerror}"
            else:
                self.gone |= {run.record.run} if run.record else set()
        if free:
            yield CleanedItem("archive", name, removed=not why, why=why, number=len(free), size=freed)

    def _is_needed(self, name: str, run: job_removal.ArchivedRun) -> bool:
        """Whether something is still to be sent of an earlier run, or anything of it lives."""
        if run.record is None:
            return False
        return self._is_unsent(name, {run.record.run}) or bool(self._processes(run.record))

    def _clean_mail(self, place: str) -> Iterator[CleanedItem]:
        found = mail_removal.list_read(place, self.now - self.older_s)
        freed, why = 0, ""
        for mail in found:
            try:
                freed += (mail_removal.measure_mail if self.dry_run else mail_removal.remove_mail)(place, mail)
            except OSError as error:
                why = f"a message cannot be removed: {error.strerror}"
        if found:
            yield CleanedItem("mail", "", removed=not why, why=why, number=len(found), size=freed)

    def _clean_journal(self) -> Iterator[CleanedItem]:
        from midwatch.journal import journal, journal_database, spool_reader, trim  # noqa: PLC0415  # it loads SQLite
        from midwatch.notifications import mqtt_publish_state  # noqa: PLC0415

        is_there = bool(journal_database.journal_inode(self.directory))
        spools = not self.dry_run and bool(spool_reader.grown_files(self.directory, {}))
        if journal.find_problem(self.directory) or not (is_there or spools):
            return
        published = mqtt_publish_state.read_cursor(self.directory)
        if published is None and mqtt_publish_state.read_mark(self.directory) is not None:
            published = 0
        before = self.now - (self.older_s or EVENTS_KEPT)
        try:
            with contextlib.closing(journal.Journal(self.directory)) as book:
                if not self.dry_run and (freed := trim.remove_spools(book, self.gone)):
                    yield CleanedItem("spools", "", removed=True, size=freed)
                count = trim.trim_journal(book, before, self._kept_runs(), published, count_only=self.dry_run)
        except MidwatchError as error:
            yield CleanedItem("events", "", removed=False, why=str(error))
            return
        if count:
            yield CleanedItem("events", "", removed=True, number=count)

    def _kept_runs(self) -> set[str]:
        """Runs that are still there, as jobs or archived."""
        try:
            names = sentinel_files.list_jobs(self.directory)
        except FileNotFoundError:
            names = []
        found = [self.looker.facts(name).record for name in names]
        shelves = job_removal.list_archived_names(self.directory)
        found += [run.record for name in shelves for run in job_removal.list_archived_runs(self.directory, name)]
        return {record.run for record in found if record is not None}
