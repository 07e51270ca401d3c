"""Channels that are down, hang, or are not there: logged, tried again, and nobody else's business."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from midwatch.config.model import Channel
from midwatch.core.notification_kinds import USUAL
from midwatch.core.redaction import HIDDEN
from midwatch.jobs import launch
from midwatch.notifications import deliver, enqueue
from midwatch.notifications import transports as link
from midwatch.shim.fork import start_beside
from midwatch.system import procfs
from tests.conftest import PATIENCE, Box, alive, kill, until, until_gone
from tests.integration.notify.conftest import Notices, Server, command_lines, timeless

FIELDS = {"text": "x failed", "name": "x", "state": "failed", "reason": "", "agent": "", "pane": "", "next": ""}
HANG = (
    "import time\nif not os.path.exists({mark!r}):\n    open({mark!r}, 'w').write(str(os.getpid()))\n"
    "    while True: time.sleep(1000)"
)
"""The first one hangs; whoever starts it ends it. Those that come later are nobody's to end."""


def command(*words: str) -> Channel:
    return Channel("command", words, USUAL, "d.toml:1")


# Services


def test_a_service_gets_the_text_and_no_secret_is_seen_or_kept(notices: Notices, server: Server) -> None:
    notices.mine(f'urls = ["{server.url}"]\n')
    notices.tell(notices.change())
    [got] = server.got
    assert timeless(got["message"]) == "api waits for a permission (claude in shop, %3, 0s)"
    assert (got["title"], got["type"]) == ("midwatch: api waiting", "warning")
    assert server.seen_on_command_lines == []
    assert "topsecret" not in json.dumps(notices.events("notice"))


def test_a_channel_that_was_down_is_tried_again_by_whoever_comes_by(notices: Notices, server: Server) -> None:
    server.code = 503
    notices.mine(f'urls = ["{server.url}"]\n')
    notices.start(notices.change())
    until(lambda: any(notice["trouble"] for notice in notices.pending()))
    [left] = notices.pending()
    assert (left["tries"], "503" in left["trouble"]) == (1, True), left
    assert 0 < left["again"] - time.time() <= 30
    assert "topsecret" not in json.dumps(left)
    until(lambda: len(notices.events("undelivered")) == 1)
    assert "it is tried again" in notices.events("undelivered")[0]["reason"]

    still = notices.box("notify", "--pending")
    assert (still.code, "tried 2 times" in still.out) == (1, True), still
    assert len(notices.events("undelivered")) == 1
    server.code = 200
    assert notices.box("notify", "--pending").code == 0
    assert [timeless(got["message"]) for got in server.got] == ["api waits for a permission (claude in shop, %3, 0s)"]
    assert [event["tries"] for event in notices.events("notice")] == [3]


def test_a_channel_that_is_down_holds_up_no_other(notices: Notices, server: Server) -> None:
    server.code = 500
    notices.mine(notices.command() + f'urls = ["{server.url}"]\n')
    notices.start(notices.change())
    until(lambda: bool(notices.delivered()) and any(notice["trouble"] for notice in notices.pending()))
    assert [notice["channel"].partition("-")[0] for notice in notices.pending()] == ["url"]


def test_what_is_over_before_it_could_be_delivered_is_not_told_late(notices: Notices, server: Server) -> None:
    server.code = 500
    notices.mine(f'urls = ["{server.url}"]\n')
    notices.start(notices.change())
    until(lambda: any(notice["trouble"] for notice in notices.pending()))
    notices.start(notices.change("working"))
    until(lambda: not notices.pending())
    assert notices.events("undelivered")[-1]["reason"] == "it was over before it could be delivered; given up"


def test_one_teller_stays_for_what_failed_and_goes_when_it_is_delivered(notices: Notices, server: Server) -> None:
    server.code = 500
    notices.mine(f'urls = ["{server.url}"]\n')
    first = notices.start(notices.change())
    until(lambda: any(notice["trouble"] for notice in notices.pending()))
    second = notices.start(notices.change(name="other", state="failed"))
    assert second.wait(60) == 0
    assert first.poll() is None
    server.code = 200
    soon = [notice | {"again": time.time()} for notice in notices.pending()]
    first.kill()
    for notice in soon:
        (notices.box.dir / "outbox" / f"{notice['id']}.json").write_text(json.dumps(notice))
    assert notices.start().wait(60) == 0
    assert (notices.pending(), len(server.got)) == ([], 2)


