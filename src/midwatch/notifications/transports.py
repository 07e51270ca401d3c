"""Delivering a notice: through a command of the user's, or through a service that Apprise knows.

Both are processes of their own, in their own session, for so long and no longer: a plugin that hangs or crashes is
ended like any command. What a command leaves running when it ends by itself is not touched.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import unquote

from midwatch.config.codec import command_template
from midwatch.config.model import Channel
from midwatch.core.plain_text import plain
from midwatch.core.redaction import HIDDEN, Redactor
from midwatch.core.text import in_words, signal_name
from midwatch.core.value import Value
from midwatch.system.child_environment import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORKER = "midwatch.notifications.apprise_worker"
APPRISE = f"import sys; sys.path.insert(0, sys.argv.pop(1)); from {WORKER} import main; sys.exit(main())"
MERCY = 1.0
"""Seconds between asking a command to end and ending it."""
TICK = 0.05
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


def _run(who: str, command: list[str], said: bytes, cwd: str, limit: float) -> Delivered:
    try:
        process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.PIPE if said else subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, bufsize=0,
            env=without_secrets(os.environ),
        )  # fmt: skip
    except OSError as error:
        return Delivered(ok=False, why=f"{who} cannot be run: {error.strerror}")
    heard = bytearray()
    # It may leave children behind that keep its output open: what it says is read beside the wait for its end.
    listener = threading.Thread(target=_listen, args=(process, said, heard), daemon=True)
    listener.start()
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        _end(process)
        return Delivered(ok=False, why=f"{who} took longer than {in_words(limit)} and was ended")
    listener.join(MERCY if code else 0.0)
    if code == 0:
        return Delivered(ok=True)
    lines = bytes(heard).decode("utf-8", "replace").strip().splitlines()
    last = plain(Redactor(()).clean(lines[-1]), LONGEST).rstrip(" .") if lines else ""
    how = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with {code}"
    return Delivered(ok=False, why=f"{who} {how}{f': {last}' if last else ''}")


def _listen(process: subprocess.Popen[bytes], said: bytes, heard: bytearray) -> None:
    assert process.stdout is not None
    with process.stdout:
        if process.stdin is not None:
            _write(process.stdin, said)
        while part := process.stdout.read(KEPT):
            heard += part
            del heard[:-KEPT]


def _write(pipe: IO[bytes], said: bytes) -> None:
    try:
        with pipe:
            pipe.write(said)
    except OSError:
        pass  # it ended without listening


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command with its group, whose number cannot be another's before the command was waited for."""
    until = time.monotonic() + MERCY
    for number in (signal.SIGTERM, signal.SIGCONT):
        _signal(process.pid, number)
    while time.monotonic() < until and not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        time.sleep(TICK)  # nothing tells of an end everywhere without also waiting for it
    _signal(process.pid, signal.SIGKILL)
    try:
        process.wait(MERCY)
    except subprocess.TimeoutExpired:  # it hangs in the kernel; it ends when it comes back
        pass


def _signal(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass
