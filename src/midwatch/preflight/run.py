"""A look before work: every check at once, each for no longer than it may take, the findings in their order.

Checks run in threads: those of the network wait, and a name that cannot be looked up waits in a call that nobody can
interrupt; such a thread is left behind when its time is up. Programs are run by few at a time, and none of them
outlives the look, however that ends.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

from midwatch.config import paths, trust
from midwatch.config.model import PreflightCheck, Settings
from midwatch.core.errors import RefusedError
from midwatch.core.text import signal_name, visible
from midwatch.preflight import checks
from midwatch.preflight.checks import CheckTask
from midwatch.preflight.model import Finding
from midwatch.preflight.rules import findings as judge
from midwatch.system.end_signals import ExitSignals
from midwatch.system.run_program import run_in_foreground

OVERTIME = 0.5
"""Seconds that a check may be late with its own words about being late."""
TICK = 0.5
"""Seconds between the moments at which whoever waits is told for what."""
FIX_LIMIT = 1800.0
"""Seconds: an install may be long, but a night must not pass with it."""
HELPLESS = "its fix was run and did not help"


def run_checks(
    project: str, settings: Settings, *, state: str = "", waiting: Callable[[list[str]], None] | None = None
) -> list[Finding]:
    """Carry out all checks, the built-in ones first. ``waiting`` is told now and then which are not done.

    The settings must be those that were read last: their files' trust is asked for. TERM and HUP end the look as
    Ctrl-C does, with all that it runs.
    """
    tasks = [
        *checks.built_in_checks(project, state or paths.sentinel_directory(), settings),
        *checks.configured_checks(project, settings, trust.find_problem),
    ]
    with ExitSignals():
        return _CheckRun(tasks).run(waiting)


def unwritable(directory: str) -> list[Finding]:
    """What is wrong with a working directory, if nothing may be written to it."""
    if os.access(directory, os.W_OK | os.X_OK):
        return []
    check = PreflightCheck("disk", directory, "working directory")
    return [judge.build_finding(check, f"nothing may be written to {directory}", ok=False)]


def format_summary(findings: list[Finding]) -> str:
    """One line for whoever will not start because of it; empty when all passed."""
    return judge.format_summary(findings)


def format_counts(findings: list[Finding]) -> str:
    """The last line of a table of them."""
    return judge.format_counts(findings)


def require_checks(project: str, settings: Settings, state: str) -> None:
    """RefusedError, with what failed, unless all checks pass."""
    if failed := format_summary(run_checks(project, settings, state=state)):
        raise RefusedError(failed)


def run_fixes(project: str, findings: list[Finding], tell: Callable[[str], None]) -> dict[str, str]:
    """Run the fixes of what failed, each command once, in order; what became of each, in words.

    A fix whose file is not trusted is not run.
    """
    outcomes: dict[str, str] = {}
    done: set[str] = set()
    for found in findings:
        if found.ok or not found.fix or found.fix in done:
            continue
        if problem := checks.find_trust_problem(found.source, trust.find_problem):
            outcomes[found.fix] = f"its fix was not run: {problem}"
        else:
            tell(f"{found.name}: running its fix: {visible(found.fix)}")
            done.add(found.fix)
            with ExitSignals():
                outcomes[found.fix] = _format_outcome(
                    run_in_foreground([checks.SHELL, "-c", found.fix], project, FIX_LIMIT)
                )
        if outcomes[found.fix] != HELPLESS:
            tell(f"{found.name}: {outcomes[found.fix]}")
    return outcomes


def findings_after_fixes(findings: list[Finding], outcomes: dict[str, str]) -> list[Finding]:
    return judge.findings_after_fixes(findings, outcomes)


def _format_outcome(code: int | None) -> str:
    if code is None:
        return f"its fix was ended: not done within {FIX_LIMIT / 60:g} minutes"
    if code < 0:
        return f"its fix was killed by {signal_name(-code)}"
    return f"its fix ended with exit code {code}" if code else HELPLESS


class _CheckRun:
    """One run of all tasks."""

    def __init__(self, tasks: list[CheckTask]) -> None:
        self._tasks = tasks
        self._found: dict[int, list[Finding]] = {}
        self._began: dict[int, float] = {}
        self._news = threading.Condition()
        self._room = threading.Semaphore(max(4, os.cpu_count() or 1))
        self._threads: list[threading.Thread] = []
        self._over = False

    def run(self, waiting: Callable[[list[str]], None] | None) -> list[Finding]:
        cancel, hold = os.pipe()
        try:
            for number in range(len(self._tasks)):
                self._threads.append(threading.Thread(target=self._do, args=(number, cancel), daemon=True))
                self._threads[-1].start()
            self._wait(waiting)
        finally:
            self._over = True
            os.close(hold)  # whoever still runs a program sees it and ends that
            self._part(cancel)
        return [found for number in range(len(self._tasks)) for found in self._found[number]]

    def _do(self, number: int, cancel: int) -> None:
        if not self._tasks[number].runs:
            self._carry_out(number, cancel)
            return
        with self._room:
            if not self._over:
                self._carry_out(number, cancel)

    def _carry_out(self, number: int, cancel: int) -> None:
        task = self._tasks[number]
        self._began[number] = time.monotonic()
        try:
            found = task.do(cancel)
        except Exception as error:  # noqa: BLE001  # whatever it was, the check was not carried out
            why = f"could not be looked at: {checks.format_error(error)}"
            found = [judge.build_finding(task.check, why, ok=False, ran=False)]
        with self._news:
            self._found.setdefault(number, found)
            self._news.notify()

    def _wait(self, waiting: Callable[[list[str]], None] | None) -> None:
        told = time.monotonic()
        with self._news:
            while missing := [number for number in range(len(self._tasks)) if number not in self._found]:
                now = time.monotonic()
                due = {number: self._due(number, now) for number in missing}
                overdue = [number for number in missing if due[number] <= now]
                self._found |= {number: [judge.timeout_finding(self._tasks[number].check)] for number in overdue}
                if overdue:
                    continue
                if waiting is not None and now - told >= TICK:
                    waiting([self._tasks[number].check.name for number in missing])
                    told = now
                self._news.wait(min(TICK, min(due.values()) - now))

    def _due(self, number: int, now: float) -> float:
        """When a task is given up. Until there is room for it to begin, it has all its time before it."""
        return self._began.get(number, now) + self._tasks[number].limit + OVERTIME

    def _part(self, cancel: int) -> None:
        """Wait for those who run programs; nobody else holds anything that must be given back."""
        deadline = time.monotonic() + checks.ENDING
        running = [thread for thread, task in zip(self._threads, self._tasks, strict=False) if task.runs]
        with _IgnoreInterrupt():
            for thread in running:
                thread.join(max(0.0, deadline - time.monotonic()))
        if not any(thread.is_alive() for thread in running):
            os.close(cancel)


class _IgnoreInterrupt:
    """Ctrl-C a second time does not keep us from ending what we started; that takes a moment only."""

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGINT, signal.SIG_IGN) if _is_main() else None

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
