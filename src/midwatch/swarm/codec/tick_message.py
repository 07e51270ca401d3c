"""What the watchdog says to a controller: a template with the state filled in, between marks that nobody else uses.

A project may have a template of its own (`[watchdog] prompt = "file"`). It must name {marker} and {state}; what else
may stand in braces is told below. What comes from a tracker, a pane or a mail stays on its line and cannot end the
message (`prompt_text`).
"""

from __future__ import annotations

import re

from midwatch.core import prompt_text
from midwatch.core.errors import FormatError
from midwatch.swarm.model import WorkState

BEGIN, END = "<<<WATCHDOG TICK>>>", "<<<END WATCHDOG TICK>>>"
CLOSED, END_CLOSED = "<<<WATCHDOG EPIC CLOSED>>>", "<<<END WATCHDOG EPIC CLOSED>>>"
NAMES = ("marker", "session", "epic", "state", "quality", "ready", "send", "handoff", "inbox", "stop")
_NAME = re.compile("{(" + "|".join(NAMES) + ")}")
NONE = "none"
LONGEST = 60
"""Ids of one kind that are listed."""
TICK = f"""{BEGIN}
{{marker}}
You coordinate the agents of the tmux session {{session}}. This comes from a program that looks at the tracker and at
the panes; nobody waits for an answer. What the panes and the tracker show counts, not what you remember.

{{state}}

Do now, in this order:
1. Look at every worker in all windows of the session: who is idle, stuck, at a dialog, at a limit, gone?
   `{{ready}}` tells.
2. Give each ready task to a worker that is confirmed ready, one at a time: `{{send}}`
   adds the report that is expected and the exact hand-over line (`{{handoff}}`).
3. Where a worker is blocked, find out why and unblock it, or give it review work meanwhile.
4. Quality loops: `{{quality}}` makes the companions that are missing. For each that is due have the three loops done
   (self-review, cross-review, random exploration), each by mail with its findings, or "none" said.
5. A ping is only a notice; read the mail behind it before you close anything (`{{inbox}}`).
6. Close tasks whose reports you have read and found good, and companions whose findings are recorded.
7. Say in one line what you have done. If nothing is to be done, say so and stop.
{{marker}}
{END}"""
OVER = f"""{CLOSED}
{{marker}}
The epic {{epic}} of the session {{session}} is closed. This asks for something to be done, it is no mere notice.

{{state}}

1. Verify that the work is complete: no follow-up is open, no quality loop is due, no report is unread, nobody works on.
2. If something is left, open it again or make a task of it.
3. If all is done, stop this watchdog: `{{stop}}`
{{marker}}
{END_CLOSED}"""


def check_template(template: str) -> str:
    """A project's own template, or FormatError."""
    for name in ("marker", "state"):
        if f"{{{name}}}" not in template:
            raise FormatError(f"a prompt of the watchdog must name {{{name}}}")
    return template


def fill_template(template: str, values: dict[str, str]) -> str:
    """Fill in names that we know; other braces are the template's own, or those of whoever named a task."""
    return _NAME.sub(lambda found: values.get(found[1], ""), template)


def format_state(found: WorkState) -> str:
    """The state in lines that a program could read, too."""
    rows = {
        "ready": format_ids(found.ready), "in_progress": format_ids(found.in_progress),
        "blocked": format_ids(found.blocked),
        "quality_loops_due": format_ids(found.quality), "workers": join_words(found.crew),
        "unread_reports": join_words(found.mail),
    }  # fmt: skip
    lines = [f"- {name}: {each}" for name, each in rows.items()]
    if found.trouble:
        why = prompt_text.quote_title(found.trouble, prompt_text.LONGEST)
        lines.append(f"- tracker: could not be read in full, so the tasks may be others by now: {why}")
    return "\n".join(["State:", *lines])


def mark_prefix(session: str) -> str:
    """How every mark of a session's watchdog begins, by which its messages are known."""
    return f"watchdog:{prompt_text.make_prompt_safe(session).replace(' ', '_')}:"


def format_ids(given: tuple[str, ...]) -> str:
    """Ids of tasks on one line."""
    return _join_shortened([prompt_text.format_id(each) for each in given[:LONGEST]], len(given))


def join_words(words: tuple[str, ...]) -> str:
    """Words of others on one line, without anything that could pass for a mark of ours."""
    return _join_shortened([prompt_text.make_prompt_safe(word) for word in words[:LONGEST]], len(words))


def _join_shortened(shown: list[str], count: int) -> str:
    more = [f"and {count - LONGEST} more"] if count > LONGEST else []
    return ", ".join(shown + more) or NONE
