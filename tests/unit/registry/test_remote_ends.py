"""Which reports of another machine say that a session is over."""

from __future__ import annotations

from pathlib import Path

import pytest

from midwatch.integrations.mqtt.codec.messages import SubjectEvent
from midwatch.registry.remote_ends import ReportedDrifts, ReportedEnds, is_session_end
from midwatch.registry.store import RegistryFile

END = SubjectEvent(
    host="far", project="/p", dir="/d", name="n", run="r", kind="session", event="ended", state="crashed", reason="",
    exit_code=None, at=1.0, seq=1,
)  # fmt: skip
TASK = END._replace(event="delegated", state="completed")


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
    told = SubjectEvent(
        host="far", project="/p", dir="/d", name="n", run="r", kind=kind, event=event, state=state, reason="",
        exit_code=None, at=1.0, seq=1,
    )  # fmt: skip
    assert is_session_end(told) is over


def reported(file: Path, *events: SubjectEvent, accepted: tuple[str, ...] = ("far",)) -> ReportedDrifts:
    file.write_text("sessions:\n  - {name: n, status: running, host: far}\n  - {name: n, status: running}\n")
    return ReportedEnds(RegistryFile(str(file)), "here", accepted).write(events)


@pytest.mark.parametrize("events", [(END, TASK), (TASK, END)])
def test_what_comes_with_an_end_does_not_hide_it(tmp_path: Path, events: tuple[SubjectEvent, ...]) -> None:
    found = reported(tmp_path / "list.yaml", *events)
    assert [end.drift.after["status"] for end in found.ends] == ["terminated"]
    assert list(reported(tmp_path / "list.yaml", *events, accepted=()).claims) == [("n", "far")]


@pytest.mark.parametrize("accepted", [(), ("near",), ("here",)])
def test_a_host_that_is_not_accepted_changes_nothing(tmp_path: Path, accepted: tuple[str, ...]) -> None:
    events = (END, TASK, END._replace(host="here"), TASK._replace(host="here"), END._replace(host="near"))
    found = reported(tmp_path / "list.yaml", *events, accepted=accepted)
    assert (found.written, found.ends, list(found.claims)) == (False, (), [("n", "far")])
    assert "terminated" not in (tmp_path / "list.yaml").read_text()
