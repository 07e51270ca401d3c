"""The one service that knows every subject with its verdict: what `ls`, `show`, `why`, `events` and the API tell.

A job is judged by its files and processes alone. A session is judged by a look at its pane as well; what that needs is
loaded only when there is one. Nothing is verified here: the end of a turn is `idle`, not `completed`.
"""

from __future__ import annotations

from midwatch.core.errors import FormatError
from midwatch.core.job_model import Alive
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.listing import list_verdicts
from midwatch.subjects.model import Subject, SubjectScope, SubjectSnapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from midwatch.core.job_model import JobFacts
    from midwatch.sessions.session_group import SessionGroup
    from midwatch.subjects.row_subjects import RowSubjects


def live_verdict(looker: JobDirectory, name: str, warn: Callable[[str], None]) -> Verdict:
    """What is true of a job or a session at this moment."""
    return add_session_turns(looker, [looker.verdict(name)], warn)[0]


def add_session_turns(looker: JobDirectory, verdicts: list[Verdict], warn: Callable[[str], None]) -> list[Verdict]:
    """The same verdicts, those on sessions by a look at their panes.

    An agent's file that is broken is no reason to say nothing: ``warn`` is told, and turns are left out.
    """
    if not any(each.kind == "session" for each in verdicts):
        return verdicts
    from midwatch.sessions import session_group  # noqa: PLC0415  # jobs do not pay for tmux and the agents' files

    try:
        return session_group.add_pane_verdicts(looker, verdicts, looker.policy)
    except FormatError as error:
        warn(f"{error}; until then nothing is told of turns")
        return verdicts


class SubjectService:
    """The subjects of one directory, and of the tmux servers and the registry of a scope. Close it after use.

    Kept for several snapshots, it remembers what it has seen of agents, so that their silence can be measured.
    """

    def __init__(self, looker: JobDirectory, scope: SubjectScope, warn: Callable[[str], None]) -> None:
        self.looker = looker
        self.scope = scope
        self.warn = warn
        self._group: SessionGroup | None = None
        self._rows: RowSubjects | None = None

    def snapshot(self) -> SubjectSnapshot:
        """Every subject now. Raises OSError when the directory cannot be read; one that is not there holds no jobs."""
        facts: dict[str, JobFacts] = {}
        verdicts = self._list_jobs(facts)
        if not self.scope.servers and not self.scope.registry and not any(each.kind == "session" for each in verdicts):
            return SubjectSnapshot(tuple(_with_children([_job_subject(each, facts) for each in verdicts], facts)))
        from midwatch.subjects import agent_subjects  # noqa: PLC0415  # jobs do not pay for tmux and the agents' files

        jobs = [_job_subject(each, facts) for each in verdicts]
        scope = self.scope
        if scope.registry:
            scope = scope._replace(servers=self._open_rows().find_servers(scope.servers))
        try:
            found = agent_subjects.observe_agents(self._open_group(), jobs, scope)
        except FormatError as error:
            self.warn(f"{error}; until then nothing is told of turns")
            found = SubjectSnapshot(tuple(jobs), (str(error),), ("pane/",))
        found = found._replace(subjects=tuple(_with_children(list(found.subjects), facts)))
        return self._open_rows().add(found) if scope.registry else found

    def close(self) -> None:
        for each in (self._group, self._rows):
            if each is not None:
                each.close()

    def _list_jobs(self, facts: dict[str, JobFacts]) -> list[Verdict]:
        try:
            if not self.scope.children:
                return list_verdicts(self.looker)
            from midwatch.config import sentinel_files  # noqa: PLC0415  # loaded by the other branch as well

            found = []
            for name in sentinel_files.list_jobs(self.looker.directory):
                facts[name], verdict = self.looker.observe(name)
                found.append(verdict)
        except FileNotFoundError:
            return []
        return found

    def _open_group(self) -> SessionGroup:
        if self._group is None:
            from midwatch.sessions.session_group import SessionGroup  # noqa: PLC0415  # only where there is an agent

            self._group = SessionGroup(self.looker, self.looker.policy)
        return self._group

    def _open_rows(self) -> RowSubjects:
        if self._rows is None:
            from midwatch.subjects.row_subjects import RowSubjects  # noqa: PLC0415  # most scopes have no registry

            self._rows = RowSubjects(self.scope.registry, self.looker)
        return self._rows


def _job_subject(verdict: Verdict, facts: dict[str, JobFacts]) -> Subject:
    seen = facts.get(verdict.name)
    record = seen.record if seen else None
    alive = (each.pid for each in (seen.shim, seen.work) if isinstance(each, Alive)) if seen else iter(())
    return Subject(
        f"{verdict.kind}/{verdict.name}", verdict.kind, verdict, agent=record.agent if record else "",
        record=record, pid=next(alive, 0),
    )  # fmt: skip


def _with_children(subjects: list[Subject], facts: dict[str, JobFacts]) -> list[Subject]:
    """With the attempts of each job behind it."""
    found = []
    for each in subjects:
        found.append(each)
        record = facts[each.verdict.name].record if each.kind in ("job", "session") and facts else None
        if record is not None and (record.attempts or record.retries):
            from midwatch.jobs.rules.attempts import attempt_verdicts  # noqa: PLC0415  # few jobs are tried again

            found += [
                Subject(f"{each.id}/attempt/{number}", "attempt", verdict, each.id, record=record)
                for number, verdict in attempt_verdicts(record, each.verdict)
            ]
    return found
