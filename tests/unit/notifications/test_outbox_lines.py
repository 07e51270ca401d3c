"""The files of an outbox: what was written is read, and any other text is an error and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.errors import FormatError
from midwatch.notifications.codec import outbox_file
from midwatch.notifications.model import Change, ChangeSubject, Notification, NotificationState

NOTICE = Notification("a1", "x", "r", {"text": "it is so"}, "command-1", "/p", 1.5, 2, 3.5, "why")
TOLD = NotificationState("waiting", final=False, open=True, at=4.5, boot="b", number=3)
CHANGE = Change(
    "%3", ChangeSubject("r", "claude", "%3", "api"), "waiting", final=False, reason="it waits", following="escalate",
    at=1.0, boot="b", wall=2.0, project="/p\udcff", since=None,
)  # fmt: skip
LATER = {
    Notification: ("number", "kind", "began", "sent", "server", "members"),
    NotificationState: ("planned", "cause", "began"),
    Change: ("planned", "began"),
}
"""Fields that files of earlier releases do not have."""
READERS: list[tuple[Any, Any]] = [
    (outbox_file.decode_notification, NOTICE),
    (outbox_file.decode_state, TOLD),
    (outbox_file.decode_change, CHANGE),
]


@pytest.mark.parametrize(("read", "value"), READERS)
def test_what_was_written_is_read(read: Any, value: Any) -> None:
    assert read(outbox_file.encode_value(value)) == value


@pytest.mark.parametrize(("read", "value"), READERS)
def test_every_field_must_be_what_it_is(read: Any, value: Any) -> None:
    good = json.loads(outbox_file.encode_value(value))
    for key in good:
        odds: list[Any] = [[1], 1 if isinstance(good[key], bool) else True, 1e300]
        for odd in odds:
            with pytest.raises(FormatError, match="cannot be read"):
                read(json.dumps(good | {key: odd}))
        if key not in LATER[type(value)]:
            with pytest.raises(FormatError, match="cannot be read"):
                read(json.dumps({name: each for name, each in good.items() if name != key}))


def test_files_of_an_earlier_release_have_fewer_fields() -> None:
    for read, value in READERS:
        found = json.loads(outbox_file.encode_value(value))
        old = {key: each for key, each in found.items() if key not in LATER[type(value)]}
        for key in LATER[type(value)]:
            assert getattr(read(json.dumps(old)), key) == type(value)._field_defaults[key]


def test_the_fields_of_a_notice_are_text() -> None:
    with pytest.raises(FormatError, match="no text"):
        outbox_file.decode_notification(outbox_file.encode_value(NOTICE._replace(fields={"text": 1})))  # type: ignore[dict-item]


@given(st.one_of(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)))
def test_any_other_text_is_an_error(text: str) -> None:
    for read, _ in READERS:
        with pytest.raises(FormatError, match="cannot be read"):
            read(text)
