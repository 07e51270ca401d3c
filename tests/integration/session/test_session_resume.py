"""`midwatch session resume`: a row's own conversation again, or nothing."""

from __future__ import annotations

import signal

import pytest
import yaml

from tests.conftest import alive, kill, until, until_gone
from tests.integration.session.desk import Desk
from tests.integration.spawn.office import Office


def refused(desk: Desk, name: str, why: str, *more: str) -> None:
    """It is refused with these words, and list and sessions are as before."""
    before, starts = desk.path.read_text(), len(desk.office.starts())
    done = desk("resume", name, *more)
    assert done.code == 12, done
    assert why in done.err
    assert desk.path.read_text() == before
    assert len(desk.office.starts()) == starts


def test_a_session_of_ours_comes_back_with_all_that_it_was_started_with(desk: Desk, office: Office) -> None:
    before = desk.create("api", "--model", "opus", "--prompt", "say hello")
    desk("stop", "api")
    done = desk("resume", "api")
    assert done.code == 0, done
    row = desk.row()
    assert desk.argv(2) == ["--resume", before["claude_session_id_own"], "--model", "opus"]
    assert row["pane"]["pid"] == office.box.pids("api")[0] != before["pane"]["pid"]
    assert (row["status"], row["stopped_at"], row["termination_mode"]) == ("running", None, None)
    assert row["claude_session_id_own"] == before["claude_session_id_own"]
    assert office.box.record("api")["again"]


def test_one_that_we_never_spawned_is_resumed_by_its_id(desk: Desk, office: Office) -> None:
    old = desk.past("old", terminated_at="2026-01-01T00:00:00Z")
    desk.write(old)
    assert desk("resume", "old").code == 0
    assert desk.argv(1) == ["--resume", old["claude_session_id_own"]]
    assert office.start(1)["cwd"] == str(office.cwd)
    row = desk.row("old")
    assert (row["status"], row["pane"]["pid"]) == ("running", office.box.pids("old")[0])
    assert row["terminated_at"] is None
    assert desk.path.read_text().startswith("# kept by hand\n")
    assert office.until_state("idle", "old")["process"] == "alive"


