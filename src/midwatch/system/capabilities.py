"""What cannot be observed on this machine, and how to mend it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from midwatch.core.value import Value
from midwatch.system import inotify

ROOM = 100 * 1024 * 1024
"""Bytes that must be free where our files are: a full disk delays every verdict."""
FIRST_NAMESPACE = 0xEFFFFFFC
"""Number of the pid namespace that a machine boots with."""


class CapabilityLimit(Value):
    about: str
    says: str
    mend: str
    harmful: bool = True
    """False: good to know, nothing is wrong because of it."""


def find_limits(directory: str) -> Iterator[CapabilityLimit]:
    """Everything that hides something from us, for jobs in a directory."""
    if not os.path.isdir("/proc/self"):
        yield CapabilityLimit(
            "/proc", "there is none: processes cannot be told apart", "mount it: mount -t proc proc /proc"
        )
        return
    yield from _file_event_limits()
    yield from _process_end_limits()
    if hidden := _hidden_process_limit():
        yield hidden
    if os.stat("/proc/self/ns/pid").st_ino != FIRST_NAMESPACE:
        yield CapabilityLimit(
            "pid namespace", "this is a container or sandbox; processes outside it are not seen from here",
            "run midwatch where the work runs", harmful=False,
        )  # fmt: skip
    yield from _watch_count_limits(directory)


def _file_event_limits() -> Iterator[CapabilityLimit]:
    try:
        events = inotify.FileEvents()
    except (OSError, AttributeError) as error:
        full = isinstance(error, OSError) and error.errno == errno.EMFILE
        mend = "sysctl fs.inotify.max_user_instances=1024, or end programs that watch files" if full else "use Linux"
        yield CapabilityLimit("file events", f"the kernel gives none ({error}); files are looked at every 2 s", mend)
        return
    try:
        events.add("/", inotify.NAMES)
    except OSError as error:
        mend = "sysctl fs.inotify.max_user_watches=524288"
        yield CapabilityLimit(
            "file events", f"no watch can be had ({error.strerror}); files are looked at every 2 s", mend
        )
    finally:
        events.close()


def _process_end_limits() -> Iterator[CapabilityLimit]:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (OSError, AttributeError) as error:
        yield CapabilityLimit(
            "process ends", f"the kernel does not tell ({error}); looked at every 2 s", "Linux 5.3 or newer"
        )


def _hidden_process_limit() -> CapabilityLimit | None:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as table:
            options = next((line.split()[3] for line in table if line.split()[1] == "/proc"), "")
    except (OSError, IndexError):
        return None
    hides = [option for option in options.split(",") if option.startswith("hidepid=") and option != "hidepid=0"]
    if not hides or os.geteuid() == 0:
        return None
    says = f"/proc is mounted with {hides[0]}: work of other users cannot be looked at"
    return CapabilityLimit("other users", says, "run midwatch as the user who runs the work", harmful=False)


def _watch_count_limits(directory: str) -> Iterator[CapabilityLimit]:
    while not os.path.isdir(directory) and directory != "/":
        directory = os.path.dirname(directory)
    found = os.statvfs(directory)
    free = found.f_bavail * found.f_frsize
    if free < ROOM:
        yield CapabilityLimit(
            "disk", f"{free // 1048576} MB are free at {directory}", "make room, or name another --dir"
        )
