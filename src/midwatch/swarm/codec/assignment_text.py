"""The words with which work is given to a worker, and with which the worker tells that it is done.

The ping is one line between marks that nobody else uses; it is only a notice, what counts is the mail. What is filled
into a command is quoted for a shell, so that it can be pasted as it stands.
"""

from __future__ import annotations

import re
import shlex

from midwatch.core import prompt_text
from midwatch.core.errors import UsageError
from midwatch.core.task_ids import NO_ID, is_id
from midwatch.core.value import Value

BEGIN, END = "<<<CHECK MAIL>>>", "<<<END CHECK MAIL>>>"
LONGEST = 200
"""Characters of a status."""
FIELD = re.compile(r"\{(task|controller|session|pane)\}")
REPORT = "END_OF_REPORT"
LINES = """

This is task {task}. When it is done, or when you cannot go on, hand it over with this command of the shell, once; put
a status of a few words and your report into it (what you did, how it was checked, what is left):

{command}

It puts the report into the mail of whoever gave you this, and pings them. Do not tell of it in another way."""
GIVEN = """

This is task {task}. When it is done, or when you cannot go on, hand it over with this command, once:

{command}"""


class Assignment(Value):
    """Who gives what to whom; empty where that is not known."""

    task: str
    controller: str
    """The pane that is pinged."""
    session: str
    pane: str
    """The worker's."""
    server: tuple[str, ...] = ()
    """As tmux takes it; empty for the default server."""
    directory: str = ""
    """Where the mail is, if the worker would look elsewhere."""


def format_ping(who: str, task: str, status: str) -> str:
    return " ".join([
        BEGIN, prompt_text.make_prompt_safe(who), prompt_text.format_id(task),
        prompt_text.make_prompt_safe(status, LONGEST), END,
    ])  # fmt: skip


def clean_status(given: str) -> str:
    """A status as it is told: one line, in which nothing passes for a mark of ours. UsageError for none."""
    found = prompt_text.make_prompt_safe(given, 2 * len(given) + 1)
    if not found:
        raise UsageError("--status must say in a few words how it stands: done, blocked, needs a decision …")
    if len(found) > LONGEST:
        raise UsageError(f"--status has {len(found)} characters; {LONGEST} are enough, the rest belongs into --report")
    return found


def check_task(given: str) -> str:
    """The id of a task as it is told."""
    if not is_id(given):
        raise UsageError(f"--task {given[:LONGEST]!r} {NO_ID}")
    return given


def format_instructions(about: Assignment, command: str = "") -> str:
    """What is appended to the words for a worker: how to report, all names filled in. `command`: a project's own.

    UsageError for a name or a path that cannot be typed as it is: the worker would run another command.
    """
    for word in (about.controller, about.session, about.pane, *about.server, about.directory):
        if not prompt_text.is_plain(word):
            odd = "which cannot stand in a prompt (a line break, << or >>, an invisible one)"
            raise UsageError(f"{prompt_text.quote_title(word)} holds a character {odd}; rename it")
    own = check_task(about.task)
    if not command:
        return LINES.format(task=own, command=_default_command(about))
    values = about._asdict()
    filled = FIELD.sub(lambda found: shlex.quote(str(values[found[1]])), command)
    return GIVEN.format(task=own, command=filled)


def _default_command(about: Assignment) -> str:
    words = ["midwatch", "handoff", *about.server, "--task", about.task]
    words += ["--controller", about.controller] if about.controller else []
    words += ["--dir", about.directory] if about.directory else []
    return f"{shlex.join(words)} --status '<short status>' --report - <<'{REPORT}'\n<report>\n{REPORT}"
