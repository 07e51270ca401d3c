"""One reminder for each wait, if a look at the session says that it still waits; and a word when work continues."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator

import pytest

from midwatch.shim.announce import LATE, ParentChannel
from midwatch.shim.run_files import RunFiles
from midwatch.system import due_time, procfs
from tests.conftest import kill, until
from tests.integration.monitor.test_monitor_others import on, opened
from tests.integration.notify.conftest import Notices
from tests.integration.spawn.office import Office, office

__all__ = ["office"]

SOON = 'remind = "300ms"\n'


@pytest.fixture
def notices(office: Office) -> Iterator[Notices]:
    found = Notices(office.box, office.home)
    found.mine(SOON + found.command(fields='"{kind}", "{state}", "{name}"'))
    yield found
    for pid in found.tellers():
        kill(pid, signal.SIGKILL)


def waits(office: Office, notices: Notices, target: str = "api", *more: str) -> None:
    """A monitor has told that it waits, and is gone."""
    assert office.monitor(target, *more).end()["state"] == "waiting"
    until(lambda: len(notices.delivered()) == 1 and not notices.tellers())


def come_by(office: Office) -> bool:
    """Any command of a person, which has sent what is due."""
    return office.box("ls").code == 0


def test_whoever_comes_by_sends_one_reminder_of_a_session_that_still_waits(office: Office, notices: Notices) -> None:
    office.spawned(prompt="ask")
    waits(office, notices)
    [kept] = notices.reminders()
    assert (kept["tries"], kept["sent"]["boot"]) == (0, procfs.boot_id())
    until(lambda: come_by(office) and len(notices.delivered()) == 2)
    until(lambda: not notices.tellers())
    assert notices.delivered() == [["change", "waiting", "api"], ["reminder", "waiting", "api"]]
    assert notices.box("notify", "--pending").code == 0
    assert (len(notices.delivered()), notices.outbox()) == (2, [])
    assert [event.get("kind", "") for event in notices.events("notice")] == ["", "reminder"]


def test_no_reminder_is_sent_once_it_was_answered_though_nobody_watched(office: Office, notices: Notices) -> None:
    record = office.spawned(prompt="ask")
    waits(office, notices)
    office.tmux("send-keys", "-t", record["pane"]["id"], "y")
    office.until_state("idle")
    until(lambda: come_by(office) and notices.outbox() == [])
    until(lambda: not notices.tellers())
    assert notices.delivered() == [["change", "waiting", "api"]]
    assert notices.events("undelivered") == []
    [told] = [path for path in (office.box.dir / "outbox" / "told").iterdir() if path.name.startswith("api.")]
    assert not json.loads(told.read_text())["open"]


def test_a_pane_of_others_is_looked_at_as_well(office: Office, notices: Notices) -> None:
    pane = opened(office, "ask")
    waits(office, notices, pane, *on(office))
    until(lambda: come_by(office) and len(notices.delivered()) == 2)
    assert notices.delivered()[1] == ["reminder", "waiting", pane]


def test_no_reminder_of_an_agent_that_is_gone(office: Office, notices: Notices) -> None:
    pane = opened(office, "ask")
    waits(office, notices, pane, *on(office))
    kill(office.start(1)["pid"], signal.SIGKILL)
    until(lambda: come_by(office) and notices.outbox() == [])
    assert len(notices.delivered()) == 1


def test_without_a_time_for_it_there_is_no_reminder(office: Office, notices: Notices) -> None:
    notices.mine("remind = 0\n" + notices.command(fields='"{state}"'))
    office.spawned(prompt="ask")
    waits(office, notices)
    assert notices.outbox() == []


def test_that_work_continues_is_sent_to_who_wants_it(office: Office, notices: Notices) -> None:
    notices.mine('level = "all"\n' + notices.command(fields='"{text}"'))
    record = office.spawned(prompt="ask")
    waits(office, notices)
    office.tmux("send-keys", "-t", record["pane"]["id"], "y")
    office.until_state("idle")
    office.box("send", "api", "work")
    watcher = office.monitor()
    watcher.until_said("working")
    office.go()
    watcher.end()
    until(lambda: not notices.tellers())
    texts = [text for [text] in notices.delivered()]
    begins = ("api waits for a permission", "api continues after it waited ", "api completed: ")
    assert [text.startswith(begin) for text, begin in zip(texts, begins, strict=True)] == [True] * 3, texts
    assert all(text.endswith(" · midwatch attach api") for text in texts), texts


def test_the_shim_of_a_session_sends_what_nobody_else_has_sent_in_time(tmp_path: os.PathLike[str]) -> None:
    """No monitor runs, and no command: the shim of the session that waits is there."""
    folder = os.fspath(tmp_path)
    for part in ("spool", "outbox"):
        os.mkdir(f"{folder}/{part}")
    notes = RunFiles(folder, {"run": "r1", "name": "x", "breaker": None, "boot": procfs.boot_id()})
    voice, due, now = ParentChannel(notes, -1, ["/bin/true"]), f"{folder}/outbox/.due", time.monotonic()
    voice.send_due(now)
    for rest, started in ((60.0, 0), (-LATE + 5, 0), (-LATE - 5, 1)):
        with open(due, "w") as file:
            file.write(due_time.format_due_time(rest, procfs.boot_id(), "n"))
        voice.send_due(now)
        assert len(voice.tellers) == started
    voice.send_due(now + 1)
    assert len(voice.tellers) == 1  # the one that it started may be at it
    voice.send_due(now + 61)
    assert len(voice.tellers) == 2
    for pid in voice.tellers:
        os.waitpid(pid, 0)
