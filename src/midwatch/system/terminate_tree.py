"""Ending work: by its shim where there is one, else by hand, always checking whom we touch."""

import os
import select
import signal
import time
from collections.abc import Callable

from midwatch.core.job_model import Alive, Identity
from midwatch.system import processes, procfs

KILL_AFTER = 5.0


def stop_by_shim(shim: Identity, place: processes.ProcessPlace, patience: float, by: int = signal.SIGTERM) -> None:
    """Ask a shim to stop its work, if it is there to be asked, and wait until it has ended, however it did."""
    if not isinstance(processes.find_process(shim, place), Alive):
        return
    pidfd = processes.watch_exit(shim.pid)
    if signal_exactly(shim.pid, shim.start, by):
        signal_exactly(shim.pid, shim.start, signal.SIGCONT)
        select.select([pidfd] if pidfd is not None else [], [], [], patience)
    if pidfd is not None:
        os.close(pidfd)


def signal_exactly(pid: int, start: int, number: int) -> bool:
    """Signal this very process, never another that has its pid by now."""
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if procfs.start_time(pid) != start:
            return False
        signal.pidfd_send_signal(pidfd, number)
    except OSError:
        return False
    finally:
        os.close(pidfd)
    return True


def end_tree(
    roots: Callable[[], dict[int, int]], patience: float = KILL_AFTER, spare: tuple[str, ...] = (), *,
    alone: bool = False,
) -> list[int]:  # fmt: skip
    """End processes and all below them: TERM, then KILL, until none is left. Returns what could not be ended.

    ``roots`` gives pids with the start times of those who are meant, so that nobody who has such a pid by now is
    touched, nor what is below him. It is asked again each round: what ends may leave orphans that only it can find.
    What has one of ``spare`` in its command line serves others too and is left. ``alone``: only the roots themselves.
    """
    known: dict[int, int] = {}
    deadline = time.monotonic() + patience
    give_up = deadline + patience
    while True:
        for root in [pid for pid, start in roots().items() if procfs.start_time(pid) == start]:
            if procfs.is_shared(root, spare):
                continue
            below = () if alone else procfs.descendants(root, jobs=False, spare=spare)
            for pid in (root, *below):
                start = procfs.start_time(pid)
                if pid not in known and start:
                    known[pid] = start
                    signal_exactly(pid, start, signal.SIGTERM)
                    signal_exactly(pid, start, signal.SIGCONT)
        alive = [pid for pid, start in known.items() if _lives(pid, start)]
        now = time.monotonic()
        if not alive or now >= give_up:
            return alive
        if now >= deadline:
            for pid in alive:
                signal_exactly(pid, known[pid], signal.SIGKILL)
        _wait_for_exit(alive, 0.1)


def _lives(pid: int, start: int) -> bool:
    try:
        fields = procfs.stat_fields(pid)
    except (OSError, ValueError):
        return False
    return int(fields[19]) == start and not procfs.is_dead(fields)


def _wait_for_exit(pids: list[int], seconds: float) -> None:
    """Wait for an exit; orphans of what ends are found by looking again."""
    pidfd = processes.watch_exit(pids[0])
    if pidfd is not None:
        select.select([pidfd], [], [], seconds)
        os.close(pidfd)
