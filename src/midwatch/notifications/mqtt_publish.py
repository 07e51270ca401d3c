"""Publishing how work ended: the journal's terminal events, in order, each once the one before was handed over.

It runs in the process that tells (`midwatch _deliver`), beside the work. One process per directory publishes; whoever
finds it at work leaves a mark, and it goes on until nothing is left, or for as long as it may stay. The cursor moves
only when the broker has taken an event over: of one that was killed in between, the next publishes it once more.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque

from midwatch.config import paths, sentinel_files
from midwatch.config.model import MqttSettings
from midwatch.core import names
from midwatch.core.errors import FormatError, MidwatchError, RefusedError
from midwatch.core.event import Event
from midwatch.core.job_model import Record
from midwatch.core.value import Value
from midwatch.integrations.mqtt import broker_settings
from midwatch.integrations.mqtt.client import BrokerConnection
from midwatch.integrations.mqtt.codec import messages
from midwatch.jobs.codec import sentinel
from midwatch.journal import codec as journal_codec
from midwatch.journal import journal
from midwatch.journal.journal import Journal
from midwatch.notifications import deliver, mqtt_publish_state, outbox

STAYS = 300.0
"""Seconds that a process stays for a broker that is not there, from the last event on."""
LONGEST = 3000.0
"""Seconds after which it leaves that to the next, whatever comes."""
BRIEF = 15.0
"""Seconds that a person waits for it."""
NEWS = 86400.0
"""Where nothing was ever published, it begins with what is no older than these seconds."""
MOST = 100
"""Events that a broker has not acknowledged, at most."""
BUSY = "another process publishes at this moment; look again soon"
NONE = (
    "no broker is named: set url in [mqtt] of midwatch.toml or config.toml, or MIDWATCH_MQTT_URL; "
    "see docs/guides/mqtt.md"
)


class BrokerStatus(Value):
    """A project's broker, as it may be shown, and why it cannot be used now."""

    called: str
    source: str
    problem: str


def load_broker(project: str) -> MqttSettings:
    """The broker of a project with its password. RefusedError where there is none, or it may not be used."""
    where = broker_settings.load_broker(project)
    if where is None:
        raise RefusedError(NONE)
    if problem := broker_settings.find_trust_problem(where):
        raise RefusedError(problem)
    return broker_settings.with_password(where)


def broker_status(project: str) -> BrokerStatus | None:
    """None where no broker is named. One that cannot be read is told of with the settings."""
    with contextlib.suppress(FormatError):
        where = broker_settings.load_broker(project)
        if where is None:
            return None
        problem = ""
        try:
            load_broker(project)
        except RefusedError as error:
            problem = str(error)
        return BrokerStatus(f"mqtt{'s' * where.tls}://{where.host}:{where.port}", where.source, problem)
    return None


def test_connection(project: str) -> str:
    """Why the broker cannot be reached now; empty when it lets us in."""
    broker = BrokerConnection(load_broker(project))
    until = time.monotonic() + BRIEF
    broker.connect()
    while not broker.connected and (broker.fileno() >= 0 or not broker.trouble) and time.monotonic() < until:
        _wait_for_broker(broker, until)
        broker.read()
    trouble = broker.trouble
    broker.close()
    return trouble


def publish_ends(directory: str, project: str, *, patient: bool) -> str:
    """Publish what the journal has and the broker has not. Returns why something is left; empty if nothing is.

    Who is patient stays for a broker that is down.
    """
    if not broker_settings.is_configured(project) or paths.find_sharing(directory) or journal.find_problem(directory):
        return ""
    outbox.prepare_outbox(directory)
    until = time.monotonic() + LONGEST
    while True:
        before = mqtt_publish_state.read_mark(directory)
        known = before.trouble if before else ""
        mqtt_publish_state.write_mark(
            directory, project, known
        )  # before the lock is tried: whoever has it goes on for us
        post = mqtt_publish_state.publish_lease(directory)
        if post is None:
            return "" if patient or before is None else known or BUSY
        try:
            trouble = _Publisher(directory, project, known, until, patient=patient).run()
            if not trouble:
                mqtt_publish_state.unmark(directory)
        finally:
            os.close(post)
        if trouble or not _is_behind(directory):
            return trouble


def _is_behind(directory: str) -> bool:
    """Whether something came in while the lock was being let go."""
    try:
        with contextlib.closing(Journal(directory)) as book:
            return bool(_Queue(book, mqtt_publish_state.read_cursor(directory)).fill())
    except MidwatchError:
        return False


