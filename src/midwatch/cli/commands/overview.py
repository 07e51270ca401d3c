"""`midwatch` alone, on a terminal: what `ls` shows, the agents in panes in a word, and the next useful commands."""

from __future__ import annotations

import os

from midwatch.cli import output
from midwatch.cli.commands import ls
from midwatch.cli.parser import Options, parse
from midwatch.config import paths
from midwatch.core.errors import MidwatchError
from midwatch.core.foreign_text import escape_text
from midwatch.core.verdict import Verdict

ENDED = 5
"""Jobs that have ended which are shown here; `ls` shows all."""
COLUMN = 30


def main(options: Options) -> int:  # noqa: ARG001  # it takes none
    listed = parse("ls", [])
    remarks: list[str] = []
    listing = ls.JobListing(listed, remarks.append)
    try:
        rows = [row for _, found in listing.read() for row in ls.table_rows(found)]
    finally:
        listing.close()
    live = [verdict for verdict in rows if not verdict.final]
    over = rows[len(live) :]
    project = os.path.basename(paths.project_root(paths.current_directory()))
    print(f"{escape_text(project)}: {_count_jobs(live, over)}")
    if rows:
        print(output.format_table([*live, *over[:ENDED]]))
    if len(over) > ENDED:
        print(f"and {len(over) - ENDED} more that have ended; `midwatch ls` shows all")
    agents = _count_agents(listed, rows)
    if agents:
        print(f"\n{agents}")
    columns = os.get_terminal_size(1).columns  # whoever calls this has looked whether it is one
    print("\nNext:")
    for command, says in suggest_commands(rows, agents=bool(agents)):
        row = f"  {command:<{COLUMN}}  {says}"
        print(row if len(row) <= columns else f"  {command}")
    for remark in dict.fromkeys(remarks):
        output.print_warning(remark)
    return 0


def _count_jobs(live: list[Verdict], over: list[Verdict]) -> str:
    if not live and not over:
        return "no jobs here yet"
    waiting = sum(verdict.state in ls.NEEDS_A_PERSON for verdict in live)
    counts = (
        (waiting, "needs you" if waiting == 1 else "need you"),
        (len(live) - waiting, "at work"),
        (len(over), "ended"),
    )
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _count_agents(options: Options, rows: list[Verdict]) -> str:
    """Agents in panes of this tmux server that are no sessions of this project, by their states."""
    from midwatch.tmux import client as tmux_client

    if not tmux_client.is_socket(tmux_client.socket_path(())):
        return ""
    try:
        found, unknown = ls.read_panes(options, lambda _: None)
    except MidwatchError as error:
        return f"agents in tmux panes: not known ({error})"
    states = [verdict.state for verdict in found]
    if not states:
        return "agents in tmux panes: not known; `midwatch ls --panes` says why" if unknown else ""
    ours = sum(verdict.kind == "session" and not verdict.final for verdict in rows)
    order = sorted(set(states), key=lambda state: (state not in ls.NEEDS_A_PERSON, state))
    told = ", ".join(f"{states.count(state)} {state}" for state in order)
    which = f", {ours} of them above" if ours else ""
    return f"{len(states)} agent{'s' if len(states) > 1 else ''} in tmux panes{which}: {told}"


def suggest_commands(rows: list[Verdict], *, agents: bool) -> list[tuple[str, str]]:
    """What a person is likely to want next, by what is there."""
    found: list[tuple[str, str]] = []
    live = [verdict for verdict in rows if not verdict.final]
    needs = [verdict for verdict in live if verdict.state in ls.NEEDS_A_PERSON]
    if needs:
        first = needs[0]
        if first.kind == "session":
            found.append((f"midwatch attach {first.name}", "go there and answer"))
        found.append((f"midwatch why {first.name}", f"why it is {first.state}"))
    elif live:
        first = live[0]
        reach = ("attach", "look at it") if first.kind == "session" else ("logs -f", "follow what it prints")
        found.append((f"midwatch {reach[0]} {first.name}", reach[1]))
        found.append((f"midwatch wait {first.name}", "wait until it has ended"))
    failed = next((verdict for verdict in rows if verdict.final and verdict.state != "completed"), None)
    if failed is not None:
        found.append((f"midwatch logs -n 50 {failed.name}", "what it printed"))
    if live:
        found.append(("midwatch ls --watch", "stay and see each change"))
    if agents:
        found.append(("midwatch ls --panes", "each agent in a pane"))
    if not live:
        found.append(("midwatch run -d -- CMD", "start a command and go on"))
        found.append(("midwatch spawn NAME --agent A", "start a coding agent in tmux"))
    if any(verdict.final for verdict in rows):
        found.append(("midwatch clean --dry-run", "what could be removed"))
    if not rows:
        found.append(("midwatch demo", "see it work, in 20 seconds"))
    return [*found, ("midwatch --help", "all commands")]
