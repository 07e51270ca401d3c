"""Asking whether the work is there. Whatever cannot be asked is not done, and says why."""

from __future__ import annotations

import glob
import os

from midwatch.core.foreign_text import ForeignText
from midwatch.core.redaction import clean
from midwatch.core.text import in_words, visible
from midwatch.integrations import git
from midwatch.system import run_program
from midwatch.system.atomic_files import read_plain
from midwatch.system.run_program import OutputCap, RunLimits
from midwatch.trackers.codec import beads, bmad
from midwatch.trackers.model import TrackerError
from midwatch.verification.model import VerificationCheck, Verified

LIMIT = 300.0
"""Seconds that a command may take."""
LARGEST = 64 << 20
LAST = 4096
"""Bytes of what a command has said that are looked at."""
SHOWN = 120


def verify(check: VerificationCheck, cwd: str, since: float | None) -> Verified:
    """Make a check in a directory. ``since``: when the work began (wall clock); what is older is not of it."""
    if not os.path.isdir(cwd):
        return Verified(done=False, reason=f"could not be verified: there is no directory {visible(cwd)}")
    found = _made(check, cwd, since)
    return found._replace(reason=clean(found.reason))


def _made(check: VerificationCheck, cwd: str, since: float | None) -> Verified:
    match check.kind:
        case "command":
            return _command(check.subject, cwd)
        case "file":
            return _files(check.subject, cwd, since)
        case "git":
            return _commit(cwd, since)
        case "sprint":
            return _sprint(check, cwd)
        case _:
            return _bead(check, cwd)


def _command(command: str, cwd: str) -> Verified:
    """Exit code 0 says that it is there. It runs in a group of its own, which ends with it."""
    limits = RunLimits(LIMIT, OutputCap(LAST), whole_group=True)
    try:
        done = run_program.run(["/bin/sh", "-c", command], limits, cwd=cwd)
    except OSError as error:
        return Verified(done=False, reason=f"could not be verified: {error.strerror}")
    if not done.ended:
        late = f"`{visible(command)}` took longer than {in_words(LIMIT)}"
        return Verified(done=False, reason=f"could not be verified: {late}")
    said = done.output.decode(errors="replace")
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    told = f": {ForeignText(last.strip()).line(SHOWN)}" if last and done.code else ""
    return Verified(done=done.code == 0, reason=f"`{visible(command)}` ended with {done.code}{told}")


def _files(pattern: str, cwd: str, since: float | None) -> Verified:
    """A plain file that is not empty, and was written since the work began."""
    old = 0
    for path in sorted(glob.glob(pattern, root_dir=cwd, recursive=True)):
        try:
            found = os.stat(os.path.join(cwd, path))
        except OSError:
            continue
        if not os.path.isfile(os.path.join(cwd, path)) or not found.st_size:
            continue
        if since is None or found.st_mtime >= since - 1:
            return Verified(done=True, reason=f"{ForeignText(path).line()} is there")
        old += 1
    if old:
        return Verified(done=False, reason=f"{visible(pattern)} is there, but older than the work")
    return Verified(done=False, reason=f"there is no {visible(pattern)}")


def _commit(cwd: str, since: float | None) -> Verified:
    try:
        said = git.last_commit(cwd, since)
    except git.GitError as error:
        return Verified(done=False, reason=f"could not be verified: {visible(str(error))}")
    told = f"commit {ForeignText(said).line(SHOWN)}" if said else "nothing was committed since then"
    return Verified(done=bool(said), reason=told)


def _sprint(check: VerificationCheck, cwd: str) -> Verified:
    for place in bmad.PLACES:
        try:
            text = _text(cwd, place)
        except OSError as error:
            return Verified(done=False, reason=f"could not be verified: {place} cannot be read: {error.strerror}")
        if text is not None:
            found = bmad.find(text, check.subject)
            if found is None:
                return Verified(done=False, reason=f"{place} does not tell of {visible(check.subject)}, or of several")
            return Verified(done=found[1] == check.wanted, reason=f"{visible(found[0])} is {visible(found[1])}")
    return Verified(done=False, reason=f"could not be verified: there is no {bmad.PLACES[0]}")


def _bead(check: VerificationCheck, cwd: str) -> Verified:
    try:
        text = _text(cwd, beads.PLACE)
    except OSError as error:
        return Verified(done=False, reason=f"could not be verified: {beads.PLACE} cannot be read: {error.strerror}")
    if text is None:
        return Verified(done=False, reason=f"could not be verified: there is no {beads.PLACE}")
    try:
        status = beads.statuses(text).get(check.subject)
    except TrackerError as error:
        return Verified(done=False, reason=f"could not be verified: {error}")
    if status is None:
        return Verified(done=False, reason=f"{beads.PLACE} does not tell of {visible(check.subject)}")
    return Verified(done=status == check.wanted, reason=f"{visible(check.subject)} is {visible(status)}")


def _text(cwd: str, place: str) -> str | None:
    """A file of the project, looked for from a directory upwards. Raises OSError for one that cannot be read."""
    here = os.path.realpath(cwd)
    while True:
        try:
            return read_plain(f"{here}/{place}", LARGEST).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            pass
        if here == os.path.dirname(here):
            return None
        here = os.path.dirname(here)
