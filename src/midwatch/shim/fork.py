"""How a shim hears signals, and how it brings work into the world.

The work is held at a gate until the record names it: nothing ever runs that no file knows. If the shim dies before it
opens the gate, whoever waits there reads the end of the pipe and exits.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # `signal` itself builds enums at import: a third of the shim's start

CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGSYS, signal.SIGTRAP}
HEARD = signal.valid_signals() - CRASHES - {signal.SIGKILL, signal.SIGSTOP}
"""Every signal that can be caught is, so that only a real crash or KILL ends a shim unheard."""
PYTHONS_OWN = {signal.SIGPIPE, signal.SIGXFSZ}
"""Ignored by Python itself, not by whoever called us."""


def catch_signals() -> tuple[int, set[int]]:
    """Turn signals into bytes in a pipe. Returns its end to read from, and what our caller had us ignore."""
    inbox, outbox = os.pipe()
    os.set_blocking(inbox, False)
    os.set_blocking(outbox, False)
    ignored = {int(n) for n in HEARD if signal.getsignal(n) == signal.SIG_IGN} - PYTHONS_OWN
    signal.set_wakeup_fd(outbox, warn_on_full_buffer=False)
    for number in HEARD:
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    return inbox, ignored


def fork_work(spec: dict[str, Any], ignored: set[int], *, keep: bool) -> tuple[int, int, int]:
    """Fork the work. Returns its pid, the gate to write to, and a pipe that closes on exec or says why not.

    With ``keep`` its streams stay open here.
    """
    held, gate = os.pipe()
    exec_pipe, told = os.pipe()
    if spec["tty"]:
        take_terminal(spec["stdio"][0])
    # Until its handlers are not ours any more, the child hears nothing: a signal to it must not be lost on us.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    pid = os.fork()
    if pid == 0:
        os.close(gate)
        become_work(spec, ignored, held, told)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for fd in {held, told} if keep else {held, told, *spec["stdio"]}:
        os.close(fd)
    if spec["head"]["foreground"]:  # whoever relays must know it before it can say a word, should we be killed
        try:
            os.write(spec["control"], f"forked\t{pid}\n".encode())
        except OSError:
            pass
    return pid, gate, exec_pipe


def abandon_work(pid: int, *fds: int) -> None:
    """The end of work that was forked and stays behind its gate. 0 stands for what was never there."""
    for fd in filter(None, fds):
        os.close(fd)
    if pid:
        os.waitpid(pid, 0)


def fork_judge(command: list[str], secrets: list[str]) -> tuple[int, int]:
    """Run the judge beside us, without our secrets. Its pid, and where its answer comes. OSError if it cannot be."""
    answer, told = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, told, 1)]
    try:
        environment = {name: value for name, value in os.environ.items() if name not in secrets}
        return os.posix_spawn(command[0], command, environment, file_actions=actions, setsid=True), answer
    except OSError:
        os.close(answer)
        raise
    finally:
        os.close(told)
        os.close(null)


def start_beside(command: list[str], environment: dict[str, str] | None = None, said: bytes = b"") -> int:
    """Start what nobody waits for, with a little to read: its own session, no terminal, nothing of ours open.

    Returns its pid; OSError when it cannot be run.
    """
    null = os.open(os.devnull, os.O_RDWR)
    reading, writing = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, reading if said else null, 0), *((os.POSIX_SPAWN_DUP2, null, fd) for fd in (1, 2))]
    try:
        os.set_blocking(writing, False)
        os.write(writing, said)
        return os.posix_spawn(
            command[0], command, os.environ if environment is None else environment, file_actions=actions,
            setsid=True, setsigmask=(), setsigdef=HEARD,
        )  # fmt: skip
    finally:
        for fd in (null, reading, writing):
            os.close(fd)


def become_work(spec: dict[str, Any], ignored: set[int], held: int, told: int) -> None:
    """In the child: its own session, or on a terminal its own foreground group; then the gate; then the command."""
    try:
        if spec["tty"]:
            os.setpgid(0, 0)
            os.tcsetpgrp(spec["stdio"][0], os.getpid())
        else:
            os.setsid()
        signal.set_wakeup_fd(-1)
        for number in HEARD:
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if not os.read(held, 1):
            os.kill(os.getpid(), signal.SIGKILL)  # it never ran: no exit code may be taken for the work's
        os.chdir(spec["cwd"])
        for target, fd in enumerate(spec["stdio"]):
            os.dup2(fd, target)
        for fd in spec["leases"]:  # held by all that the work leaves, however the shim ends
            os.set_inheritable(fd, True)
        os.execvpe(spec["argv"][0], spec["argv"], spec["env"])  # noqa: S606
    except OSError as error:
        os.write(told, str(error.errno).encode())
    finally:
        os._exit(127)


def reset_terminal() -> None:
    """Take back what an agent that was killed had asked of its terminal: mouse, pastes and the focus, no cursor.

    A tmux server (3.3a) crashes when somebody attaches to a dead pane that still wants to hear of the focus (tried).
    """
    try:
        fd = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        os.write(fd, b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[?25h")
        os.close(fd)
    except OSError:
        pass  # the terminal is gone


def take_terminal(fd: int) -> None:
    """Make a terminal ours, so that the work can be its foreground group and be suspended like any job."""
    import fcntl  # noqa: PLC0415  # only on a terminal, and still before the work starts
    import termios  # noqa: PLC0415

    fcntl.ioctl(fd, termios.TIOCSCTTY, 0)