class _Queue:
    """The terminal events beyond a number, and how far the broker has them."""

    def __init__(self, book: Journal, since: int | None) -> None:
        self.book = book
        book.take_in()
        anew = since is None or since > book.newest()  # the journal that this number was of is gone
        self.oldest = time.time() - NEWS if anew else 0.0
        self.read = self.done = 0 if anew or since is None else since
        """The number up to which events were read, and up to which they are published."""
        self.waiting: deque[Event] = deque()
        self.sent: deque[tuple[int, int]] = deque()
        """Numbers at the broker and in the journal."""

    def fill(self) -> int:
        """Read on until there is something to publish. Returns how much there is."""
        while not self.waiting:
            found = self.book.after(self.read)
            if not found:
                break
            self.waiting += [each for each in found if each.event in messages.TERMINAL and each.at >= self.oldest]
            self.read = found[-1].seq
        return len(self.waiting)

    def settle(self, unacknowledged: set[int]) -> int:
        """The number up to which everything is published now."""
        while self.sent and self.sent[0][0] not in unacknowledged:
            self.done = self.sent.popleft()[1]
        if not self.sent and not self.waiting:
            self.done = self.read
        return self.done


class _Publisher:
    def __init__(self, directory: str, project: str, known: str, until: float, *, patient: bool) -> None:
        self.directory = directory
        self.project = project
        self.host = os.uname().nodename
        self.known = known
        """The trouble that was told already."""
        self.until = until
        self.patient = patient
        self.began = time.monotonic()

    def run(self) -> str:
        """All that is left, and what comes meanwhile. Returns why it broke off; empty when nothing is left."""
        trouble, event = "", None
        try:
            with contextlib.closing(Journal(self.directory)) as book:
                queue = _Queue(book, mqtt_publish_state.read_cursor(self.directory))
                if queue.fill():
                    event = queue.waiting[0]
                    trouble = self.through(queue)
                if not trouble:
                    mqtt_publish_state.write_cursor(self.directory, queue.settle(set()))
        except (MidwatchError, OSError) as error:
            trouble = str(error)
        if trouble:
            self.record_trouble(trouble, event)
        return trouble

    def through(self, queue: _Queue) -> str:
        where = load_broker(self.project)
        broker = BrokerConnection(
            where._replace(client_id=messages.client_id(where.client_id, self.host, self.directory))
        )
        broker.connect()
        first = queue.waiting[0]
        try:
            while queue.sent or queue.waiting or queue.fill():
                while broker.connected and queue.waiting and len(queue.sent) < MOST:
                    event = queue.waiting.popleft()
                    queue.sent.append((self.hand_over(broker, where.prefix, event), event.seq))
                _wait_for_broker(broker, self.until)
                broker.read()
                if (done := queue.done) != queue.settle(broker.unacknowledged):
                    assert queue.done > done
                    mqtt_publish_state.write_cursor(self.directory, queue.done)
                if not broker.connected and broker.fileno() < 0:
                    self.record_trouble(broker.trouble, first)
                if self.is_over(broker):
                    return broker.trouble or "the broker does not take over what it is given"
            return ""
        finally:
            broker.close()

    def hand_over(self, broker: BrokerConnection, prefix: str, event: Event) -> int:
        record = _read_record(self.directory, event)
        told = messages.build_event(
            event, journal_codec.event_body(event), record, host=self.host, project=self.project, dir=self.directory
        )  # fmt: skip
        return broker.publish(
            messages.event_topic(prefix, told.host, told.project, told.name), messages.encode_event(told)
        )

    def is_over(self, broker: BrokerConnection) -> bool:
        now = time.monotonic()
        if not self.patient:
            return now - self.began > BRIEF or (not broker.connected and broker.fileno() < 0)
        if broker.connected or now - self.began < STAYS:
            return now > self.until
        mark = mqtt_publish_state.read_mark(
            self.directory
        )  # whoever came by since wants its own event to be tried as long
        return now > self.until or mark is None or abs(time.time() - mark.at) > STAYS

    def record_trouble(self, trouble: str, event: Event | None) -> None:
        """Remember why it cannot be published: in the mark, and once in the journal."""
        if trouble == self.known:
            return
        self.known = trouble
        mark = mqtt_publish_state.read_mark(self.directory)
        with contextlib.suppress(OSError):
            mqtt_publish_state.write_mark(self.directory, self.project, trouble)
            if mark is not None:
                os.utime(f"{self.directory}/outbox/unpublished", (mark.at, mark.at))
        name, run = (event.name, event.run) if event else ("mqtt", "")
        deliver.record_event(self.directory, name, run, "undelivered", channel="mqtt", reason=trouble)


def _read_record(directory: str, event: Event) -> Record | None:
    """The record of an event's run, if it is still kept."""
    if names.find_problem(event.name):
        return None  # a pane's
    for base in (f"{directory}/{event.name}", *sentinel_files.list_archives(directory, event.name)):
        with contextlib.suppress(FormatError, OSError):
            text = sentinel_files.read(f"{base}.json")
            if text is not None and (found := sentinel.decode_record(text)).run == event.run:
                return found
    return None


def _wait_for_broker(broker: BrokerConnection, until: float) -> None:
    """Until the connection stirs, or something is due."""
    poll, fd = select.poll(), broker.fileno()
    if fd >= 0:
        poll.register(fd, select.POLLIN | (select.POLLOUT if broker.wants_write() else 0))
    poll.poll(max(0.0, min(broker.due(), until) - time.monotonic()) * 1000)
