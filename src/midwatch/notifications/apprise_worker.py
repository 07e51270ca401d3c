"""One notice through Apprise, in a process of its own: what is to be sent comes as JSON on standard input.

Its last line of output says what went wrong.
"""

from __future__ import annotations

import importlib.util
import json
import sys

MISSING = "Apprise is not installed; `pip install 'midwatch[notify]'` installs it"


def find_problem() -> str:
    """Why URLs cannot be used here; empty when they can."""
    return "" if importlib.util.find_spec("apprise") else MISSING


def main() -> int:
    said = json.load(sys.stdin)
    why = find_problem() or _send_notification(said["url"], said["body"], said["title"], said["type"])
    sys.stdout.write(why)
    return int(bool(why))


def _send_notification(url: str, body: str, title: str, kind: str) -> str:
    """Why it could not be sent; empty when it was."""
    import io  # noqa: PLC0415  # only where there is something to send
    import logging  # noqa: PLC0415

    import apprise  # noqa: PLC0415  # an extra, and slow to load

    log = io.StringIO()
    logging.getLogger("apprise").addHandler(logging.StreamHandler(log))
    service = apprise.Apprise()
    if not service.add(url):
        return "Apprise does not know this kind of URL, or something in it is missing"
    if service.notify(body=body, title=title, notify_type=kind):
        return ""
    told = log.getvalue().strip().splitlines()  # warnings and errors, as logging has it
    return told[-1] if told else "the service did not take it, and Apprise does not say why"
