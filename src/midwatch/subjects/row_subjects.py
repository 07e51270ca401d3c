"""The rows of a session registry as subjects: each with the verdict on the session or the pane that it names."""

from __future__ import annotations

from midwatch.jobs.job_directory import JobDirectory
from midwatch.registry import tmux_servers
from midwatch.registry.model import RegistryRow
from midwatch.registry.rules.row_verdict import judge_row
from midwatch.registry.sessions import RegisteredSessions, RowStatus
from midwatch.subjects.agent_subjects import pane_subject_id
from midwatch.subjects.model import Subject, SubjectSnapshot
from midwatch.tmux import client as tmux_client


class RowSubjects:
    """Kept from snapshot to snapshot."""

    def __init__(self, path: str, looker: JobDirectory) -> None:
        self.sessions = RegisteredSessions(path, looker)

    def find_servers(self, wanted: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        """The wanted servers, and those that rows name and that may be asked; each once."""
        rows = self.sessions.file.read().rows
        refused = tmux_servers.refused_servers(self.sessions.path, rows)
        named = [row.server or () for row in rows if (row.server or ()) not in refused]
        found = {tmux_client.socket_path(server): server for server in (*reversed(named), *reversed(wanted))}
        return tuple(reversed(found.values()))

    def add(self, found: SubjectSnapshot) -> SubjectSnapshot:
        """A snapshot with the rows behind it."""
        rows = self.sessions.file.read().rows
        here = tuple(row for row in rows if row.is_on(self.sessions.host))
        statuses = {each.row.at: each for each in self.sessions.observe_rows(here)}
        by_id = {each.id: each for each in found.subjects}
        names = [row.name for row in rows]
        keys = [f"row/{row.name}{_ordinal(names[:at].count(row.name))}" for at, row in enumerate(rows)]
        subjects = [_row_subject(key, row, statuses.get(row.at), by_id) for key, row in zip(keys, rows, strict=True)]
        unseen = tuple(each.id for each in subjects if each.verdict.cause == "not-seen")
        return found._replace(subjects=(*found.subjects, *subjects), unseen=(*found.unseen, *unseen))

    def close(self) -> None:
        self.sessions.close()


def _ordinal(earlier: int) -> str:
    """What tells a row from earlier ones of the same name."""
    return f"#{earlier + 1}" if earlier else ""


def _row_subject(key: str, row: RegistryRow, status: RowStatus | None, by_id: dict[str, Subject]) -> Subject:
    if status is None:
        trouble = f"it is a session of {row.data.get('host')}"
        return Subject(key, "row", judge_row(row, None, gone=False, trouble=trouble), agent=row.agent)
    about = by_id.get(f"session/{row.name}") if status.record is not None else None
    if about is None and status.pane is not None:
        about = by_id.get(pane_subject_id(status.pane.server, status.pane.id))
    gone, trouble = status.is_gone, status.case.trouble
    verdict = judge_row(row, about.verdict if about else None, gone=gone, trouble=trouble)
    return Subject(key, "row", verdict, agent=row.agent, about=about.id if about else "")
