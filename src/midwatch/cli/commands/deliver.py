"""`midwatch _deliver`: what a shim or a watcher starts to have somebody told. Nobody waits for it."""

import os
import signal
import time

from midwatch.cli import context
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import MidwatchError, RefusedError
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import deliver, enqueue, mqtt_publish_state, pending_runs
from midwatch.notifications.codec import outbox_file
from midwatch.subjects import reminder_check

LONGEST = 1 << 16
HIGHEST = 1 << 20
"""More descriptors than anyone has."""
LIMIT = deliver.STAYS + 2 * deliver.LIMIT
"""Seconds after which it ends, whatever it does; more if it stays for the end of quiet hours."""
AGAIN = 1.0
"""Seconds before it is tried again to write what is to be told."""
PUBLISHES = 3600
"""The same of its child that publishes."""


def main(options: Options) -> int:
    os.closerange(3, HIGHEST)  # what our starter's caller had open is not ours to keep
    _set_alarm(LIMIT)
    looker = JobDirectory(paths.sentinel_directory(options.text("--dir")), context.lazy_policy(options))
    directory = looker.directory
    project = _enqueue(looker, options)
    if not project and (mark := mqtt_publish_state.read_mark(directory)):
        project = mark.project
    _set_alarm(LIMIT)
    child = _publish_ends(directory, project) if project and broker_settings.is_configured(project) else 0
    deliver.deliver_due(directory, reminder_check.SessionCheck(looker).find_answer, _set_alarm)
    if child:
        os.waitpid(child, 0)
    return 0


def _set_alarm(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _enqueue(looker: JobDirectory, options: Options) -> str:
    """Hear what is to be told, and stay while that cannot be written. Returns the project that it is of, if any.

    What has a promise or a report on the disk is there for whoever comes by: of those that wait for it one stays.
    """
    directory, until = looker.directory, time.monotonic() + deliver.STAYS
    said = b"" if options.names else os.read(0, LONGEST)
    post: int | None = None
    project, trouble = "", ""
    while True:
        try:
            if said:
                change = outbox_file.decode_change(said.decode())
                enqueue.enqueue_change(directory, change)
                said, project = b"", change.project
            elif options.names and not trouble:
                project = enqueue.enqueue_run(looker, names.check_name(options.names[0]), options.text("--run") or "")
            return enqueue.enqueue_pending(looker) or project
        except MidwatchError as error:
            if not trouble:
                deliver.record_event(directory, (options.names or ["notices"])[0], "", "undelivered", reason=str(error))
                post = pending_runs.acquire_retry_lease(directory)
            trouble = str(error)
            if not isinstance(error, RefusedError) or not (said or post) or time.monotonic() >= until:
                return project
        time.sleep(AGAIN)


def _publish_ends(directory: str, project: str) -> int:
    """Beside the notices: a broker that is down must not keep them, nor they it."""
    child = os.fork()
    if child:
        return child
    signal.alarm(PUBLISHES)
    try:
        from midwatch.notifications import mqtt_publish

        mqtt_publish.publish_ends(directory, project, patient=True)
    except (OSError, MidwatchError) as error:
        deliver.record_event(directory, "mqtt", "", "undelivered", channel="mqtt", reason=str(error))
    finally:
        os._exit(0)
