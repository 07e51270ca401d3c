"""A notice in words: one line, without keys, without anything that is not plain text.

What is told may come from a screen or a log, so from anyone.
"""

from __future__ import annotations

from midwatch.core.causes import WAITS_FOR
from midwatch.core.plain_text import LONGEST, clean_reason, make_plain
from midwatch.notifications.model import Change


def template_fields(change: Change) -> dict[str, str]:
    """What a template may use, each on one line and of a bounded length."""
    found = {
        "text": format_message(change), "name": change.name, "state": change.state,
        "reason": clean_reason(change.reason),
        "cause": change.cause, "attach": change.about.attach, "agent": change.about.agent,
        "pane": change.about.pane, "next": change.following,
    }  # fmt: skip
    return {name: make_plain(value) for name, value in found.items()}


def format_message(change: Change) -> str:
    """All of it in one line.

    ``build failed: exit 2 after 41s (next: escalate)``
    ``api waits for a permission: approve Write: notes.md (claude in work, %3) · tmux attach -t =api``
    """
    about, reason = change.about, clean_reason(change.reason)
    if not about.agent:
        return make_plain(f"{change.name} {change.state}: {reason} (next: {change.following})", LONGEST)
    place = f"{about.agent} in {about.where}" if about.where else about.agent
    where = f"({place}, {about.pane})" if about.pane else f"({place})"
    what = f"{change.state}: {reason}"
    if change.state == "waiting" and change.cause in WAITS_FOR:
        asked = clean_reason(change.message)
        what = f"waits for {WAITS_FOR[change.cause]}{f': {asked}' if asked else ''}"
    elif change.state == "limited":
        what = f"hit a limit{f', until {change.until}' if change.until else ''}"
    there = f" · {about.attach}" if about.attach else ""
    return make_plain(f"{about.session or change.name} {what} {where}{there}", LONGEST)
