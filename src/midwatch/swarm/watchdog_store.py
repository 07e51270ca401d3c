"""What is known of the watchdogs of this user: one file and one lease per controlled session.

The file is for `status` and for whoever starts it again: it goes on from there, and tells nothing twice.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os

from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.value import Value
from midwatch.system.atomic_files import write_atomic
from midwatch.system.file_locks import Lease

SCHEMA = 1
LINKS = "MIDWATCH_WATCHDOG_LINKS"
"""The variable that names the directory for links to logs."""


class WatchdogStatus(Value):
    """How a watchdog stands; empty or 0 where that is not so yet. Times are of the wall clock."""

    session: str
    socket: str
    project: str
    epic: str = ""
    beads: tuple[str, ...] = ()
    pid: int = 0
    start: int = 0
    pane: str = ""
    """Of tmux, in which it runs; empty where it runs elsewhere."""
    log: str = ""
    controller: str = ""
    """The pane that was taken for the controller, and the pid of its first process."""
    controller_pid: int = 0
    trouble: str = ""
    """Why there is no controller."""
    tick: float = 0.0
    ticked: str = ""
    """What the last tick came to, in one line."""
    delivered: float = 0.0
    outcome: str = ""
    """What became of the last message."""
    held: str = ""
    """Why a message that is due has not been sent."""
    held_message: str = ""
    """What that message tells."""
    held_until: float = 0.0
    """When it is sent at the latest, where that is known."""
    ended: str = ""
    """Why it does not run any more, if it could still say so."""
    memory: dict[str, object] = {}  # noqa: RUF012  # of a named tuple, which nobody can change


def base_path(session: str, socket: str) -> str:
    """Where the files of a session's watchdog are."""
    directory = f"{paths.state_root()}/watchdogs"
    paths.make_private(directory)
    digest = hashlib.sha256(f"{os.path.realpath(socket)}\0{session}".encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{directory}/{_encode_name(session)[:60]}-{digest}"


def default_log_path(session: str) -> str:
    """Where it is logged unless told otherwise."""
    return f"{paths.state_root()}/{_encode_name(session)}-watchdog.log"


def link_default_log(session: str) -> str:
    """Link the place where the original of the watchdog logs to ours; why not, where that cannot be.

    Others may write to that directory: what is there and is no link of ours stays as it is.
    """
    link = f"{os.environ.get(LINKS) or '/tmp'}/{_encode_name(session)}-watchdog-controller-proxy.log"  # noqa: S108  # its own
    target = default_log_path(session)
    try:
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(link) == target:
                return ""
            if os.lstat(link).st_uid == os.getuid():
                os.unlink(link)
        os.symlink(target, link)
    except OSError as error:
        why = "something else is there" if error.errno in (errno.EINVAL, errno.EEXIST) else error.strerror
        return f"{link} could not be linked to the log: {why}"
    return ""


def _encode_name(session: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in session)[:80]


def watchdog_lease(path: str) -> Lease:
    """The right to be the one."""
    return Lease(f"{path}.lock")


def read_status(path: str) -> WatchdogStatus | None:
    try:
        data = json.loads(sentinel_files.read(f"{path}.json") or "null")
    except (FormatError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.pop("schema", None) != SCHEMA:
        return None
    try:
        found = WatchdogStatus(**{key: value for key, value in data.items() if key in WatchdogStatus._fields})
        return found._replace(beads=tuple(found.beads))
    except TypeError:
        return None


def write_status(path: str, standing: WatchdogStatus) -> None:
    write_atomic(f"{path}.json", json.dumps({"schema": SCHEMA, **standing._asdict()}) + "\n")
