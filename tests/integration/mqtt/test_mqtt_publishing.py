"""Ends are published from the journal: once, in order, whatever becomes of the broker or of who publishes."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.integrations.mqtt.codec import messages
from midwatch.journal import journal
from midwatch.notifications import mqtt_publish, mqtt_publish_state, report_change
from tests.conftest import Box, kill, until, until_gone
from tests.lab.mosquitto import Listener, Mosquitto

HOST = os.uname().nodename


class Ends:
    """A project with a broker, and somebody who hears what is published there."""

    def __init__(self, box: Box, broker: Mosquitto) -> None:
        self.box = box
        self.broker = broker
        self.listener: Listener | None = None
        self.listeners: list[Listener] = []
        self.user_file = box.cwd / ".config" / "midwatch" / "config.toml"
        (box.cwd / ".git").mkdir()
        self.mine()

    def mine(self, *lines: str) -> None:
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        self.user_file.write_text("\n".join(("[mqtt]", f'url = "{self.broker.url}"', *lines, "")))

    def listen(self, *options: str) -> Listener:
        self.listener = Listener(self.broker, "midwatch/#", "-i", "witness", "-c", *options)
        self.listeners.append(self.listener)
        return self.listener

    def heard(self, count: int) -> list[dict[str, Any]]:
        """What was published so far, at least so many, each checked against its topic."""
        assert self.listener is not None
        found = [line.split(" ", 1) for line in self.listener.until(count)]
        assert all(messages.decode_event(topic, said.encode(), "midwatch") for topic, said in found), found
        return [json.loads(said) for _, said in found]

    def until_published(self) -> None:
        """Of what was heard: wait until whoever published it knows that, and has gone."""

        def left() -> bool:
            if (self.box.dir / "outbox/unpublished").exists() or (
                post := mqtt_publish_state.publish_lease(str(self.box.dir))
            ) is None:
                return False
            os.close(post)
            return True

        until(left, self.box.dir / "outbox")

    def until_troubled(self) -> None:
        def told() -> bool:
            mark = mqtt_publish_state.read_mark(str(self.box.dir))
            return mark is not None and bool(mark.trouble)

        until(told, self.box.dir / "outbox")

    def run(self, name: str, *command: str, **env: str) -> None:
        done = self.box("run", "-d", "--name", name, "--", *(command or ("true",)), **env)
        assert done.code == 0, done
        assert self.box("wait", name, **env).code in (0, 1)

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.box("events", "--json").out.splitlines()]


@pytest.fixture
def ends(box: Box, mosquitto: Mosquitto) -> Iterator[Ends]:
    found = Ends(box, mosquitto)
    yield found
    for listener in found.listeners:
        listener.close()


def test_the_end_of_a_job_is_published(ends: Ends) -> None:
    ends.listen()
    ends.run("build", "sh", "-c", "exit 3")
    [said] = ends.heard(1)
    record = ends.box.record("build")
    assert said["schema"] == 1
    assert (said["host"], said["project"], said["dir"]) == (HOST, str(ends.box.cwd), str(ends.box.dir))
    assert (said["name"], said["run"], said["kind"], said["event"]) == ("build", record["run"], "job", "ended")
    assert (said["state"], said["exit_code"], said["cwd"]) == ("failed", 3, str(ends.box.cwd))
    assert ends.listener is not None
    assert ends.listener.lines()[0].startswith(f"midwatch/v1/{HOST}/{ends.box.cwd.name}/build/event ")
    [ended] = [each for each in ends.events() if each["event"] == "ended"]
    assert said["seq"] == ended["seq"]
    assert said["at"] == ended["at"]


def test_each_end_is_published_once_and_in_order(ends: Ends) -> None:
    ends.listen()
    for n in range(4):
        ends.run(f"job{n}")
    heard = ends.heard(4)
    ends.until_published()
    # Nothing is left that could be published again, once the senders have gone that found nothing to do.
    until(lambda: ends.box("notify", "--pending").code == 0, ends.box.dir / "outbox")
    assert [each["name"] for each in ends.heard(4)] == ["job0", "job1", "job2", "job3"]
    assert [each["seq"] for each in heard] == sorted({each["seq"] for each in heard})


def test_without_a_broker_nothing_is_asked_for(box: Box) -> None:
    assert box("run", "--name", "plain", "--", "true").code == 0
    assert "notify" not in box.record("plain")
    assert not box.path("outbox").exists()


def test_what_ends_while_the_broker_is_down_is_published_when_it_is_back(ends: Ends) -> None:
    ends.listen()
    ends.listener.close()  # type: ignore[union-attr]
    ends.broker.stop()
    ends.run("first")
    ends.until_troubled()
    ends.run("second")
    trouble = [each for each in ends.events() if each["event"] == "undelivered"]
    assert [each["channel"] for each in trouble] == ["mqtt"]
    assert "Connection refused" in trouble[0]["reason"]
    pending = ends.box("notify", "--pending")
    assert pending.code == 1
    assert "Connection refused" in pending.out  # as the one who stays for it says
    ends.broker.start()
    ends.listen()
    assert [each["name"] for each in ends.heard(2)] == ["first", "second"]
    ends.until_published()


def test_a_broker_killed_in_the_middle_costs_no_event(ends: Ends) -> None:
    ends.listen()
    ends.run("before")
    ends.heard(1)
    ends.until_published()
    ends.listener.close()  # type: ignore[union-attr]
    ends.broker.save()  # for who is away it keeps what comes
    ends.broker.kill()
    for n in range(3):
        ends.run(f"during{n}")
    ends.broker.start()
    ends.listen()
    ends.run("after")
    ends.until_published()
    names = [each["name"] for each in ends.heard(4)]
    assert list(dict.fromkeys(names)) == ["during0", "during1", "during2", "after"]


def test_what_a_killed_publisher_left_is_published_by_the_next(ends: Ends) -> None:
    ends.listen()
    ends.broker.signal(signal.SIGSTOP)  # takes connections and says nothing
    try:
        ends.run("left")
        _kill_publisher(ends.box)
        assert mqtt_publish_state.read_cursor(str(ends.box.dir)) is None
        assert mqtt_publish_state.read_mark(str(ends.box.dir)) is not None
    finally:
        ends.broker.signal(signal.SIGCONT)
    done = ends.box("notify", "--pending")
    assert done.code == 0, done
    assert [each["name"] for each in ends.heard(1)] == ["left"]
    assert mqtt_publish_state.read_mark(str(ends.box.dir)) is None


def test_what_is_behind_is_published_by_a_monitor_that_comes_by(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    ends.listen()
    ends.broker.signal(signal.SIGSTOP)
    try:
        ends.run("left")
        _kill_publisher(ends.box)
    finally:
        ends.broker.signal(signal.SIGCONT)
    for key, value in ends.box.env.items():
        monkeypatch.setenv(key, value)
    assert not mqtt_publish_state.is_due(str(ends.box.dir))  # somebody has just tried
    report_change.start_delivery(str(ends.box.dir))
    long_ago = time.time() - 2 * mqtt_publish_state.REST
    os.utime(ends.box.dir / "outbox/unpublished", (long_ago, long_ago))
    assert mqtt_publish_state.is_due(str(ends.box.dir))
    report_change.start_delivery(str(ends.box.dir))
    assert [each["name"] for each in ends.heard(1)] == ["left"]
    ends.until_published()


def test_an_end_that_comes_while_a_publisher_is_about_to_leave_is_published_by_it(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends.listen()
    ends.run("first")
    ends.heard(1)
    ends.until_published()
    directory, project, unmark = str(ends.box.dir), str(ends.box.cwd), mqtt_publish_state.unmark
    for key, value in ends.box.env.items():
        monkeypatch.setenv(key, value)

    def at_the_last_moment(where: str) -> None:
        monkeypatch.setattr(mqtt_publish_state, "unmark", unmark)
        journal.record_event(where, "last", "", "delegated", state="completed")
        assert mqtt_publish.publish_ends(where, project, patient=True) == ""  # leaves it to the one that is there
        unmark(where)

    monkeypatch.setattr(mqtt_publish_state, "unmark", at_the_last_moment)
    journal.record_event(directory, "second", "", "delegated", state="completed")
    assert mqtt_publish.publish_ends(directory, project, patient=True) == ""
    assert [each["name"] for each in ends.heard(3)] == ["first", "second", "last"]
    assert mqtt_publish_state.read_mark(directory) is None


def test_history_from_before_a_broker_was_named_is_left_where_it_is(ends: Ends) -> None:
    text = ends.user_file.read_text()
    ends.user_file.unlink()
    ends.run("old")
    database = ends.box.dir / "journal.sqlite"
    assert ends.box("events").code == 0
    _sql(database, "UPDATE events SET at = at - 2 * 86400")
    ends.user_file.write_text(text)
    ends.listen()
    ends.run("new")
    assert [each["name"] for each in ends.heard(1)] == ["new"]
    ends.until_published()
    assert len(ends.heard(1)) == 1


def test_a_journal_that_was_removed_begins_anew(ends: Ends) -> None:
    ends.listen()
    for n in range(3):
        ends.run(f"job{n}")
    ends.heard(3)
    ends.until_published()
    for file in ends.box.dir.glob("journal.sqlite*"):
        file.unlink()
    ends.run("anew")
    assert [each["name"] for each in ends.heard(4)][3:] == ["anew"]


def test_what_only_a_watcher_saw_is_published_too(ends: Ends) -> None:
    ends.listen()
    assert ends.box("run", "-d", "--name", "orphan", "--", "sleep", "600").code == 0
    shim, work = ends.box.pids("orphan")
    waiting = ends.box.start("wait", "orphan")
    kill(shim, signal.SIGKILL)
    kill(work, signal.SIGKILL)
    waiting.communicate(timeout=60)
    assert waiting.returncode == 3
    ends.run("next")  # it is published after all that happened before it
    said, last = ends.heard(2)
    assert (said["name"], said["event"], said["state"]) == ("orphan", "ended", "crashed")
    assert last["name"] == "next"


def test_a_name_that_brokers_would_misread_is_written_out(ends: Ends) -> None:
    ends.listen()
    ends.run("a+b")
    assert ends.heard(1)[0]["name"] == "a+b"
    assert ends.listener is not None
    assert "/a%2Bb/event " in ends.listener.lines()[0]


def test_a_variable_names_the_broker_and_beats_the_file(ends: Ends) -> None:
    ends.listen()
    ends.user_file.unlink()
    ends.run("by-variable", MIDWATCH_MQTT_URL=ends.broker.url)
    assert [each["name"] for each in ends.heard(1)] == ["by-variable"]
    bad = ends.box("run", "--", "true", MIDWATCH_MQTT_URL="http://localhost")
    assert bad.code in (2, 125)
    assert "MIDWATCH_MQTT_URL: a broker's address begins with mqtt://" in bad.err


def test_a_projects_broker_is_used_only_once_it_is_trusted(ends: Ends) -> None:
    ends.user_file.unlink()
    (ends.box.cwd / "midwatch.toml").write_text(
        f'[mqtt]\nurl = "{ends.broker.url}"\nprefix = "midwatch"\naccept_unsigned = ["desk", "lap"]\n'
    )
    ends.listen()
    ends.run("untrusted")
    ends.until_troubled()
    shown = ends.box("notify")
    assert shown.code == 1
    assert "is not trusted" in shown.out
    assert "WRONG" in shown.out
    assert "New client connected from 127.0.0.1" not in ends.broker.log().partition("as witness")[2]
    trusted = ends.box("trust", "--yes")
    assert f"mqtt     {ends.broker.url}" in trusted.out
    assert "accept_unsigned desk, lap" in trusted.out
    assert ends.box("notify", "--pending").code == 0
    assert [each["name"] for each in ends.heard(1)] == ["untrusted"]


def test_notify_shows_and_tries_the_broker(ends: Ends) -> None:
    assert ends.broker.url in ends.box("notify").out
    assert ends.box("notify", "--test", "hello").code == 0
    [row] = [json.loads(line) for line in ends.box("notify", "--json").out.splitlines()]
    assert row["channel"] == ends.broker.url
    assert row["on"] == ["ends"]
    assert f"{ends.broker.url}: named" in ends.box("doctor").out
    ends.broker.kill()
    tried = ends.box("notify", "--test", "hello")
    assert tried.code == 1
    assert "Connection refused" in tried.out


def test_ten_jobs_that_end_at_once_are_all_published_by_one_connection_at_a_time(ends: Ends) -> None:
    ends.listen()
    jobs = [ends.box.start("run", "--name", f"job{n}", "--", "true") for n in range(10)]
    assert [(job.communicate(timeout=60), job.returncode)[1] for job in jobs] == [0] * 10
    heard = ends.heard(10)
    ends.until_published()
    assert sorted(each["name"] for each in heard) == sorted(f"job{n}" for n in range(10))
    assert [each["seq"] for each in heard] == sorted({each["seq"] for each in heard})


def _kill_publisher(box: Box) -> None:
    """End the process that holds the right to publish, which is found by its lock."""
    found: list[int] = []

    def held() -> bool:
        path = box.dir / "outbox/.publisher"
        if path.exists():
            inode = f":{path.stat().st_ino} "
            locks = [line.split() for line in Path("/proc/locks").read_text().splitlines() if inode in line]
            found[:] = [int(line[4]) for line in locks if line[1] == "FLOCK"]
        return bool(found)

    until(held, box.dir / "outbox")
    kill(found[0], signal.SIGKILL)
    until_gone(found[0])


def _sql(path: Path, text: str) -> None:
    import sqlite3  # noqa: PLC0415

    base = sqlite3.connect(path)
    base.execute(text)
    base.commit()
    base.close()
