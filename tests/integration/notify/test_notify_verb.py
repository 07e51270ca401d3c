"""`midwatch notify`, trust, and settings files that are wrong."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from midwatch.notifications.rules import schedule
from tests.conftest import until
from tests.integration.notify.conftest import Notices, Server


def rows(notices: Notices, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in notices.box("notify", "--json", *arguments).out.splitlines()]


# Trust


def test_nothing_of_a_file_that_is_not_trusted_is_used_and_that_is_said(notices: Notices, server: Server) -> None:
    notices.projects(notices.command() + f'urls = ["{server.url}"]\n')
    notices.start(notices.change())
    until(lambda: len([notice for notice in notices.pending() if notice["trouble"]]) == 2)
    until(lambda: not notices.tellers())  # there is nothing to stay for
    assert (notices.delivered(), server.got) == ([], [])
    assert {notice["tries"] for notice in notices.pending()} == {0}
    for event in notices.events("undelivered"):
        assert "is not trusted: read it, then `midwatch trust`" in event["reason"]
    assert ["not trusted" in row["problem"] for row in rows(notices)] == [True, True]
    done = notices.box("notify", "--test", "x")
    assert (done.code, done.out.count("is not trusted")) == (1, 2), done
    doctor = notices.box("doctor").out
    assert "2 notices are undelivered" in doctor
    assert "topsecret" not in doctor
    assert (notices.delivered(), server.got) == ([], [])

    assert notices.box("trust", "--yes").code == 0
    assert notices.box("notify", "--pending").code == 0
    assert (len(notices.delivered()), len(server.got)) == (1, 1)


def test_a_file_that_was_changed_since_it_was_trusted_is_not_used(notices: Notices) -> None:
    notices.projects(notices.command())
    assert notices.box("trust", "--yes").code == 0
    notices.tell(notices.change())
    notices.projects(notices.command())
    notices.start(notices.change("stopped"))
    until(lambda: any("was changed since you trusted it" in notice["trouble"] for notice in notices.pending()))
    assert len(notices.delivered()) == 1


def test_trust_shows_every_channel_in_full(notices: Notices) -> None:
    notices.projects("""command = "say 'a\\u001bb' {text}"\nurls = ["ntfy://topic/with/all"]\non = ["failed"]\n""")
    done = notices.box("trust", "--yes")
    assert done.out.splitlines()[:3] == [
        f"{notices.project_file} wants to run:",
        r"  line 2    notify   say 'a\eb' '{text}'  on failed",
        "  line 3    notify   ntfy://topic/with/all  on failed",
    ], done
    told = [json.loads(line) for line in notices.box("trust", "--yes", "--json").out.splitlines()]
    assert told[0]["command"]["words"] == ["say", "a\x1bb", "{text}"]


def test_your_own_channels_work_whatever_a_project_brings(notices: Notices) -> None:
    """An untrusted or broken file of a project can add nothing and silence nobody."""
    notices.mine(notices.command())
    notices.projects('command = "theirs"\non = []\n')
    notices.start(notices.change())
    until(lambda: len(notices.delivered()) == 1)
    notices.project_file.write_text("[notify]\n\ncommand = 'say {txt}'\n")
    notices.start(notices.change("stopped"))
    until(lambda: len(notices.delivered()) == 2)
    until(lambda: any("midwatch.toml:3: " in event["reason"] for event in notices.events("undelivered")))
    done = notices.box("notify")
    assert (done.code, "midwatch.toml:3: command has no field {txt}" in done.err) == (1, True), done


# The verb


def test_it_shows_who_is_told_of_what(notices: Notices, server: Server) -> None:
    notices.mine(notices.command() + f'urls = ["{server.url}"]\non = ["failed", "waiting"]\n')
    command, url = rows(notices)
    assert (command["on"], command["source"]) == (["failed", "waiting"], f"{notices.user_file}:2")
    assert (url["channel"], url["problem"]) == ("json://…", "")
    done = notices.box("notify")
    assert (done.code, "topsecret" in done.out) == (0, False), done
    assert [line.split()[0] for line in done.out.splitlines()] == ["ok", "ok"]


def test_a_test_goes_through_every_channel_and_is_not_kept(notices: Notices, server: Server) -> None:
    notices.mine(notices.command() + f'urls = ["{server.url}"]\n')
    assert notices.box("notify", "--test", "is $(anybody) there?").code == 0
    assert notices.delivered() == [["is $(anybody) there?"]]
    assert server.got[0]["message"] == "is $(anybody) there?"
    server.code = 500
    assert [row["ok"] for row in rows(notices, "--test", "again")] == [True, False]
    assert notices.pending() == []


def test_a_field_that_a_notice_has_not_is_empty(notices: Notices) -> None:
    notices.mine(notices.command(fields='"{state}", "{attach}", "{cause}"'))
    assert notices.box("notify", "--test", "x").code == 0
    assert notices.delivered() == [["test", "", ""]]


def test_without_channels_it_says_so(notices: Notices) -> None:
    done = notices.box("notify")
    assert (done.code, done.out, "nobody is told" in done.err) == (0, "", True)
    assert notices.box("notify", "--test", "x").code == 1
    assert notices.box("notify", "--pending").code == 0


@pytest.mark.parametrize("arguments", [("x",), ("--test", "x", "--pending"), ("--what",)])
def test_what_it_does_not_know_is_a_usage_error(notices: Notices, arguments: tuple[str, ...]) -> None:
    assert notices.box("notify", *arguments).code == 2


# Giving up


def planted(notices: Notices, **more: object) -> None:
    """Let a notice fail, and change what the outbox says of it."""
    teller = notices.start(notices.change())
    until(lambda: any(notice["trouble"] for notice in notices.pending()))
    teller.kill()
    teller.wait()
    [left] = notices.pending()
    (notices.box.dir / "outbox" / f"{left['id']}.json").write_text(json.dumps(left | more))


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"tries": schedule.MOST_TRIES - 1}, "ended with 1"),
        ({"filed": 1000.0}, "ended with 1"),
        ({"tries": 99}, "ended"),
    ],
)
def test_after_many_tries_or_a_day_it_is_given_up_and_said(notices: Notices, more: dict[str, Any], why: str) -> None:
    notices.mine(notices.command(then="sys.exit(1)"))
    planted(notices, **more)
    assert notices.box("notify", "--pending").code == 0
    last = notices.events("undelivered")[-1]
    assert (why in last["reason"], last["reason"].endswith("given up")) == (True, True), last
    assert last["text"] == "api waits for a permission (claude in shop, %3)"


def test_a_channel_that_is_no_longer_configured_is_given_up(notices: Notices) -> None:
    notices.mine(notices.command(then="sys.exit(1)"))
    planted(notices)
    notices.mine(notices.command())
    assert notices.box("notify", "--pending").code == 0
    assert "no longer in the settings" in notices.events("undelivered")[-1]["reason"]
    assert len(notices.delivered()) == 1


def test_what_lies_in_the_outbox_of_a_directory_that_others_may_write_is_left_alone(notices: Notices) -> None:
    notices.mine(notices.command(then="sys.exit(1)"))
    planted(notices)
    notices.box.dir.chmod(0o777)
    assert notices.box("notify", "--pending").code == 1
    notices.box.dir.chmod(0o700)
    assert len(notices.delivered()) == 1


def test_rubbish_in_the_outbox_is_passed_over(notices: Notices) -> None:
    notices.mine(notices.command())
    notices.tell(notices.change())
    outbox = notices.box.dir / "outbox"
    (outbox / "x.json").write_text("{")
    (outbox / "y.json").symlink_to("/etc/passwd")
    (outbox / "z.json").mkdir()
    assert notices.box("notify", "--pending").code == 0
    assert notices.start(notices.change("stopped", wall=time.time())).wait(60) == 0
    assert len(notices.delivered()) == 2
