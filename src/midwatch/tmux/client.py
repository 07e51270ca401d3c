"""Where tmux servers listen, and how one of them is asked: every client of tmux is started here, and nowhere else.

Immediately before, the gate says whether that server is ours (`tmux.socket_gate`); if not, nothing is run. A client has
no more of our environment than it needs, since it gives all of it to the server. A server is never started by looking:
nothing is run where no socket is, and only commands that start none.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from collections.abc import Mapping

from midwatch.core.value import Value
from midwatch.system.child_environment import without_secrets
from midwatch.tmux import socket_gate
from midwatch.tmux.codec import commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    import _signal as signal  # `signal` itself builds enums at import

PROGRAM = "tmux"
CHUNK = 1 << 16
NEEDED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "LD_LIBRARY_PATH")
"""All that a client gets which starts nothing. PATH goes on to what is run in a new window or in a pane again."""
OURS = "MIDWATCH_"
"""How the names of our own variables begin. Some of them are secret, and no server needs any."""
PR_SET_PDEATHSIG = 1
PATH = 7
"""Where the name of a socket stands in a line of /proc/net/unix, if it has one: as it was given, so relative too."""


class ClientResult(Value):
    out: bytes
    errors: str
    late: bool
    """It did not come in time; the client was ended."""


def socket_path(server: tuple[str, ...]) -> str:
    """Where a server listens: ("-S", path), ("-L", name), or () for the one that we run in, else the default one."""
    if server[:1] == ("-S",):
        return os.path.abspath(server[1])
    if not server and os.environ.get("TMUX", "").startswith("/"):
        return commands.parse_socket(os.environ["TMUX"])
    return f"{_socket_directory()}/{server[1]}" if server else default_socket()


def default_socket() -> str:
    """Where the server listens that `tmux` alone reaches, outside of any."""
    return f"{_socket_directory()}/default"


def list_sockets() -> list[str]:
    """Sockets at which servers of this user may listen; those whose server was killed are still there.

    Of a directory that is refused only the default one, whatever others have put there: to say so once is enough.
    """
    found, directory = {socket_path(())}, _socket_directory()
    if find_refusal(default_socket()):
        return sorted({default_socket(), *[path for path in found if is_socket(path)]})
    try:
        found |= {entry.path for entry in os.scandir(directory)}
    except OSError:
        pass
    return sorted([path for path in found if is_socket(path)])


def is_default_directory(place: str) -> bool:
    """Whether a socket is in the directory that tmux itself chooses for this user."""
    return os.path.dirname(place) == _socket_directory()


def find_refusal(place: str, *, starting: bool = False) -> str:
    """Why the server at a socket is not asked, and what to do; empty when it may be asked, or there is none."""
    return socket_gate.find_refusal(place, _socket_directory(), starting=starting)


def may_connect(place: str, *, starting: bool = False) -> bool:
    """Whether a client may connect now: False where nothing is. UnsafeServerError where the server is refused."""
    return socket_gate.may_connect(place, _socket_directory(), starting=starting)


def is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True  # whoever is asked there will say why not


def is_open(path: str) -> bool:
    """Whether a process has that socket, listening or not. The file of a server that has ended stays behind."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.rstrip("\n").split(maxsplit=PATH) for line in file]
    except OSError:
        return True
    name = os.path.basename(path)
    same = [line[PATH] for line in lines if len(line) > PATH and os.path.basename(line[PATH]) == name]
    return any(not each.startswith("/") or _is_same(each, path) for each in same)


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return one == other


def _socket_directory() -> str:
    """As tmux itself chooses it: a directory that there is not does not count."""
    wished = os.environ.get("TMUX_TMPDIR", "")
    return f"{os.path.realpath(wished if os.path.isdir(wished) else '/tmp')}/tmux-{os.getuid()}"  # noqa: S108


def run_client(
    place: str, words: list[str], deadline: float, *, tmux: str = PROGRAM, starting: bool = False, text: int = -1
) -> ClientResult:
    """Run a client of the server at a socket to its end, or to a moment of the monotonic clock.

    UnsafeServerError where that server is refused, OSError when the client cannot be started. ``starting``: the command
    makes a session, and a server if there is none, so it gets the user's environment. ``text``: a file for its input.
    """
    if starting and is_default_directory(place):
        _make_directory(os.path.dirname(place))
    if not may_connect(place, starting=starting):
        return ClientResult(b"", f"no server running on {place}", late=False)
    return _run_command([tmux, "-u", "-S", place, *words], deadline, client_environment(whole=starting), text)


