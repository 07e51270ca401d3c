"""What Codex's daemon says of a pane's conversation, and that asking it changes nothing and never takes long."""

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.agents.codex import daemon as codex_daemon_module
from midwatch.agents.codex.conversation import start_time
from midwatch.agents.codex.daemon import CodexDaemon
from midwatch.core.pane_model import RunningAgent, SourceReport
from tests.conftest import PATIENCE
from tests.integration.codex_daemon.standin import CWD, EXCHANGE, MAIN, Daemon, Reader, frame

LIMIT = 0.5
READING = {"initialize", "initialized", "thread/loaded/list", "thread/read"}


def words(found: SourceReport | None) -> dict[str, str]:
    assert found is not None
    assert (found.source, found.trouble) == ("api", "")
    return found.words


def trouble(found: SourceReport | None) -> str:
    assert found is not None
    assert found.words == {}
    return found.trouble


# As recorded --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "status", "flags"),
    [
        ("idle", "idle", ""),
        ("approval", "active", "waitingOnApproval"),
        ("question", "active", "waitingOnUserInput"),
        ("working", "active", ""),
        ("worked", "idle", ""),
        ("failed", "systemError", ""),
    ],
)
def test_every_moment_of_a_real_session(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent, state: str, status: str, flags: str
) -> None:
    daemon.state = state
    found = words(sense.read(running))
    assert (found["status"], found["flags"], found["conversation"], found["cwd"]) == (status, flags, MAIN, CWD)
    assert found["transcript"].endswith(f"{MAIN}.jsonl")


