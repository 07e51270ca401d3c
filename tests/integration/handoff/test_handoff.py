"""A worker hands over: the report is in the mail whatever becomes of the ping, and the ping disturbs nobody."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from midwatch.swarm import watchdog_store
from midwatch.system import procfs
from tests.conftest import PATIENCE, Box, until
from tests.integration.handoff.conftest import Swarm
from tests.integration.send.conftest import Gate, attached

PING = "<<<CHECK MAIL>>> pane0 bd-1 done <<<END CHECK MAIL>>>"
DONE = ("--task", "bd-1", "--status", "done")


def test_the_report_goes_to_mail_and_a_ping_to_the_controller(swarm: Swarm) -> None:
    done = swarm.handoff(
        *DONE, "--controller", swarm.controller.pane, "--report", "-", "--json", stdin="All\n---\ngreen"
    )
    assert (done.code, done.err) == (0, ""), done
    (sent,) = swarm.mail()
    assert done.json == {
        "schema": 1, "task": "bd-1", "status": "done", "from": "pane0", "to": "controller", "mail": sent["id"],
        "controller": swarm.controller.pane, "ping": "delivered", "reason": "its transcript tells of it",
    }  # fmt: skip
    assert (sent["text"], sent["subject"], sent["task"], sent["from"]) == (
        "All\n---\ngreen",
        "bd-1: done",
        "bd-1",
        "pane0",
    )
    assert swarm.controller.typed == swarm.controller.pasted(PING) + b"\r"


def test_without_a_report_the_status_is_all(swarm: Swarm) -> None:
    done = swarm.handoff("--task", "bd-1", "--status", "blocked:\n no database", "--to", "lead")
    assert done.code == 0
    (sent,) = swarm.mail()
    assert (sent["text"], sent["to"]) == ("blocked: no database", "lead")
    assert done.out == f"{sent['id']}: report on bd-1 sent to lead\n"


def test_the_only_pane_that_is_titled_so_is_the_controller(swarm: Swarm) -> None:
    swarm.title(swarm.worker, "controller of nothing: it is we who hand over")
    swarm.title(swarm.controller.pane, "✳ Controller claude")
    done = swarm.handoff(*DONE)
    assert done.code == 0
    assert done.out.splitlines()[1] == f"{swarm.controller.pane}: pinged: its transcript tells of it"


def test_in_several_windows_panes_are_named_by_both_numbers(swarm: Swarm) -> None:
    swarm.private("new-window", "-d", "-t", "swarm", "cat")
    assert swarm.handoff(*DONE, "--controller", swarm.controller.pane, "--json").json["from"] == "pane0.0"
    assert b"<<<CHECK MAIL>>> pane0.0 bd-1 done" in swarm.controller.typed


@pytest.mark.parametrize("titles", [0, 2])
def test_where_nobody_or_several_are_the_controller_there_is_only_mail(swarm: Swarm, titles: int) -> None:
    for pane in (swarm.controller.pane, swarm.split())[:titles]:
        swarm.title(pane, "controller")
    done = swarm.handoff(*DONE, "--json")
    assert (done.code, done.json["ping"], done.json["controller"]) == (0, "no_controller", None)
    assert "name the one meant with --controller" in done.json["reason"]
    assert "The report is in the mail" in done.err
    assert len(swarm.mail()) == 1
    assert swarm.controller.typed == b""


def test_whoever_the_watchdog_has_found_is_the_controller(swarm: Swarm) -> None:
    other = swarm.split()
    swarm.title(other, "controller")
    base = watchdog_store.base_path("swarm", str(swarm.private.socket))
    pid = os.getpid()
    standing = watchdog_store.WatchdogStatus(
        "swarm", str(swarm.private.socket), "", pid=pid, start=procfs.start_time(pid)
    )
    watchdog_store.write_status(base, standing._replace(controller=swarm.controller.pane))
    assert swarm.handoff(*DONE, "--json").json["controller"] == swarm.controller.pane
    watchdog_store.write_status(base, standing._replace(controller=swarm.controller.pane, start=1))
    assert swarm.handoff(*DONE, "--json", "--wait", "0").json["controller"] == other


def test_the_environment_names_the_controller_and_a_flag_beats_it(swarm: Swarm) -> None:
    swarm.title(swarm.controller.pane, "controller")
    found = swarm.handoff(*DONE, "--json", "--wait", "0", MIDWATCH_CONTROLLER="%99").json
    assert (found["controller"], found["ping"]) == ("%99", "refused")
    flagged = ("--controller", swarm.controller.pane)
    found = swarm.handoff(*DONE, "--json", *flagged, MIDWATCH_CONTROLLER="%99").json
    assert (found["controller"], found["ping"]) == (swarm.controller.pane, "delivered")


def test_outside_of_tmux_the_worker_has_the_name_of_its_job(box: Box, swarm: Swarm) -> None:
    done = box("handoff", *DONE, "--json", MIDWATCH_NAME="api")
    assert (done.code, done.json["from"], done.json["ping"]) == (0, "api", "no_controller")
    named = ("--controller", swarm.controller.pane, *swarm.private.server)
    assert box("handoff", *DONE, *named, "--json", MIDWATCH_NAME="api").json["ping"] == "delivered"
    assert b"<<<CHECK MAIL>>> api bd-1 done" in swarm.controller.typed


def test_a_draft_is_left_alone_and_the_mail_is_there(swarm: Swarm) -> None:
    swarm.private("send-keys", "-t", swarm.controller.pane, "-l", "my own words")
    swarm.private.until_shows(swarm.controller.pane, "my own words")
    done = swarm.handoff(*DONE, "--controller", swarm.controller.pane)
    assert done.code == 0
    assert "midwatch: the ping was not delivered: a draft stands in its box: 'my own words'" in done.err
    assert swarm.controller.box == "❯ my own words"  # noqa: RUF001
    assert len(swarm.mail()) == 1


def test_the_ping_waits_for_the_end_of_a_turn(swarm: Swarm, tmp_path: Path) -> None:
    agent = swarm.controller
    agent.state("busy")
    agent.mood("stateful")
    (tmp_path / "gate").mkdir()
    gate = Gate(swarm.box, swarm.private.program, tmp_path / "gate")
    call = swarm.box.start("handoff", *DONE, "--controller", agent.pane, "--wait", "5m", env=swarm.within(swarm.worker))
    with call:
        assert call.stdout is not None
        assert "report on bd-1 sent" in call.stdout.readline()
        until(lambda: gate.asked.count(f"capture-pane -ep -t {agent.pane}") > 15, gate.notes.parent)
        assert agent.typed == b""
        agent.state("idle")
        assert call.wait(PATIENCE) == 0
        assert "pinged" in call.stdout.read()
    assert agent.typed == agent.pasted(PING) + b"\r"


def test_whoever_breaks_off_the_waiting_has_reported_all_the_same(swarm: Swarm) -> None:
    agent = swarm.controller
    agent.private("copy-mode", "-t", agent.pane)
    call = swarm.box.start("handoff", *DONE, "--controller", agent.pane, "--wait", "5m", env=swarm.within(swarm.worker))
    with call:
        assert call.stdout is not None
        call.stdout.readline()
        until(lambda: _hears(call.pid, signal.SIGTERM))
        call.send_signal(signal.SIGTERM)
        assert call.wait(PATIENCE) == 130
    assert agent.typed == b""
    assert len(swarm.mail()) == 1


def _hears(pid: int, number: int) -> bool:
    caught = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) & 1 << number - 1)


def test_nobody_pings_itself(swarm: Swarm) -> None:
    named = ("--controller", swarm.controller.pane, "--json")
    done = swarm.handoff(*DONE, *named, TMUX_PANE=swarm.controller.pane)
    assert (done.code, done.json["ping"]) == (0, "refused")
    assert "is the pane that this comes from" in done.json["reason"]
    assert swarm.controller.typed == b""


def test_a_tmux_that_is_gone_does_not_keep_the_report_back(swarm: Swarm) -> None:
    swarm.private.stop()
    done = swarm.handoff(*DONE, "--controller", swarm.controller.pane, "--json", USER="mara")
    assert (done.code, done.json["from"], done.json["ping"]) == (0, "mara", "refused")
    assert len(swarm.mail()) == 1


def test_a_broken_settings_file_does_not_keep_the_report_back(swarm: Swarm) -> None:
    (swarm.box.cwd / "midwatch.toml").write_text("nonsense")
    done = swarm.handoff(*DONE, "--controller", swarm.controller.pane, "--json")
    assert (done.code, done.json["ping"]) == (0, "delivered")
    assert "until then the settings files do not count" in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "--task '' is no id"),
        (("--task", "bd-1"), "--status must say"),
        (("--task", "a b", "--status", "x"), "--task 'a b' is no id"),
        ((*DONE, "--report", "/nowhere/x"), "--report /nowhere/x: No such file"),
        ((*DONE, "--to", "../x"), "--to '../x'"),
        ((*DONE, "more"), "handoff takes no names"),
        ((*DONE, "--wait", "soon"), "--wait"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_said_and_nothing_sent(box: Box, words: tuple[str, ...], says: str) -> None:
    done = box("handoff", *words)
    assert done.code == 2, done
    assert says in done.err
    assert not box.path("mail").exists()


def test_a_person_who_is_in_the_controllers_pane_is_not_typed_before(swarm: Swarm) -> None:
    with attached(swarm.private, "attach-session", "-t", "=swarm"):
        swarm.private("select-pane", "-t", swarm.controller.pane)
        done = swarm.handoff(*DONE, "--controller", swarm.controller.pane, "--wait", "0", "--json")
    assert (done.code, done.json["ping"]) == (0, "person")
    assert swarm.controller.typed == b""
    assert len(swarm.mail()) == 1
