"""`dogwatch _tell`: what a shim or a watcher starts to have somebody told. Nobody waits for it."""

import os
import signal

from dogwatch.cli import settings
from dogwatch.cli.options import Options
from dogwatch.formats import names, outbox
from dogwatch.loops import delivery, hearing
from dogwatch.model.errors import DogwatchError
from dogwatch.store import brokers, places, published

LONGEST = 1 << 16
HIGHEST = 1 << 20
"""More descriptors than anyone has."""
LIMIT = delivery.STAYS + 2 * delivery.LIMIT
"""Seconds after which it ends, whatever it does."""
PUBLISHES = 3600
"""The same of its child that publishes."""


def main(options: Options) -> int:
    os.closerange(3, HIGHEST)  # what our starter's caller had open is not ours to keep
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    directory = places.directory(options.text("--dir"))
    project = ""
    try:
        if options.names:
            run = options.text("--run") or ""
            project = hearing.look(settings.looker(options), names.check(options.names[0]), run)
        elif said := os.read(0, LONGEST):
            change = outbox.change(said.decode())
            project = change.project
            hearing.hear(directory, change)
        elif mark := published.marked(directory):
            project = mark.project
    except DogwatchError as error:
        delivery.note(directory, (options.names or ["notices"])[0], "", "undelivered", reason=str(error))
    child = _publish(directory, project) if project and brokers.named(project) else 0
    delivery.attend(directory)
    if child:
        os.waitpid(child, 0)
    return 0


def _publish(directory: str, project: str) -> int:
    """Beside the notices: a broker that is down must not keep them, nor they it."""
    child = os.fork()
    if child:
        return child
    signal.alarm(PUBLISHES)
    try:
        from dogwatch.loops import publishing

        publishing.publish(directory, project, patient=True)
    except (OSError, DogwatchError) as error:
        delivery.note(directory, "mqtt", "", "undelivered", channel="mqtt", reason=str(error))
    finally:
        os._exit(0)