def test_the_moment_is_the_one_at_which_the_daemon_told_of_the_change(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    daemon.state = "idle"
    first = sense.read(running)
    assert first is not None
    assert first.at is None, "it was so before we came"
    daemon.state = "approval"
    second = sense.read(running)
    assert second is not None
    told = [
        line["received"]["emittedAtMs"] / 1000
        for line in EXCHANGE
        if line["state"] == "approval" and line.get("received", {}).get("params", {}).get("threadId") == MAIN
    ]
    assert second.at == told[-1]
    daemon.state = "done"
    daemon.told.add("done")  # what it told last is no longer so
    third = sense.read(running)
    assert third is not None
    assert (third.words["status"], third.at) == ("idle", None)


def test_before_the_first_conversation_there_is_nothing_to_say(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    daemon.state = "fresh"
    daemon.told.add("fresh")
    assert sense.read(running._replace(cwd="/elsewhere")) is None


def test_nothing_is_asked_that_changes_anything(daemon: Daemon, sense: CodexDaemon, running: RunningAgent) -> None:
    for state in ("idle", "approval", "failed"):
        daemon.state = state
        sense.read(running)
        sense.read(running, MAIN)
    assert {each["method"] for each in daemon.heard} == READING
    (hello,) = [each for each in daemon.heard if each["method"] == "initialize"]
    # Codex 0.166 leaves its own identity alone for this name only.
    assert hello["params"]["clientInfo"]["name"] == "codex_app_server_daemon"
    assert daemon.came == 1, "the connection is kept"


def test_what_is_known_of_a_conversation_is_not_asked_again(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    daemon.state = "failed"
    sense.read(running)
    before = len(daemon.heard)
    sense.read(running)
    assert [each["method"] for each in daemon.heard[before:]] == ["thread/loaded/list", "thread/read"]


def test_the_daemon_is_whoever_listens(daemon: Daemon, sense: CodexDaemon, running: RunningAgent) -> None:
    assert sense.daemon_pid(running) == os.getpid()
    assert sense.daemon_pid(running._replace(args=("codex", "--no-daemon"))) is None
    assert daemon.came == 1


# Whose --------------------------------------------------------------------------------------------------------------


def another(daemon: Daemon, conversation: str, **more: object) -> str:
    thread = {"id": conversation, "cwd": CWD, "path": "/r.jsonl", "status": {"type": "active", "activeFlags": []}}
    daemon.extra[conversation] = thread | more
    return conversation


LATER = "01a1e21c-0000-7000-8000-000000000000"
EARLIER = "01a1e200-0000-7000-8000-000000000000"


def test_two_conversations_begun_in_one_directory_cannot_be_told_apart_without_more(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    daemon.state = "idle"
    another(daemon, LATER)
    assert trouble(sense.read(running)) == f"2 conversations were begun in {CWD} since this Codex was started"
    assert words(sense.read(running, MAIN))["status"] == "idle"
    resumed = running._replace(args=("codex", "resume", LATER), started=start_time(LATER) + 1)
    assert words(sense.read(resumed))["status"] == "active"
    assert words(sense.read(running._replace(started=start_time(LATER) - 1)))["conversation"] == LATER


def test_after_clear_the_unused_conversation_is_that_of_an_empty_screen(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    daemon.state = "worked"
    another(
        daemon, LATER, preview="", recencyAt=start_time(LATER) + 9
    )  # until it is used, its times are those of the look
    found = sense.read(running, before=MAIN, blank=yes, alone=yes)
    assert words(found)["conversation"] == LATER
    unclear = sense.read(running, before=MAIN, blank=yes)
    assert trouble(unclear)
    assert unclear is not None
    assert unclear.unclear
    another(daemon, LATER, preview="go on", recencyAt=start_time(LATER) + 9)
    assert words(sense.read(running, before=LATER))["conversation"] == LATER
    assert trouble(sense.read(running, before=MAIN, blank=yes, alone=yes)), "it is unused no more"


def test_an_unused_conversation_is_not_ours_once_another_goes_on(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    """Another Codex has left it behind, and the screen of this one was wiped with Ctrl-L."""
    daemon.state = "fresh"
    ours = another(daemon, "01a1e21b-f000-7000-8000-000000000000", preview="go on", recencyAt=start_time(MAIN) + 1)
    late = running._replace(started=start_time(ours) - 1)
    another(daemon, LATER, preview="", recencyAt=start_time(LATER) + 9)
    assert words(sense.read(late, before=ours, blank=yes, alone=yes))["conversation"] == LATER
    another(daemon, ours, preview="go on", recencyAt=start_time(LATER) + 60)
    assert trouble(sense.read(late, before=ours, blank=yes, alone=yes))


def yes() -> bool:
    return True


def test_what_an_earlier_codex_left_running_is_not_ours(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    daemon.state = "idle"
    another(daemon, EARLIER)
    assert words(sense.read(running))["conversation"] == MAIN
    late = running._replace(started=start_time(MAIN) + 60)
    assert trouble(sense.read(late)) == f"what runs in {CWD} is older than this Codex and may be another's"


def test_codex_resume_takes_the_only_one_there_is(daemon: Daemon, sense: CodexDaemon, running: RunningAgent) -> None:
    daemon.state = "idle"
    late = running._replace(started=start_time(MAIN) + 60, args=("codex", "resume", "--last"))
    assert words(sense.read(late))["conversation"] == MAIN


@pytest.mark.parametrize("hidden", [{"ephemeral": True}, {"parentThreadId": MAIN}, {"threadSource": "subagent"}])
def test_conversations_that_nobody_sees_do_not_count(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent, hidden: dict[str, object]
) -> None:
    daemon.state = "idle"
    another(daemon, LATER, **hidden)
    assert words(sense.read(running))["conversation"] == MAIN


def test_a_conversation_that_the_daemon_does_not_know(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    daemon.state = "idle"
    assert sense.read(running, LATER) is None


def test_a_ping_is_answered(daemon: Daemon, sense: CodexDaemon, running: RunningAgent) -> None:
    daemon.state = "idle"
    daemon.wrapping = lambda text: frame(b"are you there", 0x89) + frame(text)
    words(sense.read(running))
    words(sense.read(running))  # whatever was heard by now came before this
    assert daemon.pongs
    assert set(daemon.pongs) == {b"are you there"}


# Trouble ------------------------------------------------------------------------------------------------------------


def test_no_daemon_no_report(sense: CodexDaemon, running: RunningAgent) -> None:
    assert sense.read(running) is None
    assert sense.daemon_pid(running) is None
    assert sense.read(running._replace(environment={})) is None


def test_without_a_daemon_on_purpose(daemon: Daemon, sense: CodexDaemon, running: RunningAgent) -> None:
    assert sense.read(running._replace(args=("codex", "--no-daemon"))) is None
    assert daemon.came == 0


def test_another_home_of_codex(daemon: Daemon, sense: CodexDaemon, running: RunningAgent, home: Path) -> None:
    daemon.state = "idle"
    moved = {"HOME": "/nowhere", "CODEX_HOME": str(home / ".codex")}
    assert words(sense.read(running._replace(environment=moved)))["status"] == "idle"


def test_a_socket_that_a_dead_daemon_left(home: Path, sense: CodexDaemon, running: RunningAgent) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / "s"))
    assert trouble(sense.read(running)) == "Codex's daemon cannot be reached: Connection refused"
    assert sense.daemon_pid(running) is None


def test_a_daemon_that_does_not_answer_costs_half_a_second(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codex_daemon_module, "LIMIT", LIMIT)
    daemon.silent = True
    began = time.monotonic()
    assert trouble(sense.read(running)).startswith("Codex's daemon does not answer")
    assert LIMIT * 0.9 < time.monotonic() - began < LIMIT * 3
    monkeypatch.setattr(codex_daemon_module, "LIMIT", PATIENCE)
    daemon.silent = False
    daemon.state = "idle"
    assert words(sense.read(running))["status"] == "idle"


def test_a_daemon_that_does_not_even_accept(
    home: Path, sense: CodexDaemon, running: RunningAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codex_daemon_module, "LIMIT", LIMIT)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / "s"))
        listener.listen()
        began = time.monotonic()
        assert trouble(sense.read(running)).startswith("Codex's daemon does not answer")
        assert time.monotonic() - began < LIMIT * 3


def test_a_connection_that_broke_is_made_again_within_the_same_look(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent
) -> None:
    daemon.state = "idle"
    assert words(sense.read(running))["status"] == "idle"
    daemon.drop()
    daemon.state = "approval"
    assert words(sense.read(running))["flags"] == "waitingOnApproval"
    assert daemon.came == 2


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: frame(text[:5], 0x01) + frame(text[5:9], 0x00) + frame(text[9:], 0x80),
        lambda text: frame(b"are you there", 0x89) + frame(b"", 0x8A) + frame(text),
        lambda text: frame(text + b" " * 70_000),
        lambda text: frame(b'{"id": 999, "result": {}}') + frame(b'{"method": "x/y", "id": 1}') + frame(text),
    ],
    ids=["fragments", "ping", "large", "others"],
)
def test_whatever_a_websocket_may_do(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent, wrap: Callable[[bytes], bytes]
) -> None:
    daemon.state = "approval"
    daemon.wrapping = wrap
    assert words(sense.read(running))["flags"] == "waitingOnApproval"


@pytest.mark.parametrize(
    ("wire", "says"),
    [
        (frame(b"no JSON"), "says what we do not understand: b'no JSON'"),
        (frame(b"[]"), "says what we do not understand: b'[]'"),
        (frame(b"\x03\xe8", 0x88), "has closed the connection"),
        (b"\x81\x7f\x00\x00\x00\x01\x00\x00\x00\x00", "says more than we can hear"),
        (
            frame(b'{"id": 2, "result": {"thread": {"id": "x"}}}'),
            "gives no status of its conversation; is it of a later version?",
        ),
    ],
    ids=["text", "list", "close", "huge", "no-status"],
)
def test_what_is_not_understood_is_said(
    daemon: Daemon, sense: CodexDaemon, running: RunningAgent, wire: bytes, says: str
) -> None:
    daemon.wrapping = lambda text: frame(text) if b"userAgent" in text else wire
    assert trouble(sense.read(running, MAIN)) == f"Codex's daemon {says}"


def test_another_protocol_at_the_socket(home: Path, sense: CodexDaemon, running: RunningAgent) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / "s"))
        listener.listen()

        def refuse() -> None:
            connection, _ = listener.accept()
            with connection:
                Reader(connection, []).until(b"\r\n\r\n")
                connection.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        assert trouble(sense.read(running)) == "Codex's daemon speaks no WebSocket: b'HTTP/1.1 404 Not Found'"
        thread.join()
