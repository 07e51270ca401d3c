"""Asking whether the work is there. Whatever cannot be asked is not done, and says why."""

from __future__ import annotations

import os

from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.foreign_text import ForeignText
from midwatch.core.redaction import redact
from midwatch.core.text import format_duration, visible
from midwatch.integrations import git
from midwatch.system import file_patterns, run_program
from midwatch.system.atomic_files import read_plain
from midwatch.system.run_program import OutputCap, RunLimits
from midwatch.trackers.codec import beads, bmad
from midwatch.trackers.model import TrackerError
from midwatch.verification.model import VerificationCheck, VerificationResult

LIMIT = 300.0
"""Seconds that a command may take."""
LARGEST = 64 << 20
LAST = 4096
"""Bytes of what a command has said that are looked at."""
SHOWN = 120


def run_check(check: VerificationCheck, cwd: str, since: float | None) -> VerificationResult:
    """Make a check in a directory. ``since``: when the work began (wall clock); what is older is not of it."""
    if not os.path.isdir(cwd):
        return VerificationResult(done=False, reason=f"could not be verified: there is no directory {visible(cwd)}")
    found = _run_kind(check, cwd, since)
    return found._replace(reason=redact(found.reason))


def _run_kind(check: VerificationCheck, cwd: str, since: float | None) -> VerificationResult:
    match check.kind:
        case "command":
            return _check_command(check.subject, cwd)
        case "file":
            return _check_files(check.subject, cwd, since)
        case "git":
            return _check_commit(cwd, since)
        case "sprint":
            return _check_sprint(check, cwd)
        case _:
            return _check_bead(check, cwd)


def _check_command(command: str, cwd: str) -> VerificationResult:
    """Exit code 0 says that it is there. It runs in a group of its own, which ends with it."""
    limits = RunLimits(LIMIT, OutputCap(LAST), whole_group=True)
    try:
        done = run_program.run_program(["/bin/sh", "-c", command], limits, cwd=cwd)
    except OSError as error:
        return VerificationResult(done=False, reason=f"could not be verified: {error.strerror}")
    if not done.ended:
        late = f"`{visible(command)}` took longer than {format_duration(LIMIT)}"
        return VerificationResult(done=False, reason=f"could not be verified: {late}")
    said = done.output.decode(errors="replace")
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    told = f": {ForeignText(last.strip()).line(SHOWN)}" if last and done.code else ""
    return VerificationResult(done=done.code == 0, reason=f"`{visible(command)}` ended with {done.code}{told}")


def _check_files(pattern: str, cwd: str, since: float | None) -> VerificationResult:
    """A plain file that is not empty, and was written since the work began."""
    old = 0
    try:
        matching = file_patterns.find_files(pattern, cwd)
    except RefusedError as error:
        return VerificationResult(done=False, reason=f"could not be verified: {error}")
    for path in matching:
        try:
            found = os.stat(os.path.join(cwd, path))
        except OSError:
            continue
        if not found.st_size:
            continue
        if since is None or found.st_mtime >= since - 1:
            return VerificationResult(done=True, reason=f"{ForeignText(path).line()} is there")
        old += 1
    if old:
        return VerificationResult(done=False, reason=f"{visible(pattern)} is there, but older than the work")
    return VerificationResult(done=False, reason=f"there is no {visible(pattern)}")


def _check_commit(cwd: str, since: float | None) -> VerificationResult:
    try:
        said = git.last_commit(cwd, since)
    except git.GitError as error:
        return VerificationResult(done=False, reason=f"could not be verified: {visible(str(error))}")
    told = f"commit {ForeignText(said).line(SHOWN)}" if said else "nothing was committed since then"
    return VerificationResult(done=bool(said), reason=told)


def _check_sprint(check: VerificationCheck, cwd: str) -> VerificationResult:
    for place in bmad.PLACES:
        try:
            text = _read_project_file(cwd, place)
        except OSError as error:
            return VerificationResult(
                done=False, reason=f"could not be verified: {place} cannot be read: {error.strerror}"
            )
        if text is not None:
            found = bmad.find_story(text, check.subject)
            if found is None:
                return VerificationResult(
                    done=False, reason=f"{place} does not tell of {visible(check.subject)}, or of several"
                )
            return VerificationResult(
                done=found[1] == check.wanted, reason=f"{visible(found[0])} is {visible(found[1])}"
            )
    return VerificationResult(done=False, reason=f"could not be verified: there is no {bmad.PLACES[0]}")


def _check_bead(check: VerificationCheck, cwd: str) -> VerificationResult:
    try:
        text = _read_project_file(cwd, beads.PLACE)
    except OSError as error:
        return VerificationResult(
            done=False, reason=f"could not be verified: {beads.PLACE} cannot be read: {error.strerror}"
        )
    if text is None:
        return VerificationResult(done=False, reason=f"could not be verified: there is no {beads.PLACE}")
    try:
        status = beads.parse_statuses(text).get(check.subject)
    except TrackerError as error:
        return VerificationResult(done=False, reason=f"could not be verified: {error}")
    if status is None:
        return VerificationResult(done=False, reason=f"{beads.PLACE} does not tell of {visible(check.subject)}")
    return VerificationResult(done=status == check.wanted, reason=f"{visible(check.subject)} is {visible(status)}")


def _read_project_file(cwd: str, place: str) -> str | None:
    """A file of the project, looked for from a directory upwards. Raises OSError for one that cannot be read.

    What another user has put into a directory such as /tmp says nothing of the work below.
    """
    here = os.path.realpath(cwd)
    while True:
        if not paths.is_planted(os.path.join(here, place.partition("/")[0])):
            try:
                return read_plain(f"{here}/{place}", LARGEST).decode("utf-8", "replace")
            except (FileNotFoundError, NotADirectoryError):
                pass
        if here == os.path.dirname(here):
            return None
        here = os.path.dirname(here)
