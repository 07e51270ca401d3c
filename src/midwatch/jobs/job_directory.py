"""The jobs of one directory: what is known of each, and the verdict on it.

Every face, and the shim through `_decide`, comes through here; that is why they agree.
"""

from __future__ import annotations

import os

from midwatch.config import sentinel_files
from midwatch.core.policy import Policy
from midwatch.jobs.observe import JobObservation
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.system import processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from midwatch.core.job_model import JobFacts
    from midwatch.core.verdict import Verdict
    from midwatch.jobs.wait_state import JobWatchState


class JobDirectory:
    """The jobs of one directory. Keeps nothing of them but what is the same for all."""

    def __init__(self, directory: str, policy: Policy | Callable[[], Policy], *, brief: bool = False) -> None:
        self.directory = directory
        self.brief = brief
        """Whoever lists jobs shows no evidence: what only explains an end is not read."""
        self.given = policy
        self.place = processes.current_place()
        self.me = os.getpid()

    @property
    def policy(self) -> Policy:
        """For work that has no record, and so no policy of its own; settings files are read only for that."""
        if not isinstance(self.given, Policy):
            self.given = self.given()
        return self.given

    def verdict(self, name: str, memory: JobWatchState | None = None) -> Verdict:
        return job_verdict.judge(self.facts(name, memory))

    def observe(self, name: str) -> tuple[JobFacts, Verdict]:
        """The verdict with the facts that it rests on."""
        facts = self.facts(name)
        return facts, job_verdict.judge(facts)

    def facts(self, name: str, memory: JobWatchState | None = None) -> JobFacts:
        look = JobObservation(self, f"{self.directory}/{name}", name)
        facts = look.facts(memory)
        if look.lost is not None and look.lost.end is not None:
            from midwatch.jobs import record_end  # noqa: PLC0415  # few lose their shim

            if record_end.write_if_free(self.directory, facts, look.lost.end, ours=memory is not None and memory.keeps):
                facts = facts._replace(status=look.status())
                record_end.send_end(self.directory, facts.record)
        return facts

    def archived(self, name: str, run: str) -> JobFacts | None:
        """An earlier run of a name, if it is still kept: someone may have waited for it when the next one began."""
        for base in sentinel_files.list_archives(self.directory, name):
            facts = JobObservation(self, base, name).facts(None)
            if facts.record is not None and facts.record.run == run:
                return facts
        return None
