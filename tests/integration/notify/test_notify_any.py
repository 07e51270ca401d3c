"""No sequence of changes, killed senders, failures and clock moves loses a notification, or sends one twice.

Each step of a sender runs in a process of its own, which is killed at any of its writes. Only its clocks are replaced.
"""

from __future__ import annotations

import collections
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midwatch.core.exit_codes import NEXT
from midwatch.core.policy import PATIENT
from midwatch.core.verdict import FINAL
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import deliver, enqueue, outbox
from midwatch.notifications.codec import message_text
from midwatch.notifications.model import Change, ChangeSubject, NotificationState
from midwatch.notifications.rules import changes as change_rules
from midwatch.notifications.rules import schedule
from midwatch.system import procfs

START = 1_700_074_800.0
"""19:00, UTC."""
LONGEST = 8 * 3600.0
"""Seconds of a story. What is older than a day is not sent any more, and that is another story."""
SETTINGS = """\
[notify]
level = "all"
quiet = "22:00-07:00"
command = [
  "/bin/sh", "-c", "test -e {down} && exit 1; echo \\"$1|$2|$3|$4\\" >> {out}",
  "sh", "{{kind}}", "{{state}}", "{{name}}", "{{text}}",
]
"""
SAID = re.compile(r"\b(j\d) (still )?(waiting|limited|stuck|failed|completed|continues)\b")
WRITING = os.O_WRONLY | os.O_RDWR
WRITES = {"open", "os.rename", "os.remove", "subprocess.Popen"}

names = st.sampled_from(["j0", "j1", "j2", "j3", "j4", "j5", "j6"])
states = st.sampled_from(["waiting", "waiting", "working", "limited", "stuck", "failed", "completed"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("change"), names, states),
        st.tuples(st.just("change"), names, states),
        st.tuples(st.just("send"), st.one_of(st.none(), st.integers(1, 60)), st.none()),
        st.tuples(st.just("send"), st.one_of(st.none(), st.integers(1, 60)), st.none()),
        st.tuples(st.just("wait"), st.sampled_from([1.0, 40.0, 61.0, 1801.0, 3600.0 * 4]), st.none()),
        st.tuples(st.just("set clock"), st.sampled_from([-2 * 3600.0, -61.0, 61.0, 2 * 3600.0]), st.none()),
        st.tuples(st.just("channel"), st.booleans(), st.none()),
    ),
    max_size=14,
)


class World:
    """An outbox, its clocks, and what has come out of its channel."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.directory = str(home / "jobs")
        self.out, self.down = home / "out", home / "down"
        self.passed, self.offset, self.mono = 0.0, 0.0, 1000.0
        self.kills = 0
        self.told: dict[str, NotificationState] = {}
        self.expected: collections.Counter[tuple[str, str]] = collections.Counter()
        self.messages: list[tuple[float, int]] = []
        outbox.prepare_outbox(self.directory)

    @property
    def wall(self) -> float:
        return START + self.passed + self.offset

    @property
    def is_quiet(self) -> bool:
        return not 7 <= self.wall % 86400 / 3600 < 22

    def change(self, name: str, state: str) -> None:
        """A watcher sees something and writes it down."""
        self.wait(0.01)
        found = Change(
            name, ChangeSubject("r"), state, state in FINAL, "why", NEXT[state], self.mono, procfs.boot_id(),
            self.wall, str(self.home),
        )  # fmt: skip
        before = self.told.get(name, NotificationState())
        self.told[name], tells = change_rules.record_change(before, found)
        if tells:
            self.expected[name, message_text.template_fields(found, before)["state"]] += 1
        outbox.write_report(self.directory, found)

    def wait(self, seconds: float) -> None:
        self.passed += seconds
        self.mono += seconds

    def send(self, killed_at: int | None = None, *, everything: bool = False) -> None:
        """One pass of a sender, which may be killed at one of its writes."""
        before = len(self.lines())
        child = os.fork()
        if child == 0:
            try:
                self._be_sender(killed_at, everything=everything)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        self.kills += os.WIFSIGNALED(status)
        reap_orphans()
        sent = self.lines()[before:]
        self.messages.append((self.mono, 0 if everything else len(sent)))
        assert not self.is_quiet or all(line.startswith("digest|") for line in sent), sent

    def _be_sender(self, killed_at: int | None, *, everything: bool) -> None:
        wall, mono, count = self.wall, self.mono, 0
        time.time, time.monotonic = lambda: wall, lambda: mono
        os.environ["TZ"] = "UTC"
        time.tzset()

        def audit(event: str, args: tuple[Any, ...]) -> None:
            nonlocal count
            if event in WRITES and (event != "open" or (self.directory in str(args[0]) and args[2] & WRITING)):
                count += 1
                if count == killed_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        enqueue.enqueue_pending(JobDirectory(self.directory, PATIENT))
        deliver.deliver_pending(self.directory, lambda _: True, everything=everything)
        deliver.note_due_time(self.directory)

    # What came of it

    def lines(self) -> list[str]:
        return self.out.read_text().splitlines() if self.out.exists() else []

    def sent(self) -> collections.Counter[tuple[str, str, str]]:
        """How often each was sent: kind, name, state."""
        found: collections.Counter[tuple[str, str, str]] = collections.Counter()
        for line in self.lines():
            for name, still, state in SAID.findall(line.split("|", 3)[3]):
                found["reminder" if still else "change", name, state] += 1
        return found


def reap_orphans() -> None:
    """Wait for the commands of a sender that was killed: they may still deliver."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


