"""`midwatch session`: the list of agent sessions, for its owner: begin, end and bring back what stands in it."""

from __future__ import annotations

import os

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.core.text import first_few, visible
from midwatch.jobs.job_directory import JobDirectory
from midwatch.registry import reconcile
from midwatch.registry import store as registry_store
from midwatch.registry.model import INVALID, Drift, RegistryRow
from midwatch.registry.sessions import RegisteredSessions, UnregisteredError
from midwatch.tmux.sessions import server_arguments

SCHEMA = 1
EVERYWHERE = ("--registry", "--dir", "--json")
TAKES = {
    "create": ("--agent", "--cwd", "--prompt", "--prompt-file", "--verbatim", "--model", "--verify", "--socket"),
    "resume": ("--prompt", "--prompt-file", "--verbatim", "--socket"),
    "stop": ("--capture-id", "--reason", "--graceful", "--purge-conversation", "--yes", "--socket"),
    "status": ("--socket",),
    "list": (),
    "delegate": ("--prompt", "--prompt-file", "--verbatim", "--verify", "--timeout", "--socket"),
    "restore": ("--dry-run", "--socket"),
}
COLOURS = {"running": "36", "stopped": "2", "terminated": "31", "archived": "2", INVALID: "31"}
UNKNOWN = EXIT_CODES["unknown"]


def main(options: Options) -> int:
    what = options.names[0] if options.names else ""
    if what not in TAKES:
        raise UsageError(f"session takes one of {', '.join(TAKES)}{f', not {what!r}' if what else ''}")
    for flag in options.values:
        if flag not in (*EVERYWHERE, *TAKES[what]):
            raise UsageError(f"session {what} has no option {flag}")
    if options.command is not None and what != "create":
        raise UsageError(f"session {what} takes no arguments for an agent")
    inner = Options(f"session {what}")
    inner.values, inner.names, inner.command = options.values, options.names[1:], options.command
    try:
        return _run_subcommand(what, inner)
    except UnregisteredError as error:
        output.print_remark(str(error))
        return EXIT_CODES["not_found"]


def _run_subcommand(what: str, options: Options) -> int:
    match what:
        case "list" | "status":
            return _print_sessions(options, look=what == "status")
        case "restore":
            from midwatch.cli.commands import session_restore

            return session_restore.restore(options)
        case "create" | "resume":
            from midwatch.cli.commands import session_create

            return int(getattr(session_create, what)(options))
        case "stop":
            from midwatch.cli.commands import session_stop

            return session_stop.stop(options)
        case _:
            from midwatch.cli.commands import session_delegate

            return session_delegate.delegate(options)


# What all of them need ----------------------------------------------------------------------------------------------


def open_registry(options: Options, path: str = "") -> RegisteredSessions:
    """The list that is meant; sessions of ours have their records where its workspace has them."""
    path = path or registry_store.find_registry(options.text("--registry"), os.getcwd())
    directory = paths.sentinel_directory(options.text("--dir"), registry_store.registry_workspace(path))
    return RegisteredSessions(
        path, JobDirectory(directory, context.lazy_policy(options)), server_arguments(options.text("--socket"))
    )


def parse_name(options: Options) -> str:
    if len(options.names) != 1:
        raise UsageError(f"{options.verb} needs the NAME of one session; `midwatch session list` lists them")
    return options.names[0]


def print_row(row: RegistryRow, said: str, *, json: bool, **more: object) -> None:
    """What was done to a row."""
    print(as_json(row, **more) if json else f"{visible(row.name)}: {said}", flush=True)


def as_json(row: RegistryRow, **more: object) -> str:
    found = {
        "schema": SCHEMA, "name": row.name, "status": row.status, "agent": row.agent or None,
        "pane": row.pane.id or None, "pid": row.pane.pid or None, "cwd": row.pane.cwd or None,
        "socket": row.server[1] if row.server else None, "conversation": row.conversation or None,
        "resumable": row.resumable, "last_visible_status": row.seen_status or None, **more,
    }  # fmt: skip
    return dump(found)


# The table ----------------------------------------------------------------------------------------------------------


def _print_sessions(options: Options, *, look: bool) -> int:
    if len(options.names) > (1 if look else 0):
        raise UsageError(f"{options.verb} takes {'one NAME at most' if look else 'no names'}")
    path = registry_store.find_registry(options.text("--registry"), os.getcwd())
    wanted = options.names[0] if options.names else ""
    drifts: tuple[Drift, ...] = ()
    trouble = ""
    if look:
        found, drifts, trouble = reconcile.find_drifts(path, server_arguments(options.text("--socket")))
    else:
        found = registry_store.RegistryFile(path).read()
    rows = [row for row in found.rows if wanted in ("", row.name)]
    if wanted and not rows:
        raise UnregisteredError(f"there is no session {wanted} in {path}; `midwatch session list` lists them")
    if options.flag("--json"):
        _print_lines(rows, drifts if look else None)
    else:
        _print_table(rows, [drift for drift in drifts if wanted in ("", drift.session)] if look else None)
    if trouble:
        output.print_remark(f"{trouble}; what is there cannot be told of all")
    problems = [row.problem for row in rows if row.problem]
    for problem in first_few([f"{problem}; mend that row" for problem in problems], "rows to mend"):
        output.print_remark(problem)
    return UNKNOWN if trouble or problems else 0


def _print_lines(rows: list[RegistryRow], drifts: tuple[Drift, ...] | None) -> None:
    for row in rows:
        more = (
            {} if drifts is None else {"drift": [_json_fields(drift) for drift in drifts if drift.session == row.name]}
        )
        print(as_json(row, **more))


def _json_fields(drift: Drift) -> dict[str, object]:
    return {"class": drift.kind, "message": drift.message}


def _print_table(rows: list[RegistryRow], drifts: list[Drift] | None) -> None:
    titles = ["NAME", "STATUS", "AGENT", "PANE", "ID", *([] if drifts is None else ["DRIFT"])]
    lines = [titles]
    for row in rows:
        kinds = dict.fromkeys(drift.kind for drift in drifts or () if drift.session == row.name)
        cells = [row.name, row.status, row.agent, row.pane.id or str(row.pane.pid or ""), row.conversation]
        lines.append([visible(cell) or "-" for cell in cells] + ([] if drifts is None else [",".join(kinds) or "-"]))
    widths = [max(len(line[at]) for line in lines) for at in range(len(titles))]
    for number, line in enumerate(lines):
        cells = [f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)]
        if number and output.uses_colour(1):
            cells[1] = f"\033[{COLOURS[line[1]]}m{cells[1]}\033[0m"
        print("  ".join(cells).rstrip())
    for drift in drifts or ():
        print(f"{drift.kind}: {visible(drift.message)}")
