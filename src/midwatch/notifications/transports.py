"""Delivering a notice: through a command of the user's, or through a service that Apprise knows.

Both are processes of their own, in their own session, for so long and no longer: a plugin that hangs or crashes is
ended like any command. What a command leaves running when it ends by itself is not touched.
"""

from __future__ import annotations

import json
import re
import sys
from urllib.parse import unquote

from midwatch.config.codec import command_template
from midwatch.config.model import Channel
from midwatch.core.notification_kinds import CONTINUES, DIGEST
from midwatch.core.plain_text import make_plain
from midwatch.core.redaction import HIDDEN, Redactor
from midwatch.core.text import format_duration, signal_name
from midwatch.core.value import Value
from midwatch.jobs import launch
from midwatch.system import run_program
from midwatch.system.run_program import OutputCap, RunLimits

WORKER = "midwatch.notifications.apprise_worker"
APPRISE = f"import sys; sys.path.insert(0, sys.argv.pop(1)); from {WORKER} import main; sys.exit(main())"
MERCY = 1.0
"""Seconds between asking a command to end and ending it."""
KEPT = 4096
"""Bytes of its output that are kept, from the end."""
LONGEST = 200
PARTS = re.compile(r"[/:@?&=#,;]+")
SECRET = 6
"""Characters from which on a part of a URL is hidden where it turns up in an error."""
TYPES = {"completed": "success", "stopped": "info", "waiting": "warning", "limited": "warning", "stuck": "warning",
         CONTINUES: "info", DIGEST: "warning"}  # fmt: skip
"""How services colour a notice; all else is a failure."""


class DeliveryAttempt(Value):
    ok: bool
    why: str = ""
    """What went wrong, in words, without secrets."""


def format_channel(channel: Channel) -> str:
    """A channel as it may be shown: no more of a URL than its scheme."""
    if channel.kind == "url":
        return channel.target[0].partition("://")[0] + "://…"
    return f"command {channel.target[0]}"


def send_notification(channel: Channel, fields: dict[str, str], cwd: str, limit: float) -> DeliveryAttempt:
    """Deliver one notice, in ``limit`` seconds or not at all."""
    if channel.kind == "command":
        return _run_command(channel.target[0], command_template.fill_template(channel.target, fields), b"", cwd, limit)
    url = channel.target[0]
    said = {
        "url": url, "title": f"midwatch: {fields['name']} {fields['state']}",
        "body": fields.get("lines") or fields["text"],
        "type": TYPES.get(fields["state"], "failure"),
    }  # fmt: skip
    # On its standard input: whoever lists processes sees no secret. With -P nothing is imported from a project.
    done = _run_command(
        "Apprise", [sys.executable, "-P", "-c", APPRISE, launch.ROOT], json.dumps(said).encode(), cwd, limit
    )
    return done._replace(why=_hide_url(done.why.removeprefix("Apprise ended with 1: "), url))


def _hide_url(why: str, url: str) -> str:
    """What went wrong, without any part of the URL, as it is written there or as it is sent."""
    parts = PARTS.split(url.partition("://")[2])
    for part in sorted({*parts, *map(unquote, parts)}, key=len, reverse=True):
        why = why.replace(part, HIDDEN) if len(part) >= SECRET else why
    return why


def _run_command(who: str, command: list[str], data: bytes, cwd: str, limit: float) -> DeliveryAttempt:
    try:
        done = run_program.run_program(command, RunLimits(limit, OutputCap(KEPT), mercy=MERCY), cwd=cwd, data=data)
    except OSError as error:
        return DeliveryAttempt(ok=False, why=f"{who} cannot be run: {error.strerror}")
    if not done.ended:
        return DeliveryAttempt(ok=False, why=f"{who} took longer than {format_duration(limit)} and was ended")
    if done.code == 0:
        return DeliveryAttempt(ok=True)
    lines = done.output.decode("utf-8", "replace").strip().splitlines()
    last = make_plain(Redactor(()).clean(lines[-1]), LONGEST).rstrip(" .") if lines else ""
    how = f"was killed by {signal_name(-done.code)}" if done.code < 0 else f"ended with {done.code}"
    return DeliveryAttempt(ok=False, why=f"{who} {how}{f': {last}' if last else ''}")