STEPS: dict[str, Callable[[World, Any, Any], None]] = {
    "change": lambda world, name, state: world.change(name, state),
    "send": lambda world, killed_at, _: world.send(killed_at),
    "wait": lambda world, seconds, _: world.wait(seconds if world.passed + seconds < LONGEST else 0.0),
    "set clock": lambda world, seconds, _: setattr(world, "offset", seconds),
    "channel": lambda world, works, _: world.down.unlink(missing_ok=True) if works else world.down.touch(),
}


@pytest.fixture
def new_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], World]:
    """Makes a world in which nothing has happened yet."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    def make() -> World:
        shutil.rmtree(home, ignore_errors=True)
        (home / ".config" / "midwatch").mkdir(parents=True)
        world = World(home)
        (home / ".config" / "midwatch" / "config.toml").write_text(SETTINGS.format(down=world.down, out=world.out))
        return world

    return make


@pytest.mark.usefixtures("heir")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_none_is_lost_or_doubled(new_world: Callable[[], World], story: list[tuple[str, Any, Any]]) -> None:
    world = new_world()
    for what, one, two in story:
        STEPS[what](world, one, two)

    check_rate(world)
    world.down.unlink(missing_ok=True)
    check_all(world)


@pytest.mark.usefixtures("heir")
@pytest.mark.parametrize("states", [["waiting", "failed"] * 3, ["waiting"]], ids=str)
def test_a_sender_may_be_killed_at_each_of_its_writes(new_world: Callable[[], World], states: list[str]) -> None:
    """Alone, and while it makes a digest of six."""
    points = 0
    while True:
        world = new_world()
        for number, state in enumerate(states):
            world.change(f"j{number}", state)
        world.send(points + 1)
        kills = world.kills
        check_all(world)
        if not kills:
            break
        points += 1
    assert points > 5


def check_all(world: World) -> None:
    """All that was to be sent was sent, and no more than once for each killed sender."""
    settle(world)
    sent, kills = world.sent(), world.kills
    for (name, state), times in world.expected.items():
        assert sent["change", name, state] <= times + kills, (name, state, world.lines())
    for name, told in world.told.items():
        if told.state in FINAL and told.number:
            assert sent["change", name, told.state] >= 1, (name, told, world.lines())
        if told.open and told.state not in FINAL:
            assert sent["change", name, told.state] >= 1, (name, told, world.lines())
    for kind, name, state in sent:
        assert (name, state) in world.expected, (kind, name, state)
    check_reminders(world)


def settle(world: World) -> None:
    """Out of the quiet hours, and with nobody killed, all is out."""
    if world.is_quiet:
        world.wait((7 * 3600 - world.wall) % 86400)
    world.send(everything=True)
    world.send(everything=True)
    kinds = {notice.kind for notice in outbox.list_pending(world.directory)}
    assert kinds <= {"reminder"}, (kinds, world.lines())


def check_rate(world: World) -> None:
    for at, _ in world.messages:
        within = [count for when, count in world.messages if at - schedule.WINDOW < when <= at]
        assert sum(within) <= schedule.MOST, world.messages


def check_reminders(world: World) -> None:
    """One for each wait, and one for each that lasts."""
    world.wait(1801.0)
    world.send(everything=True)
    sent = world.sent()
    for name, told in world.told.items():
        times = world.expected[name, "waiting"]
        assert sent["reminder", name, "waiting"] <= times + world.kills
        if told.open and told.state == "waiting":
            assert sent["reminder", name, "waiting"] >= 1, world.lines()
    world.wait(1801.0)
    world.send(everything=True)
    assert (world.sent(), outbox.list_pending(world.directory)) == (sent, [])
