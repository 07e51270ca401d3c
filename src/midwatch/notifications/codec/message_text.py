"""A notice in words: one line, without keys, without anything that is not plain text.

What is told may come from a screen or a log, so from anyone. A line says which session, what, why, since when, and how
to get there. For how long it has been so is reckoned when the line is sent.
"""

from __future__ import annotations

from midwatch.core.causes import WAITS_FOR
from midwatch.core.notification_kinds import CONTINUES, DIGEST
from midwatch.core.plain_text import LONGEST, clean_reason, make_plain
from midwatch.core.text import FEW, format_duration
from midwatch.notifications.model import Change, Notification, NotificationState

TIMED = ("waiting", "limited")
"""States of which it is always said how long they have lasted."""
LATE = 60.0
"""Seconds after which of everything else it is said how long ago it was."""
LINE = 160
"""Characters of a line of a digest."""
LOOK = "`midwatch ls` and `midwatch events` show them all"


def template_fields(change: Change, before: NotificationState | None = None) -> dict[str, str]:
    """What a template may use, each on one line and of a bounded length, and what its text is made of.

    ``before``: what work continues after.
    """
    about = change.about
    continues = change.state == "working" and before is not None
    place = f"{about.agent} in {about.where}" if about.agent and about.where else about.agent
    found = {
        "name": change.name, "state": CONTINUES if continues else change.state, "reason": clean_reason(change.reason),
        "cause": change.cause, "attach": about.attach, "agent": about.agent, "pane": about.pane,
        "next": change.following, "who": about.session or change.name,
        "what": _format_continuation(before, change) if continues and before else _format_event(change),
        "place": "" if about.ours else f"{place}, {about.pane}" if about.pane and place else place,
        "final": "yes" if change.final else "", "planned": "yes" if change.planned else "",
    }  # fmt: skip
    plain = {name: make_plain(value) for name, value in found.items()}
    return {"text": _join_text(plain), **plain}


def delivered_fields(notice: Notification, now: float) -> dict[str, str]:
    """The fields as they are sent now. Those of earlier releases, and of drifts, are sent as they are."""
    fields = notice.fields
    if "what" not in fields:
        return {**fields, "kind": notice.kind}
    lasted = max(0.0, now - (notice.began or notice.filed))
    since = format_duration(float(int(lasted)))
    if fields["state"] not in TIMED:
        since = f"{since} ago" if lasted >= LATE and fields["state"] != "stuck" else ""
    still = "still " if notice.kind == "reminder" else ""
    return {**fields, "kind": notice.kind, "since": since, "text": _join_text(fields, since, still)}


def digest_fields(lines: list[str], why: str) -> dict[str, str]:
    """One message for several notifications, of which each is a line."""
    many = f"{len(lines)} notifications{f' {why}' if why else ''}"
    shown = [make_plain(line, LINE) for line in lines[:FEW]]
    more = [f"and {len(lines) - FEW} more: {LOOK}"] if len(lines) > FEW else []
    short = max(20, (LONGEST - len(many) - 40) // max(1, len(shown)) - 2)
    text = f"{many}: {'; '.join(make_plain(line, short) for line in shown)}"
    return {
        "text": make_plain(f"{text}; and {len(lines) - FEW} more" if more else text), "name": "midwatch",
        "state": DIGEST, "reason": many, "cause": "", "agent": "", "pane": "", "attach": "", "next": "investigate",
        "lines": "\n".join([f"{many}:", *shown, *more]),
    }  # fmt: skip


def _join_text(fields: dict[str, str], since: str = "", still: str = "") -> str:
    """``api waits for a permission: approve Write: notes.md (12s) · midwatch attach api``

    ``main waits for an answer (claude in shop, %3, 12s) · tmux attach -t =main``
    ``build failed: exit 2 after 41s (next: escalate)``
    """
    following = "" if fields["agent"] else f"next: {fields['next']}"
    marks = ", ".join(filter(None, (fields["place"], following, since)))
    there = f" · {fields['attach']}" if fields["attach"] else ""
    tail = f"{f' ({marks})' if marks else ''}{there}"
    room = max(0, LONGEST - len(tail))
    return make_plain(make_plain(f"{fields['who']} {still}{fields['what']}", room) + tail)


def _format_event(change: Change) -> str:
    reason = clean_reason(change.reason)
    if not change.about.agent:
        return f"{change.state}: {reason}"
    if change.state == "waiting" and change.cause in WAITS_FOR:
        asked = clean_reason(change.message)
        return f"waits for {WAITS_FOR[change.cause]}{f': {asked}' if asked else ''}"
    if change.state == "limited":
        until = f", until {change.until}" if change.until else ""
        return f"hit a limit{until}{'; it continues then' if change.planned else ''}"
    return f"{change.state}: {reason}"


def _format_continuation(before: NotificationState, change: Change) -> str:
    lasted = f"{format_duration(float(int(max(0.0, change.wall - before.began))))}" if before.began else ""
    if before.state == "limited":
        return f"continues after a limit{f' of {lasted}' if lasted else ''}"
    what = f" for {WAITS_FOR[before.cause]}" if before.cause in WAITS_FOR else ""
    return f"continues after it waited{f' {lasted}' if lasted else ''}{what}"
