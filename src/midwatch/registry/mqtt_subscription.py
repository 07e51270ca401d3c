"""What a broker tells of jobs and sessions, as something to sleep on. Without it there are timed looks.

A message says which session is worth a look, and what its machine saw last. What cannot be read is
counted and passed over.
"""

from __future__ import annotations

import os
import select
import sys
import time

from midwatch.config.model import MqttSettings
from midwatch.core.text import visible
from midwatch.integrations.mqtt.client import BrokerConnection
from midwatch.integrations.mqtt.codec import messages
from midwatch.integrations.mqtt.codec.messages import SubjectEvent


class EndSubscription:
    def __init__(self, where: MqttSettings, registry: str, fallback_s: float) -> None:
        """``fallback_s``: seconds between looks while there is no broker."""
        name = messages.client_id(where.client_id, os.uname().nodename, os.path.realpath(registry))
        self.broker = BrokerConnection(where._replace(client_id=name), (messages.subscription_topic(where.prefix),))
        self.prefix, self.accepted = where.prefix, where.accept_unsigned
        self.fallback_s = fallback_s
        self.ignored = 0
        self._heard: list[SubjectEvent] = []
        self._poll = select.epoll()
        self._registered = -1
        self._said = ""
        self._was_connected = False
        self.broker.connect()

    @property
    def connected(self) -> bool:
        return self.broker.connected

    @property
    def news(self) -> bool:
        return bool(self._heard)

    def take(self) -> list[SubjectEvent]:
        heard, self._heard = self._heard, []
        return heard

    def fileno(self) -> int:
        return self._poll.fileno()

    def read(self) -> bool:
        """Hear what has come. True: that is worth a look."""
        for message in self.broker.read():
            told = messages.decode_event(message.topic, message.payload, self.prefix)
            if told is None:
                self._ignore()
            else:
                self._heard.append(told)
        changed = self.broker.connected != self._was_connected
        self._was_connected = self.broker.connected
        self._say()
        self._register()
        return changed or self.news

    def _ignore(self) -> None:
        """Count it, and say that of the first: a flood of them must not become a flood of lines."""
        self.ignored += 1
        if self.ignored == 1:
            sys.stderr.write("midwatch: a message could not be understood and was passed over; more are counted\n")

    def tend(self) -> float:
        """Do what is due. Returns the moment at which more is."""
        if time.monotonic() >= self.broker.due():
            self.read()
        self._register()
        return 0.0 if self.news else self.broker.due()

    def close(self) -> None:
        self.broker.close()
        self._poll.close()
        if self.ignored:
            what = "1 message" if self.ignored == 1 else f"{self.ignored} messages"
            large = f" ({self.broker.dropped} too large)" if self.broker.dropped else ""
            sys.stderr.write(f"midwatch: {what} could not be understood{large}; nothing was done about that\n")

    def _register(self) -> None:
        """Sleep on the connection that there is now."""
        fd = self.broker.fileno()
        wanted = select.EPOLLIN | (select.EPOLLOUT if self.broker.wants_write() else 0)
        if fd != self._registered:
            self._registered = fd
            if fd >= 0:
                self._add(fd, wanted)
        elif fd >= 0:
            self._modify(fd, wanted)

    def _add(self, fd: int, wanted: int) -> None:
        try:
            self._poll.register(fd, wanted)
        except FileExistsError:  # the number of a connection that is gone, given to the next
            self._poll.modify(fd, wanted)

    def _modify(self, fd: int, wanted: int) -> None:
        try:
            self._poll.modify(fd, wanted)
        except FileNotFoundError:  # it was closed, and another has its number now
            self._poll.register(fd, wanted)

    def _say(self) -> None:
        """Say once what is wrong, and once that all is well."""
        if self.broker.connected:
            line = self.broker.trouble or "the broker is there"
        else:
            line = f"{self.broker.trouble}; until then there is a look every {self.fallback_s:g} s"
        if line != self._said and not (self.broker.fileno() >= 0 and not self.broker.connected):  # it is being made
            sys.stderr.write(f"midwatch: {visible(line)}\n")
            self._said = line