def test_its_lease_is_taken(desk: Desk, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    old = desk.past("old")
    desk.write(old)
    desk("resume", "old")
    assert desk.agent() in office.holders(old["claude_session_id_own"], monkeypatch)


def test_a_prompt_is_given_to_it(desk: Desk, office: Office) -> None:
    desk.write(desk.past("old"))
    assert desk("resume", "old", "--prompt", "ask").code == 0
    assert office.listed() == {"old": "waiting"}
    assert desk.row("old")["last_visible_status"].startswith("waiting")


def test_one_that_ended_and_whose_row_does_not_know_it_comes_back(desk: Desk, office: Office) -> None:
    row = desk.opened()
    desk.write(row)
    office.tmux.start("cat", "others")
    kill(desk.agent(), signal.SIGKILL)
    until(lambda: office.sessions() == ["others"])
    assert desk("resume", "work").code == 0
    assert desk.argv(2) == ["--resume", row["claude_session_id_own"]]


@pytest.mark.parametrize("begun", ["shell", "dead"])
def test_what_is_left_of_it_makes_room(desk: Desk, office: Office, begun: str) -> None:
    row = desk.opened(shell=begun == "shell")
    office.tmux.start("cat", "others")
    office.tmux("set-option", "-p", "-t", row["pane"]["id"], "remain-on-exit", "on")
    desk.write(row)
    kill(desk.agent(), signal.SIGKILL)
    until_gone(desk.agent())
    sign = "#{pane_current_command}" if begun == "shell" else "#{pane_dead}"
    until(lambda: office.tmux("display-message", "-p", "-t", row["pane"]["id"], sign).strip() in ("sh", "1"))
    done = desk("resume", "work")
    assert done.code == 0, done
    assert office.sessions() == ["others", "work"]
    assert desk.argv(2) == ["--resume", row["claude_session_id_own"]]


def test_a_shell_in_which_something_runs_is_left(desk: Desk, office: Office) -> None:
    row = desk.opened(shell=True)
    desk.write(row)
    kill(desk.agent(), signal.SIGKILL)
    until_gone(desk.agent())
    office.tmux("send-keys", "-t", row["pane"]["id"], "sleep 600", "C-j")  # the agent has left its terminal raw
    shown = ("display-message", "-p", "-t", row["pane"]["id"], "#{pane_current_command}")
    until(lambda: office.tmux(*shown).strip() == "sleep")
    refused(desk, "work", "sleep runs in the pane of work")


def test_one_that_goes_on_is_noted_again(desk: Desk, office: Office) -> None:
    row = desk.opened()
    desk.write(row | {"status": "stopped", "stopped_at": "2026-01-01T00:00:00Z", "pane": {"cmd": "claude"}})
    done = desk("resume", "work")
    assert done.code == 0, done
    assert "running again" in done.out
    now = desk.row("work")
    assert (now["status"], now["pane"]["pid"], now["stopped_at"]) == ("running", row["pane"]["pid"], None)
    assert len(office.starts()) == 1


# Refusals


def test_there_may_be_no_such_row(desk: Desk) -> None:
    desk.write(desk.past("old"))
    assert desk("resume", "nobody").code == 7


def test_what_still_runs_is_refused(desk: Desk) -> None:
    desk.create()
    refused(desk, "api", "api is still running")
    assert alive(desk.agent())


def test_a_row_without_an_id_is_refused(desk: Desk) -> None:
    desk.write(desk.past("old") | {"claude_session_id_own": None})
    refused(desk, "old", "nobody has noted the id")


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_an_id_that_an_agent_would_take_for_an_option_is_refused(desk: Desk, agent: str) -> None:
    """A repository may bring the list: what stands there must not become a flag of an agent."""
    row = desk.past("old") | {"agent": agent}
    row[f"{agent}_session_id_own"] = "--dangerously-skip-permissions"
    desk.write(row)
    refused(desk, "old", "take for an option")


def test_a_row_that_is_not_to_be_resumed_is_refused(desk: Desk) -> None:
    desk.write(desk.past("old", resumable=False))
    refused(desk, "old", "`resumable: false`")


def test_a_conversation_whose_file_is_gone_is_refused(desk: Desk) -> None:
    old = desk.past("old")
    desk.write(old)
    desk.transcript(old["claude_session_id_own"]).unlink()
    refused(desk, "old", "is gone; nothing to resume")


def test_a_conversation_that_another_has_open_is_refused(desk: Desk) -> None:
    row = desk.opened()
    desk.write(row, desk.past("old", row["claude_session_id_own"]))
    refused(desk, "old", "its conversation is open in another process")


def test_a_row_that_does_not_tell_its_directory_is_refused(desk: Desk) -> None:
    desk.write(desk.past("old") | {"pane": {"cmd": "claude"}})
    refused(desk, "old", "does not tell its directory")


def test_a_directory_that_is_gone_is_refused(desk: Desk) -> None:
    desk.write(desk.past("old") | {"pane": {"cmd": "claude", "cwd": "/gone"}})
    refused(desk, "old", "there is no directory /gone any more")


def test_a_session_of_another_machine_is_refused(desk: Desk) -> None:
    desk.write(desk.past("old", host="elsewhere"))
    refused(desk, "old", "old is a session of elsewhere")


def test_a_name_that_another_session_has_by_now_is_refused(desk: Desk, office: Office) -> None:
    office.tmux.start("cat", "old")
    desk.write(desk.past("old"))
    refused(desk, "old", "not the one of the list")
    assert office.sessions() == ["old"]


def test_two_rows_that_both_run_are_refused(desk: Desk) -> None:
    row = desk.past("old", status="running")
    desk.write(row, row)
    refused(desk, "old", "2 rows say that old runs")


def test_an_agent_that_ends_at_once_is_told_and_its_row_stays(desk: Desk, office: Office) -> None:
    desk.write(desk.past("old"))
    office.begin("exit 1")
    done = desk("resume", "old")
    assert done.code == 12
    assert "ended at once" in done.err
    assert desk.row("old")["status"] == "stopped"
    assert office.sessions() == []


def test_two_at_once_start_one(desk: Desk, office: Office) -> None:
    desk.write(desk.past("old"))
    both = [office.box.start("session", "resume", "old") for _ in range(2)]
    said = [each.communicate(timeout=60)[1] for each in both]
    # Who comes while the other's agent begins is refused; who comes later finds that it goes on.
    assert sorted(each.returncode for each in both) in ([0, 12], [0, 0]), said
    assert len(office.starts()) == 1
    assert desk.row("old")["status"] == "running"


# After a reboot


def fallen(desk: Desk, name: str, **more: object) -> dict[str, object]:
    """The row of a session that ran when the machine went down."""
    row = desk.past(name, status="running")
    pane = row["pane"] | {"pid": 4_000_000, "start": 1, "boot": "the one before"}
    return row | {"pane": pane} | more


def test_what_would_be_restored_is_shown(desk: Desk, office: Office) -> None:
    one, two = fallen(desk, "one"), desk.past("two", status="terminated", termination_mode="auto-detected")
    meant = [desk.past(f"meant-{mode}", status="terminated", termination_mode=mode) for mode in ("graceful", "forced")]
    desk.write(one, two, desk.past("three"), desk.past("four", status="terminated"), *meant)
    before = desk.path.read_text()
    done = desk("restore", "--dry-run")
    assert done.code == 0
    assert [line.split(" (in")[0] for line in done.out.splitlines()] == [
        f"{row['name']}: would be resumed: claude --resume {row['claude_session_id_own']}" for row in (one, two)
    ]
    assert (desk.path.read_text(), office.starts()) == (before, [])


def test_what_ended_without_being_stopped_and_cannot_be_restored_is_listed_with_the_reason(desk: Desk) -> None:
    desk.write(
        fallen(desk, "one", claude_session_id_own=None), fallen(desk, "two", resumable=False), desk.past("three"),
        desk.past("four", status="terminated", termination_mode="auto-detected") | {"claude_session_id_own": None},
    )  # fmt: skip
    done = desk("restore", "--dry-run")
    assert done.code == 0, done
    one, two, four = done.out.splitlines()
    assert one.startswith("one: cannot be restored: nobody has noted the id of one's conversation")
    assert two.startswith("two: cannot be restored: two is not to be resumed")
    assert four.startswith("four: cannot be restored: nobody has noted the id")
    found = desk.lines("restore", "--dry-run")
    assert [(name, each["outcome"]) for name, each in found.items()] == [
        (name, "impossible") for name in ("one", "two", "four")
    ]


def test_what_ran_is_restored_and_nothing_else(desk: Desk, office: Office) -> None:
    wanted = {name: fallen(desk, name) for name in ("one", "two")}
    desk.write(
        *wanted.values(), desk.past("stopped"), desk.past("ended", status="terminated"),
        desk.past("archived", status="archived"), fallen(desk, "unwanted", resumable=False),
        fallen(desk, "unknown", claude_session_id_own=None), fallen(desk, "elsewhere", host="elsewhere"),
    )  # fmt: skip
    done = desk("restore", "--json")
    assert done.code == 0, done
    assert office.sessions() == ["one", "two"]
    ids = {row["claude_session_id_own"] for row in wanted.values()}
    until(lambda: {start["argv"][1] for start in office.starts()} == ids)
    assert {row["name"] for row in desk.rows() if row["status"] == "running"} == {
        "one", "two", "unwanted", "unknown", "elsewhere",
    }  # fmt: skip


def test_one_that_fails_does_not_stop_the_others(desk: Desk, office: Office) -> None:
    gone = fallen(desk, "gone")
    desk.write(gone, fallen(desk, "well"))
    desk.transcript(str(gone["claude_session_id_own"])).unlink()
    done = desk("restore", "--json")
    assert done.code == 1
    assert "gone is not resumed" in done.err
    assert office.sessions() == ["well"]
    told = [yaml.safe_load(line) for line in done.out.splitlines()]
    assert [(each["name"], each["outcome"]) for each in told] == [("gone", "failed"), ("well", "resumed")]


def test_what_still_runs_is_not_restored(desk: Desk, office: Office) -> None:
    desk.write(desk.opened())
    done = desk("restore")
    assert done.code == 0
    assert "nothing is to be restored" in done.err
    assert len(office.starts()) == 1


def test_what_cannot_be_told_is_not_restored_and_said(desk: Desk, office: Office) -> None:
    desk.write(desk.past("one", status="running"), desk.past("two", status="terminated"))
    office.tmux.start("cat", "others")
    server = office.tmux.pid
    kill(server, signal.SIGSTOP)
    try:
        done = desk("restore")
    finally:
        kill(server, signal.SIGCONT)
    assert done.code == 1
    assert "whether one runs cannot be told" in done.err
    assert "two" not in done.err
    assert office.starts() == []
