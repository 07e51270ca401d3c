"""In a sandbox that has only its drop box, work says what it has to say, and can do nothing else."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from midwatch.agents import catalog
from midwatch.config import paths
from midwatch.sessions.pane_observer import PaneObserver
from tests.conftest import Box, alive, until
from tests.integration.drop.test_drop_box import BEAT, drop
from tests.integration.hooks.calling import SCRIPT
from tests.integration.spawn.office import Office
from tests.integration.wait.watching import Gate, start

MIDWATCH = f"{sys.executable} -m midwatch"


def run(box: Box, sandboxed: str, script: str, name: str = "job") -> None:
    start(box, name, sandboxed, "sh", "-c", script)


def test_a_job_beats_leaves_a_result_and_sends_mail(box: Box, sandboxed: str) -> None:
    script = (
        f"{BEAT} --note inside --progress 0.5 && echo 7 | {BEAT} --note inside --result - && "
        f"{MIDWATCH} mail send --to controller --subject done 'all of it'"
    )
    run(box, sandboxed, script)
    done = box("wait", "job", "--json")
    assert (done.code, done.json["result"]) == (0, 7), box("logs", "job")
    assert "inside" in box("why", "job").out
    found = box("mail", "inbox", "--json").json
    assert (found["from"], found["to"], found["subject"]) == ("job", "controller", "done")


def test_a_report_arrives_though_there_is_no_tmux_inside(box: Box, sandboxed: str) -> None:
    run(box, sandboxed, f"{MIDWATCH} handoff --task bd-1 --status done")
    assert box("wait", "job").code == 0
    assert "the ping was not delivered" in box("logs", "job").out
    assert box("mail", "inbox", "--json").json["task"] == "bd-1"


@pytest.mark.parametrize(
    "what", ["job.json", "job.status", "other.json", "job.ending", "spool/x", "drop/other/other.beat"]
)
def test_nothing_else_can_be_written(box: Box, sandboxed: str, what: str) -> None:
    start(box, "other", "sleep", "300")
    run(box, sandboxed, f"echo SUCCESS > {shlex.quote(str(box.dir / what))} && echo written; exit 0")
    assert box("wait", "job").code == 0
    assert "written" not in box("logs", "job").out
    assert "cannot create" in box("logs", "job").out


def test_other_subjects_cannot_be_seen(box: Box, sandboxed: str) -> None:
    start(box, "other", "sleep", "300")
    run(box, sandboxed, f"ls -A {box.dir} {box.dir}/drop")
    assert box("wait", "job").code == 0
    assert box("logs", "job").out.split() == [f"{box.dir}:", "drop", f"{box.dir}/drop:", "job"]


def test_mail_can_be_read_where_it_is_shown(box: Box, sandboxed: str) -> None:
    ids = [box("mail", "send", "--to", to, "--subject", "s", "t", "--json").json["id"] for to in ("job", "other")]
    run(box, sandboxed, f"{MIDWATCH} mail show {' '.join(ids)} > /dev/null && {MIDWATCH} mail inbox --unread")
    assert box("wait", "job").code == 0, box("logs", "job")
    assert "no unread mail here" in box("logs", "job").out
    states = {row["id"]: row["state"] for row in map(json.loads, box("mail", "inbox", "--json").out.splitlines())}
    assert states == {ids[0]: "read", ids[1]: "new"}


def test_without_its_directory_mail_says_that_it_cannot_be_seen(box: Box, sandboxed: str) -> None:
    run(box, sandboxed, f"{MIDWATCH} mail inbox; echo ended with $?")
    assert box("wait", "job").code == 0
    assert "cannot be seen in this sandbox" in box("logs", "job").out
    assert "ended with 12" in box("logs", "job").out


def test_a_verb_that_runs_for_long_beats_inside(box: Box, sandboxed: str) -> None:
    """It cannot see the record of its job, nor the one that it waits for."""
    run(box, sandboxed, f"{MIDWATCH} wait nothing --start 1h")
    box.until_file("drop/job/job.beat")


def test_stop_ends_everything_in_the_sandbox(box: Box, sandboxed: str, gate: Gate) -> None:
    run(box, sandboxed, f"sleep 300 & echo ready; read x < {gate.path}")
    box.until_file("job.log", lambda text: "ready" in text)
    _, work = box.pids("job")
    assert box("stop", "job", "--json").json["state"] == "stopped"
    assert not alive(work)


def test_a_session_in_a_sandbox_tells_of_its_turn_by_its_hooks(office: Office, sandboxed: str, gate: Gate) -> None:
    """Only the drop box is there to write to; the hook's own spool is not."""
    real = office.install("claude")
    real.rename(office.home / "bin" / "claude-real")
    hook = f'while read -r line; do printf %s "$line" | sh {SCRIPT} /nowhere claude; done < {gate.path} &'
    inside = f'{hook} cd {office.cwd} && exec claude-real "$@"'
    real.write_text(f'#!/bin/sh\ncd {office.home} && exec {sandboxed} sh -c {shlex.quote(inside)} - "$@"\n')
    real.chmod(0o755)
    office.spawned()
    for name in ("UserPromptSubmit", "Stop"):
        gate.say(json.dumps({"hook_event_name": name, "session_id": "forged"}))
        until(lambda told=name: hook_says(office) == told)  # type: ignore[misc]
    assert {path.name for path in drop(office.box, "api").iterdir()} == {"run", "claude.events"}
    assert not (office.home / "state" / "midwatch" / "hooks").exists()


def hook_says(office: Office) -> str:
    """What the hooks of its session said last, as every face hears it."""
    panes = PaneObserver(catalog.load_all(), paths.hook_spool(), office.tmux.server)
    try:
        found = [report for seen in panes.observe().seen for report in seen.sighting.reports if report.source == "hook"]
    finally:
        panes.close()
    assert not [report for report in found if "conversation" in report.words]
    return found[0].words["event"] if found else ""