def become_client(place: str, words: list[str]) -> NoReturn:
    """Become a client at our own terminal, for the person who sits there.

    UnsafeServerError where that server is refused, OSError where none is or the client cannot be started.
    """
    if not may_connect(place):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place)
    os.execvpe(  # noqa: S606
        PROGRAM, [PROGRAM, "-S", place, *words], without_secrets(client_environment(whole=True))
    )  # fmt: skip


def is_installed() -> bool:
    import shutil  # noqa: PLC0415  # hot verbs need not know

    return shutil.which(PROGRAM) is not None


def client_version(deadline: float, tmux: str = PROGRAM) -> str:
    """What the client says of its own version; it connects to nobody. OSError when it cannot be started."""
    return _run_command(version_command(tmux), deadline, client_environment()).out.decode(errors="replace").strip()


def version_command(tmux: str = PROGRAM) -> list[str]:
    return [tmux, "-V"]


def command_for_person(server: tuple[str, ...], *words: str) -> list[str]:
    """A command for a person to type, who is outside of tmux."""
    return [PROGRAM, *(() if socket_path(server) == default_socket() else server), *words]


def client_environment(*, whole: bool = False) -> dict[str, str]:
    """What a client gets: what it needs, or all that is the user's."""
    if whole:
        return {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {name: os.environ[name] for name in NEEDED if name in os.environ}


def _make_directory(directory: str) -> None:
    """As tmux itself makes its directory; what is wrong with one that is there, the gate says."""
    try:
        os.mkdir(directory, 0o700)
    except OSError:
        pass


def _run_command(command: list[str], deadline: float, environment: Mapping[str, str], text: int = -1) -> ClientResult:
    out, told = os.pipe()
    errors, complained = os.pipe()
    try:
        try:
            pid = _start_client(command, (text, told, complained), environment)
        finally:
            os.close(told)
            os.close(complained)
        texts = None
        try:
            texts = _read_pipes((out, errors), deadline)
        finally:
            end_client(pid, at_once=texts is None)
        return (
            ClientResult(b"", "", late=True)
            if texts is None
            else ClientResult(texts[0], texts[1].decode(errors="replace"), late=False)
        )
    finally:
        os.close(out)
        os.close(errors)


def _start_client(command: list[str], files: tuple[int, int, int], environment: Mapping[str, str]) -> int:
    """Start a client with these as its input, output and errors, -1 for none; its pid.

    Our files close on exec, so that it gets none of them. It is apart from our terminal: Ctrl-C there does not end it
    in the middle of what it does.
    """
    nothing = [(os.POSIX_SPAWN_OPEN, at, os.devnull, os.O_RDWR, 0) for at, file in enumerate(files) if file < 0]
    given = [(os.POSIX_SPAWN_DUP2, file, at) for at, file in enumerate(files) if file >= 0]
    return os.posix_spawnp(
        command[0], command, without_secrets(environment), file_actions=[*nothing, *given], setpgroup=0,
        setsigmask=(), setsigdef=(signal.SIGPIPE,),
    )  # fmt: skip


def start_control_client(place: str, words: list[str], files: tuple[int, int], tmux: str = PROGRAM) -> int:
    """Start a client in control mode with these as its input and output; its pid. It must not outlive us.

    One that cannot say its last words is kept by its server for ever, and that cannot end then (3.3a).
    UnsafeServerError where that server is refused, OSError where there is none.
    """
    import ctypes  # noqa: PLC0415  # few clients are

    if not may_connect(place):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place)
    command, given = [tmux, "-N", "-u", "-S", place, "-C", *words], client_environment()
    libc = ctypes.CDLL(None)
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    us = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            for at, file in enumerate((*files, nothing)):
                os.dup2(file, at)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            if os.getppid() == us:
                os.execvpe(command[0], command, without_secrets(given))  # noqa: S606
        finally:
            os._exit(127)
    os.close(nothing)
    return pid


def _read_pipes(pipes: tuple[int, int], deadline: float) -> tuple[bytes, bytes] | None:
    """All that comes from two pipes until both are closed; None when that takes too long."""
    texts = dict.fromkeys(pipes, b"")
    poll = select.poll()
    for pipe in pipes:
        poll.register(pipe, select.POLLIN)
    left = len(pipes)
    while left:
        ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not ready:
            return None
        for pipe, _ in ready:
            data = os.read(pipe, CHUNK)
            texts[pipe] += data
            if not data:
                poll.unregister(pipe)
                left -= 1
    return texts[pipes[0]], texts[pipes[1]]


def end_client(pid: int, *, at_once: bool) -> None:
    """Wait for a client's end, having ended it if that must be at once."""
    try:
        if at_once and os.waitpid(pid, os.WNOHANG) == (0, 0):  # it has not ended, so the pid is still its own
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass  # it was waited for; or whoever we are part of has the kernel forget its children
