"""What others wrote is printed so that it cannot pass for our words, give orders to a terminal, or hide.

Each test puts the same hostile text into one place that Midwatch reads, and asks every face that tells of it.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE, Box
from tests.integration.compat.automator import Automator
from tests.integration.compat.conftest import automator
from tests.integration.faces.hostile import (
    FORGED,
    HOSTILE,
    INVISIBLE,
    NAME,
    ORDERS,
    PLAIN,
    check,
    check_text,
    hidden,
)
from tests.integration.panes.agent import show
from tests.integration.panes.conftest import alone, private
from tests.integration.panes.private import Private
from tests.integration.spawn.office import Office
from tests.integration.task.conftest import in_beads, issue
from tests.integration.wait.watching import Gate, forge, gate, start_gated

__all__ = ["alone", "automator", "gate", "private"]

FACES = {
    "ls": ("ls",), "why": ("why", "live"), "show": ("show", "live"), "wait": ("wait", "live", "--timeout", "0.1s"),
    "events": ("events",),
}  # fmt: skip
both = pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])


def ask(box: Box, *words: str, as_json: bool, **env: str) -> str:
    """Call a face and check what it prints; all of it."""
    done = box(*words, *(["--json"] if as_json else []), **env)
    check(done, as_json=as_json)
    return done.out + done.err


def live(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "live", "true")


@both
@pytest.mark.parametrize("face", FACES)
def test_a_beat_note(box: Box, gate: Gate, face: str, as_json: bool) -> None:
    live(box, gate)
    run = box.record("live")["run"]
    box.drop("live.beat").write_text(json.dumps({"schema": 1, "run": run, "note": HOSTILE, "progress": 0.5}))
    said = ask(box, *FACES[face], as_json=as_json)
    assert face != "why" or "exit 0" in said


@both
@pytest.mark.parametrize("face", FACES)
def test_a_status_that_another_program_wrote(box: Box, face: str, as_json: bool) -> None:
    box.dir.mkdir()
    box.path("live.status").write_text(HOSTILE)
    box.path("live.log").write_text(HOSTILE)
    box.path("live.pid").write_text("4194300")
    ask(box, *FACES[face], as_json=as_json)


@both
@pytest.mark.parametrize("face", FACES)
def test_a_record_that_another_program_wrote(box: Box, gate: Gate, face: str, as_json: bool) -> None:
    live(box, gate)
    gate.say()
    box("wait", "live")
    end = box.record("live")["end"] | {
        "state": "failed", "exit_code": None, "reason": HOSTILE, "left": [{"command": HOSTILE, "pid": 7}],
    }  # fmt: skip
    forge(
        box, "live", end=end, notes=[HOSTILE], command=[HOSTILE], cwd=HOSTILE,
        policy=box.record("live")["policy"] | {"name": HOSTILE},
    )  # fmt: skip
    ask(box, *FACES[face], as_json=as_json)


@both
@pytest.mark.parametrize("face", FACES)
def test_a_result(box: Box, gate: Gate, face: str, as_json: bool) -> None:
    live(box, gate)
    box.path("live.result").write_text(json.dumps({HOSTILE: [HOSTILE]}))
    gate.say()
    box("wait", "live")
    ask(box, *FACES[face], as_json=as_json)


@both
@pytest.mark.parametrize("face", FACES)
def test_a_file_that_cannot_be_read(box: Box, gate: Gate, face: str, as_json: bool) -> None:
    live(box, gate)
    box.path("live.json").write_text(json.dumps({"schema": HOSTILE}))
    box.path("live.pid").write_text(HOSTILE)
    ask(box, *FACES[face], as_json=as_json)
    box.drop("live.beat").write_text(HOSTILE)
    box.path("live.seen").write_text(HOSTILE)
    ask(box, *FACES[face], as_json=as_json)


def test_the_line_that_ended_a_wait(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "live", "printf '%s\\n' \"$line\"; sleep 100")
    gate.say(f"ready{ORDERS.replace(chr(0), '')}\u202e")
    check(box("wait", "live", "--match", "ready", "--timeout", "20s"))
    check(box("wait", "live", "--match", "ready", "--timeout", "20s", "--json"), as_json=True)


# verify


def git(cwd: Path, *words: str) -> None:
    who = {f"GIT_{part}_{what}": "x" for part in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=cwd, env=os.environ | who, check=True, capture_output=True)


@both
def test_the_subject_of_a_commit(box: Box, as_json: bool) -> None:
    git(box.cwd, "init", "-q")
    git(box.cwd, "commit", "-q", "--allow-empty", "-m", PLAIN.replace("\n", " "))
    assert "exit 0" in ask(box, "verify", "git:commit-since-start", as_json=as_json)


@both
def test_the_name_of_a_file(box: Box, as_json: bool) -> None:
    (box.cwd / f"{NAME}.md").write_text("x")
    assert "is there" in ask(box, "verify", "file:*.md", as_json=as_json)


@both
def test_the_last_line_of_a_command(box: Box, as_json: bool) -> None:
    (box.cwd / "said").write_text(f"{HOSTILE}\r{FORGED}")
    assert "ended with 1" in ask(box, "verify", "cat said; exit 1", as_json=as_json)


@both
def test_the_status_of_a_bead_and_of_a_story(box: Box, as_json: bool) -> None:
    in_beads(box.cwd, issue("bd-1", status=HOSTILE))
    ask(box, "verify", "bead:bd-1", as_json=as_json)
    place = box.cwd / "_bmad-output" / "sprint-status.yaml"
    place.parent.mkdir()
    place.write_text(f"development_status:\n  5-3-checkout: review{ORDERS}\u202e\n")
    ask(box, "verify", "sprint:5.3=done", as_json=as_json)


# logs


def test_logs_pass_colours_only(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "live", "cat said")
    (box.cwd / "said").write_text(f"\x1b[1;31mred\x1b[0m\t{HOSTILE}\nlast\n")
    gate.say()
    box("wait", "live")
    shown = box("logs", "live").out
    assert shown.startswith("\x1b[1;31mred\x1b[0m\tok\n")
    assert shown.endswith("last\n\x1b[0m")  # the red of the hostile text ends with the log
    check_orders(shown)
    raw = subprocess.run([*box.program, "logs", "live", "--raw"], env=box.env, capture_output=True, check=True).stdout
    assert raw == box.path("live.log").read_bytes()


def check_orders(shown: str) -> None:
    """No order but colours, nothing hidden. That it is foreign, whoever asked for a log knows."""
    assert hidden(re.sub(r"\x1b\[[0-9;:]*m", "", shown)) == set(), ascii(shown)


def test_logs_that_are_followed_pass_colours_only(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "live", "cat said")
    (box.cwd / "said").write_text(f"{HOSTILE}\nlast\n")
    with box.start("logs", "-f", "live") as following:
        gate.say()
        out, _ = following.communicate(timeout=60)
    check_orders(out)
    assert out.endswith("last\n\x1b[0m")


# Mail


def message(box: Box, **fields: str) -> None:
    """A message that no `midwatch mail send` would have written."""
    place = box.dir / "mail"
    place.mkdir(parents=True, mode=0o700)
    header = {
        "id": "abcdef", "from": HOSTILE, "to": "me", "subject": HOSTILE, "topic": HOSTILE, "thread": "abcdef",
        "task": HOSTILE, "at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    lines = [f"{key}: {json.dumps(value)}" for key, value in (header | fields).items()]
    (place / "abcdef.md").write_text("\n".join(["---", *lines, "---", "", HOSTILE]))


@both
@pytest.mark.parametrize("words", [("inbox",), ("show", "abcdef"), ("ack", "abcdef")], ids=" ".join)
def test_mail(box: Box, words: tuple[str, ...], as_json: bool) -> None:
    message(box)
    said = ask(box, "mail", *words, as_json=as_json)
    assert "abcdef" in said


def test_the_text_of_a_message_is_a_quoted_block_and_raw_where_asked_for(box: Box) -> None:
    message(box)
    shown = box("mail", "show", "abcdef").out
    assert "\n  | ok\n" in shown
    assert f"\n  | {FORGED}" in shown
    call = [*box.program, "mail", "show", "--raw", "abcdef"]
    raw = subprocess.run(call, env=box.env, capture_output=True, check=True).stdout
    assert raw == (box.dir / "mail" / "abcdef.md").read_bytes()


# Tasks


@both
@pytest.mark.parametrize("words", [("list", "--status", "all"), ("ready",), ("show", "bd-1")], ids=" ".join)
def test_tasks(box: Box, words: tuple[str, ...], as_json: bool) -> None:
    comments = [{"text": HOSTILE, "author": HOSTILE, "created_at": "2026-01-01T00:00:00Z"}]
    in_beads(
        box.cwd,
        issue("bd-1", title=HOSTILE, assignee=HOSTILE, labels=[HOSTILE], description=HOSTILE, comments=comments),
        issue(HOSTILE, title=HOSTILE, status=HOSTILE),
    )
    assert "bd-1" in ask(box, "task", *words, as_json=as_json)


# Breakers, preflight, notices, watchdogs: what stands in files, and what programs print


@both
def test_a_breaker(box: Box, as_json: bool) -> None:
    assert box("breaker", "trip", "key", "--reason", PLAIN).code == 0
    assert "key" in ask(box, "breaker", "status", as_json=as_json)
    ask(box, "events", as_json=as_json)
    with (box.dir / "breakers" / "key.jsonl").open("a") as file:
        file.write(json.dumps({"schema": 1, "event": HOSTILE}) + "\n")
    ask(box, "breaker", "status", as_json=as_json)


@both
def test_what_a_check_before_work_prints(box: Box, as_json: bool) -> None:
    (box.cwd / "said").write_text(HOSTILE)
    (box.cwd / "midwatch.toml").write_text('[[check]]\nrun = "cat said; exit 1"\n')
    assert box("trust", "--yes").code == 0
    ask(box, "preflight", as_json=as_json)


@both
def test_a_watchdog_that_left_a_log(box: Box, as_json: bool) -> None:
    box.env["XDG_STATE_HOME"] = str(box.cwd / "state")
    state = box.cwd / "state" / "midwatch"
    state.mkdir(parents=True, mode=0o700)
    (state / "s-watchdog.log").write_text(HOSTILE)
    ask(box, "watchdog", "status", "--session", "s", as_json=as_json)


@both
def test_a_prompt_that_was_not_delivered(box: Box, as_json: bool) -> None:
    box.env["XDG_STATE_HOME"] = str(box.cwd / "state")
    place = box.cwd / "state" / "midwatch" / "undelivered"
    place.mkdir(parents=True, mode=0o700)
    note: dict[str, Any] = {
        "schema": 1, "id": "abc", "socket": HOSTILE, "pane": HOSTILE, "target": HOSTILE, "text": HOSTILE,
        "reason": HOSTILE, "at": 1.0, "left": True, "pid": 1,
    }  # fmt: skip
    (place / "x-abc.json").write_text(json.dumps(note))
    assert "abc" in ask(box, "send", "--undelivered", as_json=as_json)


@both
@pytest.mark.parametrize("words", [("events",), ("show", "live"), ("replay", "live")], ids=" ".join)
def test_events_that_another_program_spooled(box: Box, gate: Gate, words: tuple[str, ...], as_json: bool) -> None:
    live(box, gate)
    (spool,) = box.dir.glob("spool/live.*.jsonl")
    event = json.loads(spool.read_text().splitlines()[0]) | {
        "n": 99, "event": "stale", "reason": HOSTILE, "who": HOSTILE, HOSTILE: HOSTILE,
    }  # fmt: skip
    with spool.open("a") as file:
        file.write(f"{HOSTILE}\n{json.dumps(event)}\n")
    ask(box, *words, as_json=as_json)


@both
def test_a_notice_that_cannot_be_delivered(box: Box, as_json: bool) -> None:
    (box.dir / "outbox").mkdir(parents=True, mode=0o700)
    notice = {
        "schema": 1, "id": "n1", "name": HOSTILE, "run": HOSTILE, "channel": HOSTILE,
        "fields": {"text": HOSTILE, "state": HOSTILE, "name": HOSTILE},
        "project": str(box.cwd), "filed": time.time(), "tries": 1, "again": time.time() + 600, "trouble": HOSTILE,
        "number": 0,
    }  # fmt: skip
    (box.dir / "outbox" / "n1.json").write_text(json.dumps(notice))
    ask(box, "notify", "--pending", as_json=as_json)
    assert "its channel is no longer in the settings" in ask(box, "events", as_json=as_json)


@both
def test_a_log_that_is_parsed(box: Box, as_json: bool) -> None:
    (box.cwd / "said.log").write_text(f"{HOSTILE}\nError: {HOSTILE}\n3 failed, 2 passed{ORDERS}\u202e\n")
    ask(box, "parse", "said.log", "--step", "dev", "--rules", as_json=as_json)


# Sessions of a registry


@both
@pytest.mark.parametrize(
    "words", [("session", "list"), ("session", "status"), ("reconcile", "--dry-run")], ids=" ".join
)
def test_rows_of_a_registry(box: Box, words: tuple[str, ...], as_json: bool) -> None:
    box.env |= {"XDG_STATE_HOME": str(box.cwd / "state"), "TMUX_TMPDIR": str(box.cwd)}
    row = {
        "name": HOSTILE, "status": "running", "agent": HOSTILE,
        "pane": {"pid": 4194300, "cmd": HOSTILE, "cwd": HOSTILE},
        "claude_session_id_own": HOSTILE, "last_visible_status": HOSTILE,
    }  # fmt: skip
    bad = {"name": f"{HOSTILE}2", "status": HOSTILE}
    (box.cwd / "midwatch-sessions.yaml").write_text(json.dumps({"sessions": [row, bad]}))
    (box.cwd / "midwatch.toml").touch()
    ask(box, *words, as_json=as_json)


# Errors


@pytest.mark.parametrize(
    "words",
    [
        (PLAIN,), ("why", PLAIN), ("why", f"={PLAIN}"), ("logs", PLAIN), ("wait", PLAIN), ("ls", "--dir", PLAIN),
        ("show", "x", "--run", PLAIN), ("verify", "true", "--cwd", PLAIN), ("mail", "show", PLAIN), ("mail", PLAIN),
        ("task", "show", PLAIN), ("send", PLAIN, "x"), ("replay", PLAIN), ("ready", PLAIN), ("session", "stop", PLAIN),
        ("breaker", "status", PLAIN), ("run", "--", PLAIN), ("run", "--name", PLAIN, "--", "true"), ("stop", PLAIN),
        ("events", "--since", PLAIN), ("adopt", PLAIN), ("watchdog", "status", "--session", PLAIN), ("ls", PLAIN),
        ("ls", f"--{PLAIN}"), ("session", "status", "--registry", PLAIN), ("notify", "--dir", PLAIN), ("resume", PLAIN),
        ("spawn", PLAIN), ("step", PLAIN), ("parse", PLAIN), ("record", PLAIN), ("agents", "test", PLAIN),
    ],
    ids=lambda words: " ".join(words)[:20].replace(PLAIN[:20], "PLAIN") if len(words) > 1 else "verb",
)  # fmt: skip
def test_words_of_the_command_line_in_what_is_said_of_them(box: Box, words: tuple[str, ...]) -> None:
    box.env |= {"XDG_STATE_HOME": str(box.cwd / "state"), "TMUX_TMPDIR": str(box.cwd)}
    done = box(*words)
    assert "Traceback" not in done.err, done.err
    check_text(done.out)
    check_text(done.err)


# Agents in panes


@both
@pytest.mark.parametrize(
    "words", [("ls", "--panes"), ("why", "%"), ("ready", "%"), ("ready", "--session"), ("doctor",)], ids=" ".join
)
def test_a_pane(box: Box, private: Private, tmp_path: Path, words: tuple[str, ...], as_json: bool) -> None:
    box.env |= {"XDG_STATE_HOME": str(box.cwd / "state"), "TMUX_TMPDIR": str(box.cwd)}
    pane = show(private, tmp_path, "claude", "permission-bash")
    name = f"{FORGED.partition(':')[0]}{INVISIBLE}"
    private("rename-window", "-t", pane, PLAIN)
    private("select-pane", "-t", pane, "-T", PLAIN)
    private("rename-session", "-t", pane, name)
    called = private("display-message", "-p", "-t", pane, "#{session_name}").rstrip("\n")
    asked = [pane if word == "%" else word for word in words] + ([called] if words == ("ready", "--session") else [])
    said = ask(box, *asked, *private.server, as_json=as_json)
    assert pane in said or words == ("doctor",), said


@pytest.mark.usefixtures("heir")
def test_what_an_agent_says_of_itself(office: Office) -> None:
    office.spawned("live", prompt=f"limit 5pm (UTC){INVISIBLE.replace(chr(0x2028), '').replace(chr(0x2029), '')}")
    office.until_state("limited", "live")
    for words in (*FACES.values(), ("monitor", "live", "--deadline", "1s")):
        for as_json in (False, True):
            ask(office.box, *words, as_json=as_json)


# Other programs


def test_story_automator(automator: Automator) -> None:
    story = automator.story(f"5-3-{NAME}", f"# Story\nStatus: {ORDERS}\u202e{FORGED}\n")
    automator.sprint(f"5-3-login: review\u202e{ORDERS.replace(chr(0), '')}")
    assert story.exists()
    for words in (
        ("validate-story-creation", "list", "5.3"), ("orchestrator-helper", "story-file-status", "5.3"),
        ("orchestrator-helper", "sprint-status", "get", "5.3"), (PLAIN,), ("tmux-status-check", PLAIN),
        ("tmux-wrapper", PLAIN), ("monitor-session", PLAIN), ("heartbeat-check", PLAIN),
    ):  # fmt: skip
        done = automator(*words)
        assert "Traceback" not in done.err, done.err
        check_text(done.out)
        check_text(done.err)


# The last guard, and the live line


def test_what_a_terminal_gets_while_it_waits(box: Box, gate: Gate) -> None:
    """The line that shows what is waited for goes to a terminal, beside all that faces print."""
    live(box, gate)
    run = box.record("live")["run"]
    box.drop("live.beat").write_text(json.dumps({"schema": 1, "run": run, "note": HOSTILE, "progress": 0.5}))
    box.path("live.log").write_text(f"{HOSTILE}\nlast\u202e{ORDERS}")
    seen = on_terminal(box, "wait", "live", "--timeout", "2s")
    assert "50%" in seen, ascii(seen)
    rest = OURS.sub("", seen).replace("\r\n", "\n")
    assert hidden(rest) <= {"U+000D"}, ascii(rest)
    assert not [line for line in rest.split("\r") if line.startswith(FORGED)]


OURS = re.compile(r"\x1b\[(?:2K|[0-9;]*m)|\x1b\](?:7501|9;4)[^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP[^\x1b]*\x1b\\|\x1b\[c")
"""What we ourselves tell a terminal: clear a line, colours, how the work goes."""


def on_terminal(box: Box, *words: str) -> str:
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as terminal:
        call = subprocess.Popen(
            [*box.program, *words], env=box.env | {"TERM": "xterm-256color", "MIDWATCH_PROGRAM_STATUS": "off"},
            cwd=box.cwd, stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
        )  # fmt: skip
        os.close(follower)
        seen = b""
        while select.select([terminal], [], [], PATIENCE)[0]:
            try:
                part = terminal.read(1 << 16)
            except OSError:  # nobody has it open any more
                break
            if not part:
                break
            seen += part
        assert call.wait(PATIENCE) is not None
    return seen.decode()
