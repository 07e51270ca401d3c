"""What a person has just done is left alone for five seconds, however often we look, and whatever we write."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from midwatch.core.errors import FormatError
from midwatch.integrations.mqtt.codec.messages import SubjectEvent
from midwatch.registry.model import ReconcileMemory
from midwatch.registry.reconcile import Reconciler
from tests.integration.reconcile.workspace import Workspace

NAME, OTHER = "lab-creator-claude", "other-creator-claude"


@pytest.fixture
def reconciler(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reconciler]:
    """One that stays, and has seen an empty list."""
    monkeypatch.setenv("TMUX_TMPDIR", str(workspace.sockets))
    monkeypatch.delenv("TMUX", raising=False)
    workspace.write("sessions: []\n")
    found = Reconciler(str(workspace.registry))
    found.act(found.observe())
    yield found
    found.close()


def passed(reconciler: Reconciler) -> list[str]:
    """A pass to which everything that is missing has been missing for long; the drifts that it mends."""
    reconciler.memory = ReconcileMemory(missed={f"A:{name}": time.monotonic() - 60 for name in (NAME, OTHER)})
    return [f"{drift.kind} {drift.session}" for drift, done, _ in reconciler.act(reconciler.observe()).new if done]


def row(name: str = NAME) -> str:
    return f"  - {{name: {name}, status: running}}\n"


def test_a_row_that_was_just_written_stays_fresh_from_pass_to_pass(
    workspace: Workspace, reconciler: Reconciler
) -> None:
    workspace.write("sessions:\n" + row(), age=1)
    assert [passed(reconciler) for _ in range(3)] == [[], [], []]
    workspace.write("sessions:\n" + row() + "    # by hand, long ago\n" + row(OTHER))
    assert passed(reconciler) == [f"A {OTHER}"], "each row counts for itself"


def test_what_we_write_ourselves_neither_ends_nor_prolongs_it(workspace: Workspace, reconciler: Reconciler) -> None:
    workspace.write("sessions:\n" + row())
    assert passed(reconciler) == [f"A {NAME}"]
    assert reconciler.observe().plan.drifts == ()
    elsewhere = f"  - {{name: {OTHER}, status: running, host: far.example}}\n"
    workspace.write(workspace.registry.read_text() + row(OTHER) + elsewhere, age=1)
    assert passed(reconciler) == []
    reconciler.apply_reports([told(workspace, OTHER)._replace(host="far.example")], ("far.example",))
    assert workspace.rows()[OTHER]["last_visible_status"] == "crashed"
    assert passed(reconciler) == [], "the row of this machine is still the person's"


def test_a_row_that_only_we_have_written_is_nobodys(workspace: Workspace, reconciler: Reconciler) -> None:
    """An event of a session that has ended changes nothing, and its end is written at once."""
    workspace.session(NAME)
    workspace.write("sessions:\n" + row())
    assert passed(reconciler) == []
    reconciler.apply_reports([told(workspace, NAME)])
    workspace.tmux.stop()
    assert passed(reconciler) == [f"A {NAME}"]


def test_what_is_reported_while_the_list_is_broken_is_written_when_it_can_be_read(
    workspace: Workspace, reconciler: Reconciler
) -> None:
    accepted = ("far.example",)
    workspace.write("sessions: [")
    with pytest.raises(FormatError):
        reconciler.apply_reports([told(workspace, NAME)._replace(host="far.example")], accepted)
    workspace.write(f"sessions:\n  - {{name: {NAME}, status: running, host: far.example}}\n")
    (end,) = reconciler.apply_reports([], accepted)
    assert (end.drift.kind, end.applied) == ("reported", True)
    assert workspace.rows()[NAME]["termination_mode"] == "reported"
    assert reconciler.apply_reports([], accepted) == ()


def test_a_host_that_is_no_text_in_some_row_keeps_nothing_from_being_told(
    workspace: Workspace, reconciler: Reconciler
) -> None:
    workspace.write(
        f"sessions:\n  - {{name: {NAME}, status: running, host: far.example}}\n"
        f"  - {{name: {OTHER}, status: running, host: [a, b]}}\n"
    )
    assert reconciler.apply_reports([told(workspace, NAME)._replace(host="far.example")]) == ()
    new = reconciler.act(reconciler.observe()).new
    assert [(each.drift.kind, each.drift.session, each.applied) for each in new] == [("reported", NAME, False)]
    workspace.write(f"sessions:\n  - {{name: {NAME}, status: stopped, host: far.example}}\n")
    assert reconciler.observe().plan.drifts == (), "somebody has seen to it"


def told(workspace: Workspace, name: str) -> SubjectEvent:
    return SubjectEvent(
        host=os.uname().nodename, project=str(workspace.root), dir="/d", name=name, run="r", kind="session",
        event="ended", state="crashed", reason="", exit_code=None, at=1.0, seq=1,
    )  # fmt: skip
