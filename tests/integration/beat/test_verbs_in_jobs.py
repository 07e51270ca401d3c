"""A verb that runs for hours beats for the job that it runs in, after each pass of its loop: it is not stuck."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import pytest

from tests.conftest import Box, until
from tests.integration.beat.inside import JOB, MIDWATCH, becomes_stuck, inside, last_beat, state, stays_working
from tests.integration.compat.stories import Stories
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private
from tests.integration.reconcile.workspace import Workspace
from tests.integration.send.conftest import Agent
from tests.integration.session.desk import Desk
from tests.integration.spawn.office import Office
from tests.integration.three_layer_monitor.tasks import Task
from tests.integration.wait.watching import Gate, start, start_gated
from tests.integration.watchdog.swarm import TITLE, Swarm
from tests.lab.mosquitto import Mosquitto

BEAT = " ".join((*MIDWATCH, "beat"))


@pytest.mark.parametrize("words", [("wait",), ("wait", "--until", "final"), ("logs", "-f"), ("events", "--follow")])
def test_what_watches_a_job_that_is_silent_is_working(box: Box, words: tuple[str, ...]) -> None:
    start(box, "build", "sleep", "300")
    inside(box, *MIDWATCH, words[0], "build", *words[1:])
    stays_working(box)


def test_a_wait_for_what_is_not_there_yet_is_working(box: Box) -> None:
    inside(box, *MIDWATCH, "wait", "build", "--start", "1h")
    stays_working(box)


def test_a_wait_of_a_program_is_working(box: Box) -> None:
    start(box, "build", "sleep", "300")
    inside(box, sys.executable, "-c", "import midwatch; midwatch.wait('build')")
    stays_working(box)


@pytest.mark.parametrize("call", ["midwatch.wait('build')", "asyncio.run(midwatch.aio.wait('build'))"])
def test_a_wait_beside_the_first_thread_says_nothing_of_the_program(box: Box, call: str) -> None:
    start(box, "build", "sleep", "300")
    program = f"import asyncio, threading, midwatch; threading.Thread(target=lambda: {call}).start()"
    inside(box, sys.executable, "-c", program)
    becomes_stuck(box)


def test_a_monitor_is_working(office: Office) -> None:
    office.spawned(prompt="work")
    inside(office.box, *MIDWATCH, "monitor", "api")
    stays_working(office.box)


def test_a_monitor_beside_the_one_that_acts_is_working(office: Office) -> None:
    office.spawned(prompt="work")
    office.monitor()
    office.until_watched("working")
    inside(office.box, *MIDWATCH, "monitor", "api")
    stays_working(office.box)


def test_a_monitor_of_a_pane_is_working(office: Office) -> None:
    office.spawned(prompt="work")
    inside(office.box, *MIDWATCH, "monitor", "=api", "-S", str(office.tmux.socket))
    stays_working(office.box)


def test_a_step_is_working(office: Office) -> None:
    where = ("--agent", "claude", "--socket", str(office.tmux.socket))
    inside(office.box, *MIDWATCH, "step", "api", *where, "--prompt", "work", progress="output,beat")
    stays_working(office.box)


def test_a_delegated_task_is_working(office: Office) -> None:
    Desk(office).create()
    inside(office.box, *MIDWATCH, "session", "delegate", "api", "--prompt", "work", progress="output,beat")
    stays_working(office.box)


def test_a_prompt_that_waits_for_its_turn_is_working(box: Box, agent: Agent) -> None:
    agent.state("busy")
    inside(box, *MIDWATCH, "send", agent.pane, *agent.private.server, "--wait", "10m", "hello")
    stays_working(box)


def test_a_monitor_of_a_task_directory_is_working(box: Box, task: Task) -> None:
    task.begin()
    server = ("-S", str(task.private.socket))
    inside(box, *MIDWATCH, "monitor", task.name, "--task-dir", str(task.dir), *server, MONITOR_BASE_INTERVAL="200")
    stays_working(box)


@pytest.mark.parametrize("own", [True, False], ids=["ours", "a shell of somebody else"])
def test_the_monitor_of_a_story_is_working(office: Office, own: bool) -> None:
    stories = Stories(office)
    if own:
        session = stories.agent("work")
    else:
        session = "sa-somebody"
        office.tmux.start("cat", session)
    inside(office.box, sys.executable, "-m", "midwatch.compat.story_automator", "monitor-session", session, "--json")
    stays_working(office.box)


def test_a_reconcile_that_stays_is_working(workspace: Workspace) -> None:
    workspace.write("sessions: []\n")
    inside(workspace.box, *MIDWATCH, "reconcile", "--watch", "--interval", "1h", progress="output,beat")
    stays_working(workspace.box)


def test_a_reconcile_that_listens_to_a_broker_is_working(workspace: Workspace, mosquitto: Mosquitto) -> None:
    workspace.write("sessions: []\n")
    words = ("reconcile", "--subscribe", "--interval", "1h", "--idle-timeout", "0")
    inside(workspace.box, *MIDWATCH, *words, progress="output,beat", MIDWATCH_MQTT_URL=mosquitto.url)
    stays_working(workspace.box)


def test_a_watchdog_is_working(swarm: Swarm) -> None:
    where = ("--session", "work", *swarm.private.server, "--project-dir", str(swarm.project))
    inside(swarm.box, *MIDWATCH, "watchdog", "run", *where, "--controller-title-regex", TITLE)
    stays_working(swarm.box)


def test_a_recording_is_working(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "idle-fresh")
    out = str(tmp_path / "t.jsonl")
    inside(box, *MIDWATCH, "record", pane, *private.server, "--every", "1h", "-o", out)
    stays_working(box)


# What blocks --------------------------------------------------------------------------------------------------------


class FullPipe:
    """Somebody who listens to a verb, and has stopped reading: whoever writes there is blocked."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(self._fd, b"." * 4096)

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                os.read(self._fd, 65536)

    def close(self) -> None:
        os.close(self._fd)


