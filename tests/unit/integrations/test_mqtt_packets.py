"""The stream of packets that a broker sends, without payloads that are too large."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.errors import FormatError
from midwatch.integrations.mqtt.codec.packets import PacketStream

LIMIT = 64


def length(number: int) -> bytes:
    found = bytearray()
    while True:
        number, rest = divmod(number, 128)
        found.append(rest | (0x80 if number else 0))
        if not number:
            return bytes(found)


def packet(first: int, body: bytes) -> bytes:
    return bytes([first]) + length(len(body)) + body


def published(topic: bytes, payload: bytes, qos: int) -> bytes:
    number = b"\x00\x07" if qos else b""
    return packet(0x30 | qos << 1, len(topic).to_bytes(2, "big") + topic + number + payload)


def passed(frames: PacketStream, data: bytes, sizes: list[int]) -> bytes:
    """What comes out if the stream arrives in pieces of these sizes."""
    found = b""
    while data:
        size = sizes.pop() if sizes else len(data)
        found += frames.feed(data[:size])
        data = data[size:]
    return found


PACKETS = st.lists(
    st.tuples(st.binary(min_size=1, max_size=20), st.binary(max_size=500), st.sampled_from([0, 1, 2])), max_size=6
)


@given(PACKETS, st.lists(st.integers(1, 40)))
def test_small_packets_pass_as_they_are_and_large_ones_without_their_payload(
    packets: list[tuple[bytes, bytes, int]], sizes: list[int]
) -> None:
    whole = b"".join([published(*each) for each in packets])
    wanted, dropped = b"", 0
    for topic, payload, qos in packets:
        is_large = 2 + len(topic) + 2 * bool(qos) + len(payload) > LIMIT
        wanted += published(topic, b"" if is_large else payload, qos)
        dropped += is_large
    frames = PacketStream(LIMIT)
    assert passed(frames, whole, sizes) == wanted
    assert frames.dropped == dropped


@given(st.binary(max_size=300), st.lists(st.integers(1, 40)))
def test_no_bytes_make_it_stumble(data: bytes, sizes: list[int]) -> None:
    found = b""
    with contextlib.suppress(FormatError):
        found = passed(PacketStream(LIMIT), data, sizes)
    assert len(found) <= len(data)


@pytest.mark.parametrize("data", [b"\x20\xff\xff\xff\x7f", b"\x30\x80\x80\x80\x80\x01", b"\x30\xff\x7f\xff\xff"])
def test_what_no_event_can_be_is_an_error(data: bytes) -> None:
    with pytest.raises(FormatError):
        PacketStream(LIMIT).feed(data + bytes(10))


def test_the_header_of_a_large_packet_is_all_that_is_kept() -> None:
    frames = PacketStream(LIMIT)
    assert frames.feed(b"\x32\xff\xff\xff\x7f\x00\x03a/") == b""
    assert frames.feed(b"b\x00\x07" + bytes(1000)) == published(b"a/b", b"", 1)
    assert frames.feed(bytes(100_000)) == b""
