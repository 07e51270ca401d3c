"""Starting a job under a name: refuse what is unsafe, put away the last run, launch."""

import os

from dogwatch.hands import spawn
from dogwatch.loops.look import Looker
from dogwatch.model.errors import RefusedError
from dogwatch.store import claims, places


def claim(directory: str, name: str, looker: Looker) -> int:
    """Make a name free for a new run and take its lease, or say why it cannot be had."""
    places.prepare(directory)
    base = f"{directory}/{name}"
    claims.refuse_links(base)
    try:
        lease = claims.lock(base)
    except OSError as error:
        raise RefusedError(f"cannot write to {directory}: {error.strerror}") from error
    verdict = looker.verdict(name)
    if lease is None or not (verdict.final or verdict.process == "gone"):
        if lease is not None:
            os.close(lease)
        already = "being started by someone else" if verdict.final else f"{verdict.state} already ({verdict.reason})"
        raise RefusedError(f"{name} is {already}; wait for it, `dogwatch stop {name}`, or choose another --name")
    try:
        claims.archive(directory, name)
    except OSError as error:
        os.close(lease)
        raise RefusedError(f"cannot put away the last run of {name}: {error.strerror}") from error
    return lease


def open_log(job: spawn.Job) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(f"{job.directory}/{job.name}.log", flags, 0o600)
    except OSError as error:
        raise RefusedError(f"cannot write {job.directory}/{job.name}.log: {error.strerror}") from error


def detached(job: spawn.Job, lease: int) -> list[str]:
    """Start a job that outlives us. Returns what its shim said first: started, or ended."""
    log = open_log(job)
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    shim = spawn.launch(job, lease, (null, log, log), tty=False)
    for fd in (log, null, lease):
        os.close(fd)
    with open(shim.control, encoding="utf-8", errors="replace") as said:
        first = said.readline().rstrip("\n")
        if first:
            words = first.split("\t")
            if words[0] == "refused":
                raise RefusedError(f"cannot write to {job.directory}: {words[1]}")
            return words
    raise RefusedError(f"the shim of {job.name} did not start; see {job.directory}/spool/shim.err")