def test_a_loop_that_is_blocked_is_stuck_and_working_again_when_it_goes_on(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "first", "true")
    start(box, "second", "sleep", "300")
    pipe = FullPipe(box.cwd / "listener")
    try:
        inside(box, "sh", "-c", f"exec {' '.join(MIDWATCH)} wait first second > {pipe.path}")
        until(lambda: last_beat(box) > 0)
        gate.say()  # `wait` tells of it, to somebody who does not read
        becomes_stuck(box)
        silent = last_beat(box)
        pipe.drain()
        until(lambda: last_beat(box) > silent)
        until(lambda: state(box)["state"] == "working")
    finally:
        pipe.close()


def test_a_monitor_that_is_blocked_is_stuck(office: Office) -> None:
    office.spawned(prompt="work")
    pipe = FullPipe(office.home / "listener")
    try:
        inside(office.box, "sh", "-c", f"exec {' '.join(MIDWATCH)} monitor api 2> {pipe.path}")
        becomes_stuck(office.box)
    finally:
        pipe.close()


def test_a_job_that_waits_for_itself_is_stuck(box: Box) -> None:
    inside(box, *MIDWATCH, "wait", JOB, "--until", "final")
    becomes_stuck(box)


# What the work says itself ------------------------------------------------------------------------------------------


def test_what_the_work_has_said_stays(box: Box) -> None:
    start(box, "build", "sleep", "300")
    script = f"{BEAT} --note 'step 2 of 3' --progress 0.4; exec {' '.join(MIDWATCH)} wait build"
    inside(box, "sh", "-c", script)
    stays_working(box)
    assert "step 2 of 3 (40% done)" in box("why", JOB).out


def test_a_beat_of_a_loop_has_no_words(box: Box) -> None:
    start(box, "build", "sleep", "300")
    inside(box, *MIDWATCH, "wait", "build")
    box.until_file(f"drop/{JOB}/{JOB}.beat")
    assert "the work says" not in box("why", JOB).out
    assert [path.name for path in box.dir.rglob(".*")] == []
