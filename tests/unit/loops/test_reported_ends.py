"""Which reports of another machine say that a session is over."""

from __future__ import annotations

import pytest

from dogwatch.formats.mqtt import Told
from dogwatch.loops.reported_ends import is_end


@pytest.mark.parametrize(
    ("event", "state", "kind", "over"),
    [
        ("ended", "completed", "session", True),
        ("ended", "crashed", "session", True),
        ("ended", "stopped", "session", True),
        ("verdict", "crashed", "session", True),
        ("verdict", "stopped", "session", True),
        ("verdict", "completed", "session", False),
        ("verdict", "failed", "session", False),
        ("verdict", "timeout", "session", False),
        ("verdict", "abandoned", "session", False),
        ("verdict", "incomplete", "session", False),
        ("verdict", "waiting", "session", False),
        ("delegated", "completed", "session", False),
        ("delegated", "failed", "session", False),
        ("delegated", "crashed", "session", False),
        ("delegated", "stopped", "session", False),
        ("ended", "working", "session", False),
        ("ended", "failed", "job", False),
    ],
)
def test_only_the_end_of_its_process_ends_a_session(event: str, state: str, kind: str, *, over: bool) -> None:
    told = Told(
        host="far", project="/p", dir="/d", name="n", run="r", kind=kind, event=event, state=state, reason="",
        exit_code=None, at=1.0, seq=1,
    )  # fmt: skip
    assert is_end(told) is over
