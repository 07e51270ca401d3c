"""Ending the work of a foreign directory so that all who read it come to the same end: first why, at last FAILED."""

from __future__ import annotations

import contextlib
import os

from midwatch.config import paths
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.foreign_text import NOTHING
from midwatch.core.job_model import Adopted, Alive, End, Gone
from midwatch.core.verdict import Verdict
from midwatch.jobs import foreign_step_status, foreign_step_store, name_claim
from midwatch.jobs.codec import sentinel
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.jobs.wait_state import JobWatchState
from midwatch.shim.terminate import build_end
from midwatch.system import processes, procfs
from midwatch.system import terminate_tree as hand


def end_step(
    looker: JobDirectory, name: str, pid: int, ending: tuple[str, str, str], memory: JobWatchState | None = None
) -> Verdict:
    """End a step with everything below it; ``ending`` is state, cause and reason. Returns its final verdict.

    Only if its pid file still names that process, and names it truly. RefusedError when it could not be ended.
    """
    if others := paths.find_sharing(looker.directory):
        raise RefusedError(f"{others}: nothing named there is signalled")
    meant = processes.start_times([pid, *procfs.descendants(pid, jobs=False)])
    if os.getpid() in meant:  # in a subshell `$$` is the pid of the shell around it, and that may be who asks
        raise RefusedError(f"its pid file names process {pid}, which this very call runs in")
    facts = looker.facts(name, memory)  # whoever has that pid now is the one who was meant, and so are those below it
    if facts.status is not None or not isinstance(facts.shim, Alive) or facts.shim.pid != pid or pid not in meant:
        return job_verdict.judge(facts)
    ended = record_ending(looker.directory, name, ending, facts.elapsed_s or 0.0)
    if left := hand.end_tree(lambda: meant):
        foreign_step_store.remove_end(f"{looker.directory}/{name}")
        raise RefusedError(f"{name} could not be ended; still there: {', '.join(map(str, left))}")
    trouble = ""
    try:
        write_failed_status(Adopted(looker.directory, name, True, ""), pid)
    except OSError as error:  # ended it is all the same, and the note tells every reader how
        trouble = f"; FAILED could not be written: {error.strerror}"
    facts = looker.facts(name)
    told = facts.ending is not None or (facts.status or NOTHING).raw.strip() == "SUCCESS"
    verdict = job_verdict.judge(facts if told else facts._replace(ending=ended))
    return verdict._replace(reason=f"{verdict.reason}{trouble}")


def record_ending(directory: str, name: str, ending: tuple[str, str, str], elapsed: float) -> End:
    """Note state, cause and reason before anything is signalled: who watches the directory sees it go."""
    found = build_end(None, 0, ending, elapsed, [])
    if directory:
        with contextlib.suppress(OSError, FormatError):  # it is to end all the same
            foreign_step_store.write_end(f"{directory}/{name}", found)
    return sentinel.decode_end(found)


def write_failed_status(adopted: Adopted, pid: int) -> None:
    """Say FAILED where a step that was ended said nothing itself and was not begun again. Raises OSError."""
    found = foreign_step_status.read_adopted(adopted, pid, Gone("it was ended"), 0.0)
    if found is not None and found.status is None:
        name_claim.write_file(f"{adopted.dir}/{adopted.name}.status", "FAILED\n")
