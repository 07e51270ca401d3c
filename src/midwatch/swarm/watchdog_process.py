"""A watchdog from its start to its end: the only one of its session, with its log, going on where the last one was."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time

from midwatch.agents import catalog
from midwatch.config import load, paths
from midwatch.core.errors import RefusedError
from midwatch.core.prompt_text import make_prompt_safe
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.swarm import watchdog_store
from midwatch.swarm.codec import watchdog_state as codec
from midwatch.swarm.controller_session import ControllerSession
from midwatch.swarm.model import WakeMemory
from midwatch.swarm.watchdog import Watchdog, WatchdogRequest
from midwatch.swarm.watchdog_store import WatchdogStatus
from midwatch.system import procfs
from midwatch.system.end_signals import WakeupSignals
from midwatch.tmux import client as tmux_client
from midwatch.trackers import select as trackers_select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 4000
"""Characters of a line of the log: agents read it too, and much in it was written by others."""
LOOK = 9.0
"""Seconds between looks at the panes: the judge counts no longer ones in full."""


def run_watchdog(asked: WatchdogRequest, log_file: str) -> int:
    """Round after round until something ends it; the exit code. RefusedError where it cannot begin."""
    log = open_log("" if asked.dry else log_file)
    base = watchdog_store.base_path(asked.session, tmux_client.socket_path(asked.server))
    lease = watchdog_store.watchdog_lease(base)
    if not asked.dry and not lease.take():
        other = watchdog_store.read_status(base)
        where = f" (pid {other.pid})" if other else ""
        raise RefusedError(
            f"session {asked.session} has a watchdog{where}; `midwatch watchdog stop --session {asked.session}` ends it"
        )
    signals = WakeupSignals()
    panes = PaneObserver(catalog.load_all(), paths.hook_spool(), asked.server)
    try:
        world = ControllerSession(
            asked,
            load.load(asked.project),
            trackers_select.find_tracker(asked.project),
            panes,
            log,
            lambda: signals.asked > 0,
        )
        return _RunningWatchdog(asked, world, log, base, log_file).run(signals)
    finally:
        panes.close()
        signals.close()
        lease.close()


class _RunningWatchdog:
    def __init__(
        self, asked: WatchdogRequest, world: ControllerSession, log: Callable[[str], None], base: str, log_file: str
    ) -> None:
        self.asked, self.world, self.log, self.base = asked, world, log, base
        self.dog = Watchdog(asked, world, log)
        self.standing = WatchdogStatus(
            asked.session, tmux_client.socket_path(asked.server), asked.project, asked.epic, asked.beads, os.getpid(),
            procfs.start_time(os.getpid()) or 0, os.environ.get("TMUX_PANE", ""), log_file,
        )  # fmt: skip
        self._memory: WakeMemory | None = None
        """What was last written of it."""
        self._died = 0
        """Pid of the last one, if that could not say why it ended."""
        before = watchdog_store.read_status(base)
        if before is not None:
            self._died = 0 if before.ended else before.pid
            self._go_on(before)

    def run(self, signals: WakeupSignals) -> int:
        rules, place = self.asked.rules, self.world.tracker.place
        what = f"session={self.asked.session} epic={self.asked.epic or 'none'} tracker={place}"
        self.log(f"started {what} interval={rules.interval:g}s exit-mode={rules.exit_mode}")
        if self._died:
            self.log(f"previous-died pid={self._died}: it was killed or crashed and could not say why")
        self._write()
        due, beat = 0.0, LoopBeat()
        while True:
            now = time.monotonic()
            tick = now >= due
            if tick:
                due = now + self.asked.rules.interval
            wake = self.dog.round(tick=tick)
            self._keep(tick=tick)
            if wake.end or self.asked.once:
                return self._ended(0, wake.why if wake.end else "once")
            if not signals.asked:
                until = beat.after_pass(min(due, time.monotonic() + LOOK))
                select.select([signals], [], [], max(0.0, until - time.monotonic()))
            if signals.asked:
                return self._ended(128 + signals.asked, f"signal {signals.asked}")

    def _ended(self, code: int, reason: str) -> int:
        self.log(f"exit code={code} reason={reason}")
        self.standing = self.standing._replace(ended=reason)
        self._write()
        return code

    # What is kept for `status`, and for whoever goes on

    def _keep(self, *, tick: bool) -> None:
        dog, controller = self.dog, self.world.controller or ("", 0)
        found = self.standing._replace(
            controller=controller[0], controller_pid=controller[1], trouble=dog.sight.trouble, ticked=dog.ticked,
            tick=time.time() if tick else self.standing.tick, delivered=dog.delivered, outcome=dog.outcome,
            held=dog.held, held_message=dog.message, held_until=dog.until or 0.0,
        )  # fmt: skip
        if found != self.standing or dog.memory != self._memory:
            self._memory = dog.memory
            self.standing = found._replace(
                memory=codec.encode_memory(dog.memory, now=time.monotonic(), wall=time.time())
            )
            self._write()

    def _go_on(self, before: WatchdogStatus) -> None:
        """What the last one of the same work has told is not told again."""
        if before.controller:
            self.world.controller = (before.controller, before.controller_pid)
        if (before.epic, before.beads) == (self.asked.epic, self.asked.beads):
            self.dog.memory = codec.decode_memory(before.memory, now=time.monotonic(), wall=time.time())
            self.dog.delivered, self.dog.outcome = before.delivered, before.outcome

    def _write(self) -> None:
        if self.asked.dry:
            return
        with contextlib.suppress(OSError):  # a full disk does not end it; its log says what it does
            watchdog_store.write_status(self.base, self.standing)


def open_log(path: str) -> Callable[[str], None]:
    """Lines for the pane and for a file, if one is named. RefusedError where that cannot be written."""
    if path:
        try:
            paths.make_private(os.path.dirname(path))
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise RefusedError(f"{path} cannot be written: {error.strerror}; name another with --log-file") from error

    def log(text: str) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"[controller-watchdog] {at} {make_prompt_safe(text, LONGEST)}\n"
        with contextlib.suppress(OSError):  # the pane is gone: its signal follows
            sys.stderr.write(line)
            sys.stderr.flush()
        if path:
            with contextlib.suppress(OSError), open(path, "a", encoding="utf-8") as file:
                file.write(line)

    return log
