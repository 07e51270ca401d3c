"""The verdict on a row of the session registry."""

from __future__ import annotations

import pytest

from midwatch.core.verdict import Verdict
from midwatch.registry.model import RegistryRow
from midwatch.registry.rules.row_verdict import judge_row

AGENT = Verdict("%3", "session", "waiting", False, "it waits for a permission", "alive", "unknown", "permission")


def row(status: str = "running", problem: str = "", **data: object) -> RegistryRow:
    return RegistryRow(0, "lab", status, problem=problem, data=data)


def test_a_row_has_the_verdict_on_its_agent() -> None:
    found = judge_row(row(), AGENT, gone=False)
    assert (found.name, found.kind, found.state, found.cause) == ("lab", "row", "waiting", "permission")


@pytest.mark.parametrize(
    ("of", "gone", "state", "cause", "final"),
    [
        (row(), False, "unknown", "not-seen", False),
        (row("stopped"), False, "unknown", "not-seen", False),
        (row(problem="line 3: no status"), True, "unknown", "not-seen", False),
        (row(), True, "unknown", "exit-unseen", True),
        (row("terminated", termination_mode="auto-detected"), True, "unknown", "exit-unseen", True),
        (row("terminated"), True, "stopped", "stop-asked", True),
        (row("stopped"), True, "stopped", "stop-asked", True),
        (row("archived"), True, "stopped", "stop-asked", True),
    ],
)
def test_without_an_agent_it_is_what_is_left_of_it(
    of: RegistryRow, gone: bool, state: str, cause: str, final: bool
) -> None:
    found = judge_row(of, None, gone=gone)
    assert (found.state, found.cause, found.final) == (state, cause, final)
