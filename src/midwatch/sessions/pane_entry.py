"""The first program of a pane that Midwatch opens: it is handed everything over a private socket and becomes the shim.

Started with ``python -I -S``. What a tmux server starts gets nothing but words, and those anyone can read; the
specification, the leases and the pipe back to whoever asked come through the socket that is named by those words.
"""

from __future__ import annotations

import _socket
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

PR_SET_CHILD_SUBREAPER = 36
PLACE = ("TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE")
"""Variables that say where we are; all others are those of whoever asked."""
INT = 4


def main() -> None:
    try:
        (control, lock, *leases), said = _receive(sys.argv[2])
        argv, env, spec = marshal.loads(said)  # noqa: S302  # from our own user, over a private socket
    except (OSError, ValueError, EOFError, TypeError):
        _give_up()
    for name in PLACE:
        for variables in (env, spec["env"]):
            variables.pop(name, None)
            if name in os.environ:
                variables[name] = os.environ[name]
    stdio = [os.dup(fd) for fd in (0, 1, 2)]
    spec |= {"control": control, "lock": lock, "leases": leases, "stdio": stdio}
    for fd in (control, lock, *leases, *stdio):
        os.set_inheritable(fd, True)
    _become_subreaper()
    feed = os.memfd_create("specification", 0)
    with open(os.dup(feed), "wb") as file:
        file.write(marshal.dumps(spec))
    os.lseek(feed, 0, os.SEEK_SET)
    os.dup2(feed, 0)
    os.close(feed)
    errors = os.open(f"{spec['dir']}/spool/shim.err", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    os.close(errors)
    os.execve(argv[0], argv, env)  # noqa: S606


def _receive(path: str) -> tuple[list[int], bytes]:
    """Open files, in order, and all that comes with them."""
    wire = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        wire.connect(path)
    finally:
        _remove_socket(path)
    data, ancillary, _, _ = wire.recvmsg(65536, _socket.CMSG_SPACE(8 * INT))
    fds: list[int] = []
    said: list[bytes] = []
    for _, kind, content in ancillary:
        if kind == _socket.SCM_RIGHTS:
            fds += [int.from_bytes(content[at : at + INT], sys.byteorder) for at in range(0, len(content), INT)]
    while data:
        said.append(data)
        data = wire.recv(65536)
    wire.close()
    return fds, b"".join(said)


def _remove_socket(path: str) -> None:
    """Take the door away, which is for us alone: whoever made it may have been killed."""
    try:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    except OSError:
        pass


def _give_up() -> NoReturn:
    """Whoever opened this pane is gone: close it, for it would stay."""
    from midwatch.tmux import windows  # noqa: PLC0415  # only here

    windows.close_own_pane()
    sys.exit(1)


def _become_subreaper() -> None:
    """What loses its parent below us becomes our child. Kept across exec, so the shim need not load ctypes."""
    import ctypes  # noqa: PLC0415  # this program becomes another in a moment

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