def test_without_the_extra_it_is_said_and_the_notice_is_kept(notices: Notices, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    notices.box.program = [str(tmp_path / "bare" / "bin" / "python"), "-m", "midwatch"]
    notices.box.env["PYTHONPATH"] = launch.ROOT
    notices.mine('urls = ["json://127.0.0.1:1/topsecret"]\n')
    for call in (("notify",), ("notify", "--test", "x")):
        done = notices.box(*call)
        assert (done.code, "pip install 'midwatch[notify]'" in done.out, "topsecret" in done.out) == (1, True, False)
    [found] = [json.loads(line) for line in notices.box("doctor", "--json").out.splitlines() if '"notices"' in line]
    assert (found["level"], "Apprise is not installed" in found["says"]) == ("warning", True)
    notices.start(notices.change())
    until(lambda: any("Apprise is not installed" in notice["trouble"] for notice in notices.pending()))
    until(lambda: len(notices.events("undelivered")) == 1)


def test_a_url_that_apprise_does_not_know_is_said_without_repeating_it() -> None:
    done = link.send_notification(Channel("url", ("nosuch://topsecret",), USUAL, "d.toml:1"), FIELDS, "/", PATIENCE)
    assert (done.ok, done.why) == (False, "Apprise does not know this kind of URL, or something in it is missing")


def test_what_apprise_says_of_a_failure_gives_nothing_of_the_url_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    done = link.send_notification(
        Channel("url", (f"json://127.0.0.1:{port}/topsecret",), USUAL, "d.toml:1"), FIELDS, "/", PATIENCE
    )
    assert (done.ok, "Connection error" in done.why, "127.0.0.1" in done.why) == (False, True, False), done


APPRISE = """
import logging
class Apprise:
    def add(self, url): return True
    def notify(self, **_): logging.getLogger("apprise").warning("no topsecret for p@ss/word at key7777")
"""


def test_no_part_of_a_url_is_said_as_written_or_as_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a plugin logs may hold a token from the middle of a query, or a decoded password."""
    (tmp_path / "apprise.py").write_text(APPRISE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    url = "json://user:p%40ss%2Fword@127.0.0.1/x?token=topsecret&k=key7777"
    done = link.send_notification(Channel("url", (url,), USUAL, "d.toml:1"), FIELDS, "/", PATIENCE)
    assert done.why == f"no {HIDDEN} for {HIDDEN} at {HIDDEN}"


def test_what_cannot_be_begun_in_time_is_left_for_whoever_comes_by(
    notices: Notices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred notices for a channel that hangs do not keep their teller for an hour."""
    notices.mine(notices.command())
    for key, value in notices.box.env.items():
        monkeypatch.setenv(key, value)
    enqueue.enqueue_change(str(notices.box.dir), notices.change())
    deliver.deliver_pending(str(notices.box.dir), bool, until=time.monotonic())
    assert [notice["tries"] for notice in notices.pending()] == [0]
    deliver.deliver_pending(str(notices.box.dir), bool, until=time.monotonic() + PATIENCE)
    assert (len(notices.delivered()), notices.pending()) == (1, [])


# Commands


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 1000 & echo $! > child; while :; do sleep 1000; done"
    (tmp_path / "s").write_text(script)
    done = link.send_notification(command("sh", "s"), FIELDS, str(tmp_path), 1.0)
    assert (done.ok, done.why) == (False, "sh took longer than 1s and was ended")
    until_gone(int((tmp_path / "child").read_text()))


def test_a_command_that_leaves_a_child_with_its_output_open_has_ended(tmp_path: Path) -> None:
    done = link.send_notification(command("sh", "-c", "sleep 1000 & echo $! > child"), FIELDS, str(tmp_path), PATIENCE)
    child = int((tmp_path / "child").read_text())
    assert (done.ok, alive(child)) == (True, True)
    kill(child, signal.SIGKILL)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo one; echo 'no gateway token=abcdefgh .' >&2; exit 3", "sh ended with 3: no gateway token=████████"),
        ("yes | head -c 1000000; exit 1", "sh ended with 1: y"),
        ("exit 4", "sh ended with 4"),
        ("kill -9 $$", "sh was killed by SIGKILL"),
    ],
)
def test_a_command_that_fails_is_told_with_its_last_word(script: str, why: str) -> None:
    assert link.send_notification(command("sh", "-c", script), FIELDS, "/", PATIENCE) == link.DeliveryAttempt(
        ok=False, why=why
    )


def test_a_program_that_is_not_there_is_said(notices: Notices) -> None:
    assert link.send_notification(command("no-such-program"), FIELDS, "/", 1.0).why == (
        "no-such-program cannot be run: No such file or directory"
    )
    notices.mine('command = "no-such-program {text}"\n')
    done = notices.box("notify")
    assert (done.code, "there is no program no-such-program" in done.out) == (1, True), done


def test_a_channel_that_hangs_delays_no_verdict(notices: Notices, box: Box, tmp_path: Path) -> None:
    """While the command hangs everything goes on: another job starts, ends, is waited for and listed."""
    mark = tmp_path / "hangs"
    notices.mine(notices.command(then=HANG.format(mark=str(mark))))
    teller = notices.start(notices.change())
    until(lambda: mark.exists() and bool(mark.read_text()))
    hanging = int(mark.read_text())
    try:
        assert box("run", "-d", "--name", "x", "--", "sh", "-c", "exit 3").code == 0
        assert box("wait", "x", "--json").json["state"] == "failed"
        assert box("run", "--name", "x", "--", "true").code == 0
        assert box("wait", "x", "--json").json["state"] == "completed"
        assert (alive(hanging), teller.poll()) == (True, None)
    finally:
        kill(hanging, signal.SIGKILL)


