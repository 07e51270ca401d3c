"""The watchdog in a window of the session that it watches: opened, closed, and how it stands."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

from midwatch.cli import output
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import ForeignText
from midwatch.core.json_text import dump
from midwatch.core.text import format_duration, visible
from midwatch.jobs import log_scan
from midwatch.jobs.launch import ROOT
from midwatch.registry.model import iso
from midwatch.swarm import start_checks, watchdog_store
from midwatch.swarm.codec import quality_text
from midwatch.swarm.watchdog import WatchdogRequest
from midwatch.swarm.watchdog_store import WatchdogStatus
from midwatch.system import processes, procfs
from midwatch.tmux import client as tmux_client
from midwatch.tmux import windows
from midwatch.trackers import select as trackers_select
from midwatch.trackers.model import CLOSED

SCHEMA = 1
PAUSE, COMES, GOES = 0.02, 30.0, 30.0
LARGEST = 1 << 20
"""Seconds between looks while it starts, until it must have, and until it must have ended."""
TAIL = 25
"""Lines of the log that `status` shows."""


def start(asked: WatchdogRequest, log: str, base: str, *, force: bool = False) -> None:
    """Open the window, in place of one that may be there, and wait until it really runs.

    RefusedError where what it is to watch is not there, unless it is forced to.
    """
    before = watchdog_store.read_status(base)
    if not force and (problems := start_checks.find_problems(asked, before)):
        raise RefusedError(f"{'; '.join(problems)}. Correct that, or start it all the same with --force")
    if stop_process(before):
        print(f"stopped {visible(window_name(asked.session))}, which ran until now")
    window = windows.open_window(
        asked.server, asked.session, window_name(asked.session), asked.project, _watchdog_command(asked, log)
    )
    until = time.monotonic() + COMES
    while (standing := watchdog_store.read_status(base)) is None or standing.pid != window.pid:
        if windows.find_window(asked.server, window.pane) != window:
            raise RefusedError(f"the watchdog ended at once: {_read_last_line(log)}")
        if time.monotonic() > until:
            raise RefusedError(
                f"the watchdog did not begin within {COMES:g} s; see window {window_name(asked.session)}"
            )
        time.sleep(PAUSE)
    print(f"started {visible(asked.session)}:{visible(window_name(asked.session))}")
    print(f"log: {visible(log)}")


def window_name(session: str) -> str:
    return f"{session}-controller-watchdog"


def _watchdog_command(asked: WatchdogRequest, log: str) -> list[str]:
    """Words for `execve`: no shell reads a path or a title of anybody's."""
    rules = asked.rules
    words = [
        "watchdog", "run", "-S", tmux_client.socket_path(asked.server), "--session", asked.session,
        "--project-dir", asked.project, "--controller-title-regex", asked.title,
        "--interval-seconds", f"{rules.interval:g}", "--exit-mode", rules.exit_mode, "--log-file", log,
    ]  # fmt: skip
    words += ["--epic", asked.epic] if asked.epic else []
    words += ["--beads", ",".join(asked.beads)] if asked.beads else []
    return [sys.executable, *procfs.BESIDE, ROOT, *words]


def _read_last_line(log: str) -> str:
    lines = read_last_lines(log, 1)
    return lines[0] if lines else "it said nothing"


# Ending it ----------------------------------------------------------------------------------------------------------


def stop(session: str, base: str, *, as_json: bool) -> int:
    standing = watchdog_store.read_status(base)
    ended = stop_process(standing)
    if as_json:
        print(dump({"schema": SCHEMA, "session": session, "stopped": ended}, spaced=True))
    else:
        said = f"stopped {session}:{window_name(session)}" if ended else f"not running: {session} has no watchdog"
        print(visible(said))
    return 0


def stop_process(standing: WatchdogStatus | None) -> bool:
    """End the one that runs, if one does; whether one did. It may be about to take back what it typed: give it time."""
    if standing is None or not is_running(standing):
        return False
    pidfd = processes.watch_exit(standing.pid)
    window = _find_window(standing)
    with contextlib.suppress(ProcessLookupError):
        os.kill(standing.pid, signal.SIGTERM)
    if pidfd is not None:
        gone = select.select([pidfd], [], [], GOES)[0]
        os.close(pidfd)
        if not gone:
            os.kill(standing.pid, signal.SIGKILL)
            output.print_remark(f"it did not end within {GOES:g} s and was killed")
    if window is not None:
        windows.close_window(("-S", standing.socket), window)  # there only where dead panes are kept
    return True


