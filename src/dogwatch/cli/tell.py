"""`dogwatch _tell`: what a shim or a watcher starts to have somebody told. Nobody waits for it."""

import os
import signal

from dogwatch.cli import settings
from dogwatch.cli.options import Options
from dogwatch.formats import names, outbox
from dogwatch.loops import delivery, hearing
from dogwatch.model.errors import DogwatchError
from dogwatch.store import places

LONGEST = 1 << 16
HIGHEST = 1 << 20
"""More descriptors than anyone has."""
LIMIT = delivery.STAYS + 2 * delivery.LIMIT
"""Seconds after which it ends, whatever it does."""


def main(options: Options) -> int:
    os.closerange(3, HIGHEST)  # what our starter's caller had open is not ours to keep
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    directory = places.directory(options.text("--dir"))
    try:
        if options.names:
            hearing.look(settings.looker(options), names.check(options.names[0]), options.text("--run") or "")
        elif said := os.read(0, LONGEST):
            hearing.hear(directory, outbox.change(said.decode()))
    except DogwatchError as error:
        delivery.note(directory, (options.names or ["notices"])[0], "", "undelivered", reason=str(error))
    delivery.attend(directory)
    return 0