INJECTED = [
    "$(touch pwned)",
    "; touch pwned",
    "`touch pwned`",
    "a\n--help\x1b[31m\x07b",
    "--version",
    "{name}",
    "'\"\\",
    "%s",
]


@pytest.mark.parametrize("reason", INJECTED)
def test_a_reason_is_only_text(notices: Notices, reason: str) -> None:
    notices.mine(notices.command(fields='"{reason}", "x={reason}"'))
    notices.tell(notices.change("crashed", reason))
    expected = {"a\n--help\x1b[31m\x07b": "a --help [31m b", "--version": "version"}.get(reason, reason)
    assert notices.delivered() == [[expected, f"x={expected}"]]
    assert not (notices.home / "pwned").exists()


def test_the_fields_are_what_they_are_called(notices: Notices) -> None:
    notices.mine(notices.command(fields='"{name}|{state}|{reason}|{agent}|{pane}|{next}"'))
    notices.tell(notices.change())
    assert notices.delivered() == [["api|waiting|it waits for a permission|claude|%3|escalate"]]


# The one who tells


def test_a_teller_holds_nothing_of_whoever_started_it(notices: Notices, tmp_path: Path) -> None:
    """Not a pipe, not a terminal, not a lease: the pipe's end is heard although the teller goes on."""
    mark = tmp_path / "hangs"
    notices.mine(notices.command(then=HANG.format(mark=str(mark))))
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    said = json.dumps({"schema": 1, **notices.change()._asdict(), "about": notices.change().about._asdict()})
    teller = start_beside(launch.sender_command(str(notices.box.dir)), notices.box.env, said.encode())
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], PATIENCE)
        assert ready
        until(lambda: mark.exists() and bool(mark.read_text()))
        assert os.getsid(teller) == teller
        assert procfs.stat_fields(teller)[4] == "0"  # no terminal
        open_files = {os.readlink(f"/proc/{teller}/fd/{fd}") for fd in (1, 2)}
        assert open_files == {"/dev/null"}
    finally:
        os.close(reading)
        kill(int(mark.read_text()), signal.SIGKILL)
        kill(teller, signal.SIGKILL)
        os.waitpid(teller, 0)


def test_a_teller_below_a_shim_is_none_of_its_work(notices: Notices, tmp_path: Path) -> None:
    """What it uses would pass for progress, and its end would be waited for."""
    mark = tmp_path / "hangs"
    notices.mine(notices.command(then=HANG.format(mark=str(mark))))
    starter = (
        "import sys; from midwatch.shim.fork import start_beside; from midwatch.jobs import launch as spawn;"
        "print(start_beside(spawn.sender_command(sys.argv[1]), None, sys.argv[2].encode()), flush=True); "
        "sys.stdin.read()"
    )
    said = json.dumps({"schema": 1, **notices.change()._asdict(), "about": notices.change().about._asdict()})
    parent = subprocess.Popen(
        [sys.executable, "-c", starter, str(notices.box.dir), said], env=notices.box.env, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert parent.stdout is not None
    teller = int(parent.stdout.readline())
    until(lambda: mark.exists() and bool(mark.read_text()))
    try:
        assert teller in procfs.children(parent.pid)
        assert procfs.descendants(teller) != []
        assert procfs.descendants(parent.pid) == []
    finally:
        kill(int(mark.read_text()), signal.SIGKILL)
        kill(teller, signal.SIGKILL)
        parent.communicate("")


def test_nothing_of_a_project_is_imported_by_whoever_tells(notices: Notices, server: Server) -> None:
    for module in ("json", "apprise", "hashlib", "midwatch", "concurrent"):
        (notices.home / f"{module}.py").write_text("import os; open('pwned', 'w').close(); os._exit(1)\n")
    notices.mine(f'urls = ["{server.url}"]\n')
    said = json.dumps({"schema": 1, **notices.change()._asdict(), "about": notices.change().about._asdict()})
    start = f"import os; os.chdir({str(notices.home)!r}); from midwatch.shim.fork import start_beside\n"
    call = f"start_beside({launch.sender_command(str(notices.box.dir))!r}, None, {said.encode()!r})"
    subprocess.run([sys.executable, "-P", "-c", start + call], env=notices.box.env, check=True, timeout=PATIENCE)
    until(lambda: bool(server.got))
    until(lambda: not notices.tellers())
    assert not (notices.home / "pwned").exists()


def test_no_command_line_of_a_service_names_a_secret(server: Server) -> None:
    assert link.send_notification(Channel("url", (server.url,), USUAL, "d.toml:1"), FIELDS, "/", PATIENCE).ok
    assert [line for line in command_lines() if "topsecret" in line] == []
    assert server.seen_on_command_lines == []