def is_running(standing: WatchdogStatus) -> bool:
    """Whether it is the very process that stood there. One that has ended and was not waited for yet is none."""
    try:
        fields = procfs.stat_fields(standing.pid)
    except (OSError, ValueError):
        return False
    return fields[0] not in ("Z", "X") and standing.start > 0 and procfs.start_time(standing.pid) == standing.start


def _find_window(standing: WatchdogStatus) -> windows.TmuxWindow | None:
    """The window in which it is the first process; None where it runs elsewhere."""
    with contextlib.suppress(RefusedError):
        found = windows.find_window(("-S", standing.socket), standing.pane) if standing.pane else None
        return found if found is not None and found.pid == standing.pid else None
    return None


# How it stands ------------------------------------------------------------------------------------------------------


def status(session: str, base: str, *, as_json: bool) -> int:
    standing = watchdog_store.read_status(base)
    running = standing is not None and is_running(standing)
    shown = _status_fields(
        session,
        standing or WatchdogStatus(session, "", "", log=watchdog_store.default_log_path(session)),
        running=running,
    )
    if as_json:
        print(dump({"schema": SCHEMA, "session": session, **shown}, spaced=True))
    else:
        _print_status(shown)
    return 0 if running else EXIT_CODES["not_found"]


def _status_fields(session: str, standing: WatchdogStatus, *, running: bool) -> dict[str, object]:
    """The fields of `status`; None where there is nothing to tell."""
    window = _find_window(standing) if running else None
    died = standing.pid > 0 and not running and not standing.ended
    companions, missing, trouble = _query_tracker(standing)
    ended = f"died (pid {standing.pid}): it was killed or crashed and could not say why" if died else standing.ended
    return {
        "watchdog_window": f"{session}:{window_name(session)}" if window or not running else None, "running": running,
        "pid": standing.pid if running else None, "window_index": window.number if window else None,
        "project": standing.project or None, "epic": standing.epic or None,
        "controller": standing.controller or None, "trouble": standing.trouble or None,
        "last_tick": standing.tick or None, "tick": standing.ticked or None,
        "last_delivery": standing.delivered or None, "delivery": standing.outcome or None,
        "held_back": standing.held or None if running else None,
        "held_message": standing.held_message or None if running else None,
        "held_until": standing.held_until or None if running else None,
        "ended": None if running else ended or None, "died": died,
        "missing_tasks": missing, "open_companions": companions, "tracker_trouble": trouble or None,
        "log_file": standing.log,
    }  # fmt: skip


def _print_status(shown: dict[str, object]) -> None:
    until, companions, missing = shown["held_until"], shown["open_companions"], shown["missing_tasks"]
    assert isinstance(companions, list)
    assert isinstance(missing, list)
    said = {
        "running": "yes" if shown["running"] else "no",
        "controller": shown["controller"] or f"none ({shown['trouble'] or 'not looked for yet'})",
        "last_tick": _format_age(shown["last_tick"], shown["tick"]),
        "last_delivery": _format_age(shown["last_delivery"], shown["delivery"]),
        "held_until": iso(until) if isinstance(until, float) else None,
        "missing_tasks": ", ".join(missing) or None,
        "open_companions": ", ".join(companions) or "none",
    }
    for key, value in {**shown, **said}.items():
        if value is not None and key not in ("tick", "delivery", "trouble", "died"):
            print(f"{key}: {visible(str(value))}")
    if lines := read_last_lines(str(shown["log_file"]), TAIL):
        print(ForeignText("\n".join(lines)).block())


def _format_age(at: object, what: object) -> str:
    if not isinstance(at, float | int):
        return "never"
    ago = format_duration(max(0.0, float(int(time.time() - at))))
    return f"{iso(at)} ({ago} ago){f': {what}' if what else ''}"


def _query_tracker(standing: WatchdogStatus) -> tuple[list[str], list[str], str]:
    """Open companions and missing tasks of the project that it watches, wherever this is typed; and what is wrong."""
    if not standing.project:
        return [], [], ""
    try:
        work = trackers_select.find_tracker(standing.project).read()
    except (RefusedError, FormatError) as error:
        return [], [], str(error)
    found = [task for task in work.tasks.values() if task.status != CLOSED and quality_text.find_bead(task)]
    companions = [f"{task.id} {quality_text.format_title(quality_text.find_bead(task))}" for task in found]
    return companions, list(work.missing((standing.epic, *standing.beads))), work.trouble


def read_last_lines(path: str, count: int) -> list[str]:
    return log_scan.read_tail(path, LARGEST).decode("utf-8", "replace").splitlines()[-count:]
