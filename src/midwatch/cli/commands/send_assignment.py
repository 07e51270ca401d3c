"""What `send --task` appends to a text: how the worker in that pane hands its task over, with all names filled in."""

from __future__ import annotations

import os

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths, trust
from midwatch.core.errors import RefusedError
from midwatch.sessions.find_agent import FoundAgent
from midwatch.swarm import handoff
from midwatch.swarm.codec import assignment_text
from midwatch.tmux import client as tmux_client
from midwatch.tmux import pane_location
from midwatch.tmux.pane_location import PaneLocation


def append_report_lines(options: Options, there: FoundAgent, text: str) -> str:
    """The text for a worker; as it is, where no --task is given."""
    if (given := options.text("--task")) is None:
        return text
    task = assignment_text.check_task(given)
    where = pane_location.find_location(there.server, there.id)
    if where is None:
        raise RefusedError(f"the tmux server does not tell where {there.id} is; nothing was typed")
    plain = tmux_client.socket_path(("-L", "default"))
    about = assignment_text.Assignment(
        task, _find_controller(there, where), where.own.session, there.id,
        () if _is_same(where.socket, plain) else ("-S", where.socket), _mail_directory(options, where.own.path),
    )  # fmt: skip
    return text + assignment_text.format_instructions(about, _report_command(options))


def _report_command(options: Options) -> str:
    """Somebody's own, unless a project's file gives it that is not trusted: the worker would run it."""
    found = context.read_settings(options).handoff
    if found is None:
        return ""
    if problem := trust.find_problem(found.source.rpartition(":")[0]):
        output.print_warning(f"{problem}; until then its [handoff] command does not count")
        return ""
    return found.words


def _find_controller(there: FoundAgent, where: PaneLocation) -> str:
    """$MIDWATCH_CONTROLLER, else the agent that gives this to the worker, else whoever the worker would find."""
    if told := os.environ.get("MIDWATCH_CONTROLLER"):
        return told
    us = pane_location.own_location()
    beside = us is not None and _is_same(us.socket, where.socket) and us.own.pane != where.own.pane
    if us is not None and beside and there.has_agent(us.own.pane):
        return us.own.pane
    found = handoff.find_controller(where)
    if found.trouble:
        output.print_warning(f"{found.trouble}; without, its report only goes to mail")
    return found.target


def _mail_directory(options: Options, path: str) -> str:
    """Where the mail is, if the worker would not find it from where it is."""
    given = options.text("--dir")
    meant = paths.sentinel_directory(given, paths.main_worktree(os.getcwd()))
    if given or os.environ.get("MIDWATCH_HOME"):
        return meant  # what stands in the worker's environment nobody knows
    return "" if meant == paths.sentinel_directory(start=paths.main_worktree(path)) else meant


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
