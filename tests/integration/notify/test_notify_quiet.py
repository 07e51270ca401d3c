"""Quiet hours, and digests of what is too much at once: by real senders, at a local time that TZ chooses."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from midwatch.notifications import outbox
from tests.conftest import until, until_gone
from tests.integration.notify.conftest import Notices, Server

QUIET = 'quiet = "22:00-07:00"\n'


def set_local_time(notices: Notices, hour: int, minute: int = 0, second: int = 0) -> None:
    """From now on it is that time of the day for whoever is started."""
    ahead = (hour * 3600 + minute * 60 + second - int(time.time())) % 86400
    ahead -= 86400 if ahead > 43200 else 0
    sign = "-" if ahead >= 0 else "+"  # as POSIX has it: west is positive
    hours, rest = divmod(abs(ahead), 3600)
    notices.box.env["TZ"] = f"XXX{sign}{hours}:{rest // 60:02d}:{rest % 60:02d}"


def file_at_once(notices: Notices, count: int, state: str = "failed") -> None:
    """That many changes, heard of by one sender."""
    outbox.prepare_outbox(str(notices.box.dir))
    for number in range(count):
        change = notices.change(state, "exit 2 after 41s", name=f"job{number}")
        outbox.write_report(str(notices.box.dir), change._replace(about=change.about._replace(agent="", pane="")))
    notices.start()


def rows(notices: Notices, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in notices.box("notify", "--json", *arguments).out.splitlines()]


# Quiet hours


def test_what_comes_in_quiet_hours_is_one_digest_at_their_end_by_the_sender_that_stays(
    notices: Notices, server: Server
) -> None:
    set_local_time(notices, 6, 59, 50)
    notices.mine(QUIET + f'urls = ["{server.url}"]\n')
    file_at_once(notices, 3)
    until(lambda: len(notices.pending()) == 3 and (notices.box.dir / "outbox" / ".due").exists())
    assert (server.got, len(notices.tellers())) == ([], 1)
    until(lambda: len(server.got) == 1 and not notices.tellers())
    title, *lines = server.got[0]["message"].splitlines()
    assert title == "3 notifications came in the quiet hours:"
    assert [line[:23] for line in lines] == [f"06:59 job{number} failed: exit" for number in range(3)]
    assert (server.got[0]["title"], notices.outbox()) == ("midwatch: midwatch digest", [])
    [event] = notices.events("notice")
    assert (event["kind"], event["tries"]) == ("digest", 1)


def test_one_alone_is_sent_as_it_is(notices: Notices) -> None:
    set_local_time(notices, 6, 59, 55)
    notices.mine(QUIET + notices.command(fields='"{kind}", "{name}"'))
    file_at_once(notices, 1)
    until(lambda: bool(notices.delivered()) and not notices.tellers())
    assert notices.delivered() == [["change", "job0"]]


def test_after_a_killed_sender_whoever_comes_by_sends_it_and_not_before(notices: Notices) -> None:
    set_local_time(notices, 3)
    notices.mine(QUIET + notices.command())
    file_at_once(notices, 2)
    until(lambda: len(notices.pending()) == 2 and (notices.box.dir / "outbox" / ".due").exists())
    for process in notices.started:
        process.kill()
        process.wait()
    for _ in range(2):
        assert notices.box("ls").code == 0
    assert (notices.tellers(), notices.delivered()) == ([], [])
    due = notices.box.dir / "outbox" / ".due"
    due.write_text("1 1 x " + due.read_text().split()[3] + "\n")  # as if the night had passed
    for kept in notices.pending():
        path = notices.box.dir / "outbox" / f"{kept['id']}.json"
        path.write_text(json.dumps(kept | {"filed": kept["filed"] - 6 * 3600}))
    set_local_time(notices, 9)
    assert notices.box("ls").code == 0
    until(lambda: bool(notices.delivered()) and not notices.tellers())
    assert ([len(words) for words in notices.delivered()], notices.outbox()) == ([1], [])
    assert notices.delivered()[0][0].startswith("2 notifications came in the quiet hours: ")


@pytest.mark.parametrize(("passes", "sent"), [("needs-you", True), ("failed", True), ("completed", False)])
def test_what_is_excepted_is_sent_at_once(notices: Notices, passes: str, *, sent: bool) -> None:
    set_local_time(notices, 3)
    notices.mine(QUIET + f'quiet_except = ["{passes}"]\n' + notices.command(fields='"{name}"'))
    file_at_once(notices, 1)
    until(lambda: bool(notices.delivered()) if sent else bool(notices.tellers() and notices.pending()))
    assert (notices.delivered() != []) == sent


def test_the_verb_shows_level_quiet_hours_and_what_is_held_back_until_when(notices: Notices) -> None:
    set_local_time(notices, 3)
    notices.mine('level = "ended"\nremind = "10m"\n' + QUIET + 'quiet_except = ["stuck"]\n' + notices.command())
    file_at_once(notices, 2)
    until(lambda: len(notices.pending()) == 2 and (notices.box.dir / "outbox" / ".due").exists())
    [row] = rows(notices)
    assert (row["level"], row["remind_s"], row["quiet"], row["quiet_except"], row["held"]) == (
        "ended", 600.0, "22:00-07:00", ["stuck"], 2,
    )  # fmt: skip
    assert 3.9 * 3600 < row["held_until"] - time.time() <= 4 * 3600
    shown = notices.box("notify")
    assert shown.code == 0
    for words in ("level ended", "quiet 22:00-07:00 except stuck", "reminder after 10m", "2 held back until 07:00"):
        assert words in shown.out, shown
    assert "undelivered" not in shown.err
    assert "undelivered" not in notices.box("doctor").out

    pending = notices.box("notify", "--pending")
    assert (pending.code, pending.out.count("kept until 07:00 by quiet hours")) == (0, 2), pending
    assert "2 wait for their time" in pending.err
    assert [(each["held"], each["kind"]) for each in rows(notices, "--pending")] == [("quiet", "change")] * 2
    assert notices.delivered() == []


def test_a_reminder_is_shown_with_its_time(notices: Notices) -> None:
    set_local_time(notices, 12)
    notices.mine(notices.command())
    notices.tell(notices.change())
    [row] = rows(notices, "--pending")
    assert (row["kind"], row["held"]) == ("reminder", "reminder")
    assert 1700 < row["held_until"] - time.time() <= 1800
    shown = notices.box("notify", "--pending")
    assert (shown.code, "reminder at 12:" in shown.out, "1 wait for their time" in shown.err) == (0, True, True), shown


# Digests


def test_more_than_five_at_once_are_one_digest(notices: Notices) -> None:
    notices.mine(notices.command(fields='"{kind}", "{text}"'))
    file_at_once(notices, 12)
    until(lambda: bool(notices.delivered()) and not notices.tellers())
    [[kind, text]] = notices.delivered()
    assert (kind, text.endswith("; and 2 more")) == ("digest", True)
    assert text.startswith("12 notifications: job0 failed: ")
    assert notices.outbox() == []


def test_after_five_in_a_minute_the_rest_waits_for_the_minute_and_a_person_does_not(notices: Notices) -> None:
    notices.mine(notices.command(fields='"{kind}"'))
    file_at_once(notices, 5)
    until(lambda: len(notices.delivered()) == 5)
    until(lambda: not notices.tellers())
    late = notices.start(notices.change("failed", name="late", final=True))
    until(lambda: len(notices.pending()) == 1 and (notices.box.dir / "outbox" / ".due").exists())
    [row] = rows(notices)
    assert (row["held"], 0 < row["held_until"] - time.time() <= 60) == (1, True)
    assert late.poll() is None  # it stays for that minute
    assert notices.box("notify", "--pending").code == 0
    assert notices.delivered() == [["change"]] * 6
    until_gone(late.pid)


def test_each_channel_has_its_own_five(notices: Notices, server: Server) -> None:
    notices.mine(notices.command(fields='"{kind}"') + f'urls = ["{server.url}"]\n')
    file_at_once(notices, 5)
    until(lambda: len(notices.delivered()) == 5 and len(server.got) == 5)
    assert {kind for [kind] in notices.delivered()} == {"change"}


def test_a_wait_in_a_digest_is_still_reminded_of(notices: Notices) -> None:
    notices.mine(notices.command(fields='"{kind}"'))
    outbox.prepare_outbox(str(notices.box.dir))
    for number in range(6):
        outbox.write_report(str(notices.box.dir), notices.change(name=f"api{number}"))
    notices.start()
    until(lambda: notices.delivered() == [["digest"]] and not notices.tellers())
    assert (len(notices.reminders()), notices.pending()) == (6, [])


# Settings


def test_on_and_level_in_one_file_are_an_error_that_says_so(notices: Notices) -> None:
    notices.mine('on = ["failed"]\nlevel = "all"\n' + notices.command())
    done = notices.box("notify")
    assert (done.code, "config.toml:3: level and on both choose what is sent" in done.err) == (1, True), done
