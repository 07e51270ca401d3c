"""Delivering a notice: through a command of the user's, or through a service that Apprise knows.

Both are processes of their own, in their own session, for so long and no longer: a plugin that hangs or crashes is
ended like any command. What a command leaves running when it ends by itself is not touched.
"""

from __future__ import annotations

import json
import os
import re
import sys
from urllib.parse import unquote

from midwatch.config.codec import command_template
from midwatch.config.model import Channel
from midwatch.core.plain_text import plain
from midwatch.core.redaction import HIDDEN, Redactor
from midwatch.core.text import in_words, signal_name
from midwatch.core.value import Value
from midwatch.system import run_program
from midwatch.system.run_program import OutputCap, RunLimits

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
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
TYPES = {"completed": "success", "stopped": "info", "waiting": "warning", "limited": "warning", "stuck": "warning"}
"""How services colour a notice; all else is a failure."""


class Delivered(Value):
    ok: bool
    why: str = ""
    """What went wrong, in words, without secrets."""


def called(channel: Channel) -> str:
    """A channel as it may be shown: no more of a URL than its scheme."""
    if channel.kind == "url":
        return channel.target[0].partition("://")[0] + "://…"
    return f"command {channel.target[0]}"


def send(channel: Channel, fields: dict[str, str], cwd: str, limit: float) -> Delivered:
    """Deliver one notice, in ``limit`` seconds or not at all."""
    if channel.kind == "command":
        return _run(channel.target[0], command_template.fill(channel.target, fields), b"", cwd, limit)
    url = channel.target[0]
    said = {
        "url": url, "title": f"midwatch: {fields['name']} {fields['state']}", "body": fields["text"],
        "type": TYPES.get(fields["state"], "failure"),
    }  # fmt: skip
    # On its standard input: whoever lists processes sees no secret. With -P nothing is imported from a project.
    done = _run("Apprise", [sys.executable, "-P", "-c", APPRISE, ROOT], json.dumps(said).encode(), cwd, limit)
    return done._replace(why=_hidden(done.why.removeprefix("Apprise ended with 1: "), url))


def _hidden(why: str, url: str) -> str:
    """What went wrong, without any part of the URL, as it is written there or as it is sent."""
    parts = PARTS.split(url.partition("://")[2])
    for part in sorted({*parts, *map(unquote, parts)}, key=len, reverse=True):
        why = why.replace(part, HIDDEN) if len(part) >= SECRET else why
    return why


def _run(who: str, command: list[str], data: bytes, cwd: str, limit: float) -> Delivered:
    try:
        done = run_program.run(command, RunLimits(limit, OutputCap(KEPT), mercy=MERCY), cwd=cwd, data=data)
    except OSError as error:
        return Delivered(ok=False, why=f"{who} cannot be run: {error.strerror}")
    if not done.ended:
        return Delivered(ok=False, why=f"{who} took longer than {in_words(limit)} and was ended")
    if done.code == 0:
        return Delivered(ok=True)
    lines = done.output.decode("utf-8", "replace").strip().splitlines()
    last = plain(Redactor(()).clean(lines[-1]), LONGEST).rstrip(" .") if lines else ""
    how = f"was killed by {signal_name(-done.code)}" if done.code < 0 else f"ended with {done.code}"
    return Delivered(ok=False, why=f"{who} {how}{f': {last}' if last else ''}")
