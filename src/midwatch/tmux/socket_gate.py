"""Whether a tmux server may be asked at all: only one that this user has started, where nobody else can put another.

A server has its clients write and read files with their own rights, and gets their whole environment. That is why tmux
checks owner and mode of its own directory; but not of a path that is named with `-S`, and we always name one. So all
that is on the way to the socket is checked here, immediately before each connection. Links are followed as the kernel
follows them: each must stand where only this user or root can put one.
"""

from __future__ import annotations

import os
import stat

from midwatch.core.errors import RefusedError
from midwatch.core.text import visible

ROOT, NOBODY = 0, 65534
"""The second is also what the kernel shows where a user has no number in our user namespace."""
OTHERS, GROUP_WRITES, WRITABLE = 0o007, 0o020, 0o022
LINKS = 40
"""As many as the kernel follows."""


class UnsafeServerError(RefusedError):
    """A server is not asked; the message says why, and what to do."""


def find_refusal(place: str, own: str, *, starting: bool = False) -> str:
    """Why the server that listens at a path may not be asked; empty when it may, or when nothing is there.

    ``own``: tmux's directory for this user. There its own rules hold, also while it has no socket.
    ``starting``: a server is started where there is none. Then nobody else may be able to be faster.
    """
    why = _find_path_refusal(place, own, starting=starting)
    return visible(f"tmux server {place} is refused: {why}") if why else ""


def may_connect(place: str, own: str, *, starting: bool) -> bool:
    """Whether a client may connect at this moment: False where nothing is. UnsafeServerError where it is refused.

    Where nothing is, nobody may connect: another user could put a directory there before the client has come.
    """
    why = _find_path_refusal(place, own, starting=starting)
    if why:
        raise UnsafeServerError(visible(f"tmux server {place} is refused: {why}"))
    return why is not None


def _find_path_refusal(place: str, own: str, *, starting: bool) -> str | None:
    """Why a server is refused; empty when it is not, None where nothing is to connect to."""
    path, above, links = "", os.lstat("/"), 0
    left = place.split("/")[::-1]
    while left:
        name = left.pop()
        if name in ("", "."):
            continue
        if name == "..":
            path = path.rpartition("/")[0]
            above = os.lstat(path or "/")
            continue
        entry = f"{path}/{name}"
        try:
            found = os.lstat(entry)
            target = os.readlink(entry) if stat.S_ISLNK(found.st_mode) else ""
        except (FileNotFoundError, NotADirectoryError):
            if left:
                return f"there is no {entry}; make that directory" if starting else None
            return _check_missing_socket(path or "/", above, starting=starting) or ("" if starting else None)
        except (OSError, ValueError) as error:
            return f"{entry} cannot be checked: {getattr(error, 'strerror', '') or error}"
        links += bool(target)
        why = f"{place} leads through more than {LINKS} links" if links > LINKS else ""
        if (
            why := why
            or (_check_own_directory(entry, found) if entry == own else "")
            or _check_entry(entry, found, path, above)
        ):
            return why
        left += target.split("/")[::-1] if target else ()
        if target.startswith("/"):
            path, above = "", os.lstat("/")
        elif not target:
            path, above = entry, found
    return ""


def _check_entry(entry: str, found: os.stat_result, directory: str, above: os.stat_result) -> str:
    """Why an entry of a directory is not to be relied on: others could replace it, or what is below it."""
    if above.st_mode & WRITABLE and not above.st_mode & stat.S_ISVTX:
        mend = f"`chmod go-w {directory or '/'}`, or make it sticky like /tmp (`chmod +t`)"
        return f"others may write to {directory or '/'} and replace {entry}; {mend}"
    foreign = f"{entry} belongs to another user (uid {found.st_uid}); name a server of your own"
    if stat.S_ISSOCK(found.st_mode):
        ours = found.st_uid == os.geteuid() and (found.st_uid != NOBODY or _is_mapped_user(NOBODY))
        return "" if ours else foreign
    safe = not above.st_mode & WRITABLE and not stat.S_ISDIR(found.st_mode)
    return "" if safe or _is_trusted_user(found.st_uid) else foreign


def _check_own_directory(path: str, found: os.stat_result) -> str:
    """What tmux itself would say of its directory. It may leave it to the group, which we do not: a group can write."""
    hint = "remove it and start tmux again, or set TMUX_TMPDIR to a directory of your own"
    if not stat.S_ISDIR(found.st_mode):
        return f"{path} is not a directory; {hint}"
    if found.st_uid != os.getuid():
        return f"{path} belongs to another user (uid {found.st_uid}); {hint}"
    if found.st_mode & (OTHERS | GROUP_WRITES):
        mode = f"others may use {path} (mode {stat.S_IMODE(found.st_mode):04o})"
        return f"{mode}; make sure that its sockets are yours, then `chmod 700 {path}`"
    return ""


def _check_missing_socket(directory: str, found: os.stat_result, *, starting: bool) -> str:
    """Why it proves nothing that there is no socket in a directory, or why a server cannot be started there."""
    if not found.st_mode & WRITABLE or (found.st_mode & stat.S_ISVTX and not starting):
        return ""
    return f"others may write to {directory}; use a directory of your own, or tmux's usual one"


def _is_trusted_user(uid: int) -> bool:
    """Whether a directory or a link of that user is as good as ours. In a sandbox root outside of it has no number."""
    return uid in (os.geteuid(), ROOT) or (uid == NOBODY and not _is_mapped_user(uid))


def _is_mapped_user(uid: int) -> bool:
    """Whether a user of our user namespace has that number."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            ranges = [line.split() for line in file]
    except OSError:
        return True
    return any(int(first) <= uid < int(first) + int(count) for first, _, count in ranges)
