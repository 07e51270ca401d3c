"""`midwatch clean` removes what has ended, and says what stays and why."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from midwatch.core.job_model import PaneRef
from midwatch.system import processes
from midwatch.tmux import dead_panes
from tests.conftest import Box, Done, alive, kill, until, until_gone
from tests.integration.session.test_session_watched import reboot
from tests.integration.spawn.office import Office
from tests.integration.wait.watching import start


def ended(box: Box, name: str, *command: str) -> None:
    start(box, name, *(command or ("true",)))
    box("wait", name)


def clean(box: Box, *words: str) -> dict[tuple[str, str | None], dict[str, Any]]:
    """What `clean` says of each thing, by kind and name."""
    found = [json.loads(line) for line in box("clean", "--json", *words).out.splitlines()]
    return {(each["kind"], each["name"]): each for each in found}


def left(box: Box) -> list[str]:
    """Everything of jobs that is in the directory."""
    found = [path.relative_to(box.dir) for path in box.dir.rglob("*") if path.is_file()]
    return sorted(
        str(path) for path in found if path.parts[0] not in ("spool", "outbox") and "journal" not in path.name
    )


def test_ended_jobs_go_with_all_that_is_theirs(box: Box) -> None:
    for _ in range(3):
        ended(box, "build", "sh", "-c", "echo hello; echo '{}' > $MIDWATCH_DIR/$MIDWATCH_NAME.result")
    ended(box, "fail", "false")
    found = clean(box)
    assert {key: each["removed"] for key, each in found.items() if key[0] != "spools"} == {
        ("job", "build"): True, ("archive", "build"): True, ("job", "fail"): True,
    }  # fmt: skip
    assert found["archive", "build"]["count"] == 2
    assert left(box) == []
    assert box("ls", "--json").out == ""


def test_what_runs_stays_with_its_archived_runs(box: Box) -> None:
    ended(box, "server")
    start(box, "server", "sleep", "300")
    before = left(box)
    found = clean(box)
    assert [found[key]["removed"] for key in found if key[0] != "spools"] == [False]
    assert left(box) == before
    assert alive(box.pids("server")[1])


def test_a_job_that_lost_its_shim_stays_while_its_work_runs(box: Box) -> None:
    start(box, "alone", "sleep", "300")
    kill(box.pids("alone")[0], signal.SIGKILL)
    assert not clean(box)["job", "alone"]["removed"]
    assert alive(box.pids("alone")[1])


def test_an_ended_job_stays_while_a_process_of_it_runs(box: Box) -> None:
    ended(box, "daemon", "sh", "-c", "setsid sleep 300 > /dev/null 2>&1 &")
    [left_over] = processes.find_run_processes(box.record("daemon")["run"])
    done = box("clean", "daemon")
    assert (done.code, "1 of its processes still runs" in done.out) == (12, True)
    assert alive(left_over)
    kill(left_over, signal.SIGKILL)
    until_gone(left_over)
    assert clean(box, "daemon")["job", "daemon"]["removed"]


def test_the_name_can_be_used_again_afterwards(box: Box) -> None:
    ended(box, "build")
    clean(box)
    ended(box, "build", "false")
    assert box("ls", "--json").json["state"] == "failed"


@pytest.mark.parametrize("verb", ["clean", "rm"])
def test_a_name_means_that_job_alone(box: Box, verb: str) -> None:
    ended(box, "build")
    ended(box, "test")
    done = box(verb, "build")
    assert done.code == 0
    assert done.out.startswith("removed 1 job (")
    assert [json.loads(line)["name"] for line in box("ls", "--json").out.splitlines()] == ["test"]


def test_a_job_that_is_named_and_lives_is_refused_with_advice(box: Box) -> None:
    start(box, "server", "sleep", "300")
    done = box("clean", "server")
    assert done.code == 12
    assert "kept server: it is working; `midwatch stop server` ends it" in done.out


def test_a_name_that_is_not_there_is_not_found(box: Box) -> None:
    ended(box, "build")
    done = box("clean", "nobody", "build")
    assert done.code == 7
    assert "there is no job 'nobody'" in done.err
    assert left(box) == []


def test_a_dry_run_says_the_same_and_changes_nothing(box: Box) -> None:
    ended(box, "build")
    ended(box, "build")
    before = left(box)
    dry = clean(box, "--dry-run")
    assert left(box) == before
    assert {(key, each["count"]) for key, each in dry.items()} == {(("job", "build"), 1), (("archive", "build"), 1)}
    assert not any(each["removed"] for each in dry.values())
    wet = clean(box)
    assert {key: each["bytes"] for key, each in dry.items()} == {key: wet[key]["bytes"] for key in dry}


def test_older_keeps_what_ended_since(box: Box) -> None:
    ended(box, "new")
    ended(box, "old")
    record = box.record("old")
    record["end"]["at"] -= 8 * 86400
    box.path("old.json").write_text(json.dumps(record) + "\n")
    found = clean(box, "--older", "7d")
    assert (found["job", "old"]["removed"], found["job", "new"]["removed"]) == (True, False)
    assert printed(box("clean", "--older", "7d"))[1:] == ["1 that ended since then stays"]
    assert "kept new: it ended" in box("clean", "new", "--older", "7d").out


def test_mail_that_waits_in_a_drop_box_keeps_its_job(box: Box) -> None:
    ended(box, "boxed")
    box.path("drop/boxed/abc123.md").write_text("Subject: hello\n")
    found = clean(box, "boxed")["job", "boxed"]
    assert (found["removed"], "mail in its drop box" in found["reason"]) == (False, True)


def test_what_midwatch_did_not_start_stays(box: Box) -> None:
    ended(box, "ours")
    box.path("step.status").write_text("SUCCESS\n")
    clean(box)
    assert left(box) == ["step.status"]


def test_a_directory_that_others_may_write_to_is_refused(box: Box) -> None:
    ended(box, "build")
    box.dir.chmod(0o777)
    done = box("clean")
    assert done.code == 12
    assert "nothing is removed there" in done.err
    assert box.path("build.json").exists()


def test_who_starts_a_name_and_who_removes_it_never_meet(box: Box) -> None:
    for _ in range(3):
        ended(box, "build")
        calls = [box.start("clean", "build") for _ in range(3)]
        begun = box("run", "-d", "--name", "build", "--", "sleep", "300")
        for call in calls:
            call.communicate()
        assert (begun.code == 0) == ("working" in box("ls", "--json").out), begun
        assert begun.code == 0 or "is being started by someone else" in begun.err
        box("stop", "build")


# Mail and journal ---------------------------------------------------------------------------------------------------


def mail_ids(box: Box) -> list[str]:
    return sorted(path.stem for path in box.dir.glob("mail/*.md"))


def sent(box: Box, *more: str) -> str:
    return str(
        box("mail", "send", "--to", "bob", "--subject", "x", "--from", "ann", "--json", *more, "hello").json["id"]
    )


def test_read_mail_goes_and_unread_mail_stays_with_its_thread(box: Box) -> None:
    read, unread, first = sent(box), sent(box), sent(box)
    answer = sent(box, "--thread", first)
    assert box("mail", "show", read, first).code == 0
    assert clean(box)["mail", None]["count"] == 1
    assert mail_ids(box) == sorted([unread, first, answer])
    assert box("mail", "ack", unread, answer).code == 0
    clean(box)
    assert list(box.dir.glob("mail/*")) == []


def test_spools_go_into_the_journal_and_old_events_of_runs_that_are_gone_go(box: Box) -> None:
    ended(box, "build")
    start(box, "server", "sleep", "300")
    run = box.record("build")["run"]
    clean(box)
    assert not list(box.dir.glob("spool/build.*"))
    assert run in box("events", "--json").out
    seqs = [json.loads(line)["seq"] for line in box("events", "--json").out.splitlines()]
    assert clean(box, "--older", "0s").get(("events", None)) is None  # zero is as good as not given
    assert clean(box, "--older", "1ms")["events", None]["count"] > 0
    events = [json.loads(line) for line in box("events", "--json").out.splitlines()]
    assert {event["name"] for event in events} == {"server"}
    assert box("stop", "server").code == 0
    newer = [json.loads(line)["seq"] for line in box("events", "--json").out.splitlines()]
    assert max(newer) > max(seqs)


# Sessions -----------------------------------------------------------------------------------------------------------


def over(office: Office, name: str = "api") -> dict[str, Any]:
    record = office.spawned(name)
    assert office.box("stop", name).code == 0
    until(lambda: office.pane("#{pane_dead}", name) == "1")
    return record


def test_the_dead_session_of_an_ended_agent_goes_with_it(office: Office) -> None:
    over(office)
    office.tmux.start("cat", "desk")
    found = clean(office.box)
    assert found["session", "api"]["removed"]
    assert found["pane", "api"]["removed"]
    assert office.sessions() == ["desk"]


def test_a_session_that_lives_stays(office: Office) -> None:
    office.spawned()
    assert not clean(office.box)["session", "api"]["removed"]
    assert office.sessions() == ["api"]


def test_what_a_person_opened_beside_our_pane_stays(office: Office) -> None:
    over(office)
    window = office.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=api:", "cat").strip()
    assert clean(office.box)["session", "api"]["removed"]
    assert office.tmux("list-panes", "-s", "-t", "=api", "-F", "#{pane_id}").split() == [window]


def test_a_pane_in_which_a_person_began_something_else_stays(office: Office) -> None:
    record = over(office)
    office.tmux("respawn-pane", "-t", record["pane"]["id"], "cat")
    done = office.box("clean", "api")
    assert (done.code, "something else runs in its pane" in done.out) == (12, True)
    assert office.box.path("api.json").exists()


def test_a_session_that_a_person_looks_at_stays(office: Office) -> None:
    over(office)
    with office.attached():
        until(lambda: office.tmux("list-clients") != "")
        done = office.box("clean", "api")
        assert (done.code, "a tmux client shows its pane" in done.out) == (12, True)
    assert office.sessions() == ["api"]


def test_tmux_itself_closes_no_pane_that_lives(office: Office) -> None:
    """Whatever was seen before."""
    pane = office.spawned()["pane"]
    seat = PaneRef(tuple(pane["server"]), pane["id"], pane["session"], pane["life"])
    assert dead_panes.close_if_dead(seat) == "alive"
    assert office.box("stop", "api").code == 0
    until(lambda: office.pane("#{pane_dead}") == "1")
    with office.attached():
        until(lambda: office.tmux("list-clients") != "")
        assert dead_panes.close_if_dead(seat) == "attached"
    until(lambda: office.tmux("list-clients") == "")
    assert dead_panes.close_if_dead(seat._replace(life="1 1")) == "gone"
    assert office.sessions() == ["api"]
    assert dead_panes.close_if_dead(seat) == "gone"
    assert office.sessions() == []


def test_after_a_restart_of_tmux_nothing_of_others_is_closed(office: Office) -> None:
    over(office)
    office.tmux.stop()
    office.tmux.start("cat", "api")
    assert clean(office.box)["session", "api"]["removed"]
    assert office.sessions() == ["api"]


def test_a_session_that_a_monitor_watches_stays(office: Office) -> None:
    over(office)
    watch = {
        "schema": 1, "run": office.box.record("api")["run"], "boot": "b", "monitor": [1, 1], "began": 1.0, "at": 1.0,
        "patience": [600.0, 30.0], "clock": "life", "resumes": 3, "agent": [0, 0], "memory": None, "acting": "",
        "verdict": None, "left": False,
    }  # fmt: skip
    office.box.path("api.halt").unlink()
    office.box.path("api.watch").write_text(json.dumps(watch))
    done = office.box("clean", "api")
    assert (done.code, "a monitor watches it" in done.out) == (12, True)
    os.unlink(office.box.path("api.watch"))
    assert clean(office.box, "api")["session", "api"]["removed"]


def test_a_watched_session_that_a_reboot_tore_off_can_still_be_restored(office: Office) -> None:
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    reboot(office, "api.monitor", "api")
    assert office.listed() == {"api": "crashed", "api.monitor": "crashed"}
    found = clean(office.box)
    assert (found["session", "api"]["removed"], found["job", "api.monitor"]["removed"]) == (False, False)
    assert office.box("session", "restore", "--json").json["outcome"] == "resumed"
    office.go()
    assert office.box("wait", "api.monitor", "--json").json["state"] == "completed"
    assert office.box("stop", "api").code == 0
    until(lambda: office.pane("#{pane_dead}") == "1")
    clean(office.box)
    assert office.listed() == {}


def test_that_a_person_stopped_a_watch_is_not_forgotten(office: Office) -> None:
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    assert office.box("stop", "api.monitor").code == 0
    office.box("wait", "api.monitor")
    done = office.box("clean", "api.monitor")
    assert (done.code, "it watches api" in done.out) == (12, True)
    reboot(office, "api")
    assert "nothing is to be restored" in office.box("session", "restore").err


def printed(done: Done) -> list[str]:
    return done.out.splitlines()


def test_people_are_told_what_went_and_what_stays(box: Box) -> None:
    ended(box, "build")
    ended(box, "boxed")
    start(box, "server", "sleep", "300")
    box.path("drop/boxed/abc123.md").write_text("Subject: hello\n")
    first, *rest = printed(box("clean"))
    assert first.startswith("removed 1 job")
    assert rest == [
        "1 still at work stays",
        "kept boxed: mail in its drop box was not taken in yet; `midwatch mail inbox` does so",
    ]
