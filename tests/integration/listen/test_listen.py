"""Panes of others: what is reported there is read only where the user asks for it, and nothing is typed."""

from __future__ import annotations

import sys

from tests.conftest import Done, until
from tests.integration.spawn.reporter import PROGRAM, Reporter


def listen(reporter: Reporter, *more: str) -> Done:
    return reporter.box("listen", "%0", "-S", str(reporter.office.tmux.socket), *more)


def test_a_pane_of_others_is_read_only_where_the_user_asks_for_it_and_no_pipe_is_in_use(reporter: Reporter) -> None:
    office = reporter.office
    office.tmux.start(f"STAND_IN={office.notes} {sys.executable} -I -S {PROGRAM}", "work")
    until(lambda: reporter.note("started") != b"")
    reporter.report("state=working")
    panes = ("ls", "--panes", "-S", str(office.tmux.socket), "--json")
    assert reporter.box(*panes).out == ""
    assert listen(reporter).code == 0
    until(lambda: reporter.files() != [])
    reporter.report("state=blocked")
    until(lambda: '"waiting"' in reporter.box(*panes).out)
    again = listen(reporter)
    assert (again.code, "is piped to a program already" in again.err) == (12, True)
    assert listen(reporter, "--off").code == 0
    until(lambda: reporter.files() == [])
    assert office.tmux("display-message", "-p", "-t", "%0", "#{pane_pipe}").strip() == "0"
    assert reporter.note("typed") == b""


def test_the_capture_of_a_session_is_not_ended_by_listen(reporter: Reporter) -> None:
    reporter.started()
    done = listen(reporter, "--off")
    assert (done.code, "does not read pane" in done.err) == (12, True)
    reporter.reported("state=working", "working")
