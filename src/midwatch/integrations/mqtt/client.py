"""One connection to an MQTT broker, driven by the caller's own loop: no thread, no exception, no wait.

Whoever uses it polls `fileno()` (for writing, too, while `wants_write()`), calls `read()` when that stirs or `due()`
has passed, and finds in `trouble` why there is no connection. Lost ones come back by themselves, each time a little
later. Only looking up the name of a host takes as long as it takes.

What `read()` gave is acknowledged by the next call: a caller that was killed before it came back gets it again.

Payloads that are too large for any event are never kept, whatever a broker sends: `dropped` counts them.
"""

from __future__ import annotations

import random
import ssl
import time

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from midwatch.config.model import MqttSettings
from midwatch.core.errors import FormatError
from midwatch.core.value import Value
from midwatch.integrations.mqtt.connect import PendingConnection, tls_context
from midwatch.integrations.mqtt.limited_client import LimitedClient, LimitedConnection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from paho.mqtt.reasoncodes import ReasonCode

KEEPALIVE = 30
"""Seconds of silence after which broker and client ask each other; a broker that is frozen is noticed after two."""
TICK = 10.0
"""Seconds between two looks at the clock of a connection: half of what a broker allows beyond KEEPALIVE, and less."""
PATIENCE = 10.0
"""Seconds that a broker may take from the first packet to its welcome."""
FIRST, LONGEST = 1.0, 60.0
"""Seconds before it is tried again; doubled each time."""
STEADY = 10.0
"""Seconds that a connection must last to count: two clients of one name throw each other out for ever."""
QOS = 1
DENIED = 0x80
MOST = 1000
"""Packets that are read in one go."""
FULL = 1 << 20
"""Bytes of payloads after which the caller gets what there is before more is read."""
REFUSALS = {
    "Unsupported protocol version": "it does not speak MQTT 3.1.1; use another broker",
    "Client identifier not valid": "it does not accept the name of this client; set client_id in [mqtt]",
    "Server unavailable": "it is not available; it is tried again",
    "Bad user name or password": "wrong user name or password; mend username and password_file in [mqtt]",
    "Not authorized": "it does not let us in; set username and password_file, or cert and key, in [mqtt]",
}
"""What a broker answers, and what to do about it."""


class BrokerMessage(Value):
    """Something that was published. What its topic or payload hold may be anything."""

    topic: str
    payload: bytes


