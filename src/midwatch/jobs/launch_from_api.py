"""Starting a shim or a sender from inside somebody else's program, which may have threads, gigabytes and children.

`launch.launch_shim` forks its caller,
and the child runs Python until it becomes the shim. A command line may do that. In a
program with threads the child may find a lock held for ever by a thread that it does not have; a large one pays
for a copy of its page tables; and the shim would be its child, to be waited for. So an interpreter of its own does
it: started by `run_program.pass_on` (one system call after the fork, in C), it forks the shim away and ends at once.
"""

from __future__ import annotations

import marshal
import os
import sys

from midwatch.core.errors import RefusedError
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs import launch as jobs_launch
from midwatch.shim.fork import start_beside
from midwatch.system import run_program

STEP = (
    "import os, sys\n"
    "if os.fork():\n"
    "    os._exit(0)\n"
    "os.setsid()\n"
    "from ctypes import CDLL\n"
    f"CDLL(None).prctl({jobs_launch.PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0)\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)
"""What becomes the shim: a session leader and a subreaper, as `launch.launch_shim` makes it, and nobody's child."""
CLOSED = f"import os\nos.closerange(3, os.sysconf('SC_OPEN_MAX'))\n{STEP}"
"""The same without any descriptor of the program: a C library may have made some that are not closed on exec."""


def start_process(command: list[str], said: bytes = b"") -> None:
    """As `shim.fork.run_beside` does it, but that what is started is no child of ours. OSError when it cannot be."""
    step = start_beside([sys.executable, "-I", "-S", "-c", CLOSED, *command], jobs_launch.unmarked_environment(), said)
    try:
        os.waitpid(step, 0)
    except ChildProcessError:
        pass  # the program ignores the end of its children, or has waited for all of them itself


def reserve_standard_streams() -> list[int]:
    """Take 0, 1 and 2 where a program has closed them: what is opened next must not become a standard stream."""
    taken = []
    while (fd := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) <= 2:  # noqa: PLR2004
        taken.append(fd)
    os.close(fd)
    return taken


def launch_shim(
    job: jobs_launch.JobSpec, lease: int, stdio: tuple[int, int, int], *, tty: bool
) -> jobs_launch.LaunchedShim:
    """As `launch.launch_shim` does it, but that the shim is no child of ours; its pid is in the files."""
    broker_settings.withhold_password_variables()
    listening, control = os.pipe()
    errors = -1
    try:
        errors = jobs_launch.open_error_log(job.directory)
        run_program.pass_on(
            [sys.executable, "-I", "-S", "-c", STEP, *jobs_launch.shim_command()],
            marshal.dumps(jobs_launch.build_specification(job, control, lease, stdio, tty=tty)),
            jobs_launch.unmarked_environment(), errors=errors, pass_fds=tuple({*stdio, control, lease}),
        )  # fmt: skip
    except OSError as error:
        os.close(listening)
        raise RefusedError(f"the shim of {job.name} cannot be started: {error}") from error
    finally:
        os.close(control)
        if errors >= 0:
            os.close(errors)
    return jobs_launch.LaunchedShim(0, listening)
