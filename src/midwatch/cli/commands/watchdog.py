"""`midwatch watchdog start|stop|status|run`: wakes the agent that leads others, when there is something to do."""

from __future__ import annotations

import os

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.config import load
from midwatch.config.model import Settings
from midwatch.core.errors import UsageError
from midwatch.core.task_ids import NO_ID, is_id
from midwatch.swarm import watchdog_store
from midwatch.swarm.model import CONFIRM, EXIT_MODES, WakeRules
from midwatch.tmux import client as tmux_client
from midwatch.tmux.sessions import server_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.swarm.watchdog import WatchdogRequest

VERBS = ("start", "stop", "status", "run")
SHORTEST, USUAL = 60.0, 420.0
TITLE = "controller"
ONLY_FOR = {"--once": "run", "--dry-run": "run", "--force": "start"}


def main(options: Options) -> int:
    if len(options.names) != 1 or options.names[0] not in VERBS:
        raise UsageError(f"watchdog is one of {', '.join(VERBS)}: midwatch watchdog start --session project")
    verb = options.names[0]
    if odd := [flag for flag, whose in ONLY_FOR.items() if whose != verb and options.flag(flag)]:
        raise UsageError(f"{odd[0]} is for `midwatch watchdog {ONLY_FOR[odd[0]]}`")
    if verb == "run":
        from midwatch.swarm.watchdog_process import run_watchdog

        wanted = parse_request(options)
        if not wanted.dry:
            _link_log(options)
        return run_watchdog(wanted, log_path(options))
    from midwatch.cli.commands import watchdog_window

    base = watchdog_store.base_path(session_name(options), tmux_client.socket_path(parse_server(options)))
    if verb == "start":
        watchdog_window.start(parse_request(options), log_path(options), base, force=options.flag("--force"))
        _link_log(options)
        return 0
    if verb == "stop":
        return watchdog_window.stop(session_name(options), base, as_json=options.flag("--json"))
    return watchdog_window.status(session_name(options), base, as_json=options.flag("--json"))


def parse_request(options: Options) -> WatchdogRequest:
    from midwatch.swarm.controller_session import compile_title
    from midwatch.swarm.watchdog import WatchdogRequest

    project = os.path.abspath(options.text("--project-dir") or os.getcwd())
    if not os.path.isdir(project):
        raise UsageError(f"--project-dir {project} is no directory")
    title = options.text("--controller-title-regex") or TITLE
    compile_title(title)
    beads = tuple([bead.strip() for bead in (options.text("--beads") or "").split(",") if bead.strip()])
    epic = options.text("--epic") or ""
    for flag, given in (("--epic", epic), *[("--beads", bead) for bead in beads]):
        if given and not is_id(given):
            raise UsageError(f"{flag} {given!r} {NO_ID}")
    found = WatchdogRequest(
        session_name(options), project, title, epic, beads, _parse_rules(options, load.load(project)),
        parse_server(options), options.flag("--once"), options.flag("--dry-run"),
    )  # fmt: skip
    if found.rules.exit_mode != CONFIRM and not found.epic:
        raise UsageError("--exit-mode auto ends with the epic; name it with --epic")
    return found


def _parse_rules(options: Options, given: Settings) -> WakeRules:
    interval = options.seconds("--interval-seconds")
    if interval is not None and interval < SHORTEST:
        raise UsageError(f"--interval-seconds is at least {SHORTEST:g}")
    return WakeRules(
        interval or USUAL, options.choice("--exit-mode", EXIT_MODES) or CONFIRM, ceiling=given.watchdog_ceiling
    )


def session_name(options: Options) -> str:
    """The one that is named. Whoever leads others should not be taken for another by where this was typed."""
    name = (options.text("--session") or "").removeprefix("=")
    if not name:
        raise UsageError("--session names the tmux session that is watched: --session project")
    return name


def parse_server(options: Options) -> tuple[str, ...]:
    name, path = options.text("-L"), options.text("-S")
    if name and path:
        raise UsageError("-L and -S both name a tmux server; give one")
    return ("-S", os.path.abspath(path)) if path else server_arguments(name)


def log_path(options: Options) -> str:
    given = options.text("--log-file")
    return os.path.abspath(given) if given else watchdog_store.default_log_path(session_name(options))


def _link_log(options: Options) -> None:
    """Let the default log be found where the original of the watchdog has it; why not, if that cannot be."""
    if not options.text("--log-file") and (trouble := watchdog_store.link_default_log(session_name(options))):
        output.print_remark(trouble)