class BrokerConnection:
    def __init__(self, where: MqttSettings, topics: tuple[str, ...] = ()) -> None:
        """With ``topics`` the broker keeps for us what is published while we are away (under ``where.client_id``)."""
        self.where = where
        self.topics = topics
        self.connected = False
        self.trouble = "not connected yet"
        """Why there is no connection, or why a topic cannot be heard; empty when all is well."""
        self.unacknowledged: set[int] = set()
        """What was published and not taken over by the broker yet."""
        self.dropped = 0
        """Payloads that were too large to be kept; their messages are there without them."""
        self._inbox: list[BrokerMessage] = []
        self._held = 0
        """Bytes of their payloads."""
        self._unthanked: list[int] = []
        self._door: PendingConnection | None = None
        self._tls: ssl.SSLContext | None = None
        self._refused = ""
        """What the broker answered, if that was no welcome."""
        self._tries = 0
        self._since = 0.0
        """When the connection was made, or its making began."""
        self._next = 0.0
        self._client = LimitedClient(
            CallbackAPIVersion.VERSION2, where.client_id, clean_session=not topics, reconnect_on_failure=False,
            manual_ack=True,
        )  # fmt: skip
        if where.username:
            self._client.username_pw_set(where.username, where.password or None)
        self._client.connect_async(where.host, where.port, KEEPALIVE)
        self._client.on_connect = self._welcomed
        self._client.on_disconnect = self._dropped
        self._client.on_subscribe = self._subscribed
        self._client.on_message = self._heard
        self._client.on_publish = self._published

    # For the caller's loop

    def connect(self) -> None:
        """Begin to connect, if that is not done or under way."""
        if self._door is None and self._client.socket() is None:
            self._open()

    def fileno(self) -> int:
        """What to poll; -1 while there is nothing, then only `due` tells when to come back."""
        if self._door is not None:
            return self._door.fileno()
        found = self._client.socket()
        return -1 if found is None else found.fileno()

    def wants_write(self) -> bool:
        return self._door.wants_write if self._door is not None else self._client.want_write()

    def due(self) -> float:
        """The monotonic moment at which `read` must be called although nothing stirs."""
        return 0.0 if self._unthanked else self._next

    def read(self) -> list[BrokerMessage]:
        """Do what is to be done, and give what was published to us meanwhile."""
        try:
            self._go_on()
        except FormatError as error:
            self._lose(f"the broker at {self._called()} sent {error}; is it a broker? It is tried again")
        except Exception as error:  # noqa: BLE001  # whatever makes the library stumble came from the other side
            self._lose(f"the broker at {self._called()} sent what cannot be read ({type(error).__name__})")
        found, self._inbox, self._held = self._inbox, [], 0
        return found

    def publish(self, topic: str, payload: bytes) -> int:
        """Hand over something to be published; its number is in `unacknowledged` until the broker has it."""
        number = self._client.publish(topic, payload, QOS).mid
        self.unacknowledged.add(number)
        return number

    def close(self) -> None:
        """Take leave; what was read is acknowledged."""
        if self._door is not None:
            self._door.close()
            self._door = None
        try:
            self._thank()
            self._client.on_disconnect = None
            self._client.disconnect()
        except (OSError, ValueError):
            pass  # there is nobody left to take leave of
        self._client._reset_sockets()  # noqa: SLF001  # nothing that is public closes a connection that does not take more
        self.connected, self.trouble, self._next = False, "closed", float("inf")

    # Connecting

    def _go_on(self) -> None:
        now = time.monotonic()
        if self._client.socket() is None:
            if self._door is None and now >= self._next:
                self._open()
            elif self._door is not None:
                self._step()
            return
        self._thank()
        more = self._take_in()
        self._client.loop_write()
        self._client.loop_misc()
        if self._client.socket() is None:
            return
        if not self.connected and now - self._since > PATIENCE:
            self._lose(f"the broker at {self._called()} took the connection and said nothing; is it an MQTT broker?")
        elif self.connected:
            self._next = now if more else now + TICK

    def _take_in(self) -> bool:
        """Read what is there. Returns whether there may be more that no poll tells of."""
        for _ in range(MOST):
            before, found = self._state(), self._client.ready
            self._client.loop_read()
            self.dropped += found.take_dropped() if found else 0
            if found is None or self._client.socket() is None:
                return False
            if before == self._state() and not found.pending():
                return False
            if self._held > FULL:
                return True
        return True

    def _state(self) -> tuple[int, int, bool]:
        return len(self._inbox), len(self.unacknowledged), self.connected

    def _open(self) -> None:
        self._since = time.monotonic()
        if self.where.tls and self._tls is None:
            try:
                self._tls = tls_context(self.where.ca, self.where.cert, self.where.key)
            except (OSError, ValueError) as error:
                self._lose(
                    f"ca, cert or key in [mqtt] cannot be used: {getattr(error, 'strerror', '') or error}; mend that"
                )
                return
        try:
            self._door = PendingConnection(self.where.host, self.where.port, self._tls)
        except (OSError, ValueError) as error:
            self._lose(self._in_words(error))
            return
        self._next = self._since + PATIENCE
        self._step()

    def _step(self) -> None:
        """Go on with a connection that is being made; once it stands, the library introduces itself."""
        assert self._door is not None
        try:
            made = self._door.step()
        except (OSError, ValueError) as error:
            self._lose(self._in_words(error))
            return
        if made is not None:
            self._door = None
            self._client.ready = LimitedConnection(made)
            self._refused = ""
            self._client.reconnect()
        elif time.monotonic() - self._since > PATIENCE:
            self._lose(f"the broker at {self._called()} does not answer; is that the right address?")

    def _lose(self, why: str) -> None:
        """There is no connection: why, and when to try again."""
        if self._door is not None:
            self._door.close()
            self._door = None
        self._client.ready = None
        if self._client.socket() is not None:
            self._client._sock_close()  # noqa: SLF001  # the library has no other way to drop one without a word
        now = time.monotonic()
        if self.connected and now - self._since > STEADY:
            self._tries = 0
        self.connected, self.trouble = False, why
        self._unthanked.clear()  # it will be sent again
        rest = min(LONGEST, FIRST * 2.0 ** min(self._tries, 10))
        self._tries += 1
        self._next = now + rest * random.uniform(0.75, 1.0)  # noqa: S311  # so that not all come back at once

    def _called(self) -> str:
        return f"{self.where.host}:{self.where.port}"

    def _in_words(self, error: Exception) -> str:
        if isinstance(error, ssl.SSLError):
            why = getattr(error, "verify_message", "") or str(error.reason or error).lower().replace("_", " ")
            return f"no trust between us and {self._called()}: {why}; mend ca, or cert and key, in [mqtt]"
        why = getattr(error, "strerror", None) or str(error)
        return f"no broker at {self._called()}: {why}; is it running, and is url in [mqtt] right?"

    # What the library tells (its own client first, then data that nobody gave it)

    def _welcomed(self, client: paho.Client, _data: Any, _flags: Any, reason: ReasonCode, *_: Any) -> None:
        if reason.is_failure:
            self._refused = REFUSALS.get(reason.getName(), reason.getName())
            return  # it drops the connection next
        self.connected, self.trouble, self._since = True, "", time.monotonic()
        for topic in self.topics:
            client.subscribe(topic, QOS)

    def _dropped(self, _client: Any, _data: Any, _flags: Any, reason: ReasonCode, *_: Any) -> None:
        at = self._called()
        if self._client.ready is None:
            return  # the library says it twice when nobody answers
        if self.connected:
            self._lose(f"the connection to {at} was lost ({reason.getName().lower()}); it is made again")
        elif self._refused:
            self._lose(f"the broker at {at} refuses us: {self._refused}")
        elif self.where.tls:
            self._lose(f"the broker at {at} hung up on us; does it want cert and key in [mqtt]?")
        else:
            self._lose(f"who listens at {at} hung up on us; is it a broker, or does it want mqtts://?")

    def _subscribed(self, _client: Any, _data: Any, _mid: int, reasons: list[ReasonCode], *_: Any) -> None:
        if any(reason.value >= DENIED for reason in reasons):
            self.trouble = f"the broker at {self._called()} does not let us hear; allow {', '.join(self.topics)} there"

    def _heard(self, _client: Any, _data: Any, message: paho.MQTTMessage) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError:
            topic = ""
        self._inbox.append(BrokerMessage(topic, bytes(message.payload)))
        self._held += len(message.payload)
        if message.qos:
            self._unthanked.append(message.mid)

    def _published(self, _client: Any, _data: Any, mid: int, *_: Any) -> None:
        self.unacknowledged.discard(mid)

    def _thank(self) -> None:
        for number in self._unthanked:
            self._client.ack(number, QOS)
        self._unthanked.clear()
