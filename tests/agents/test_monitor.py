"""`midwatch spawn` and `monitor` with real agents: every way in which a night can end, and what is said of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.conftest import each, need
from tests.agents.sessions import SLOW, Spawned
from tests.lab.lab import Lab

WORK = "go [[slow 600]] [[text done]]"
SOON = ("--stale", "4s", "--grace", "1s")
"""Patience for what hangs, so that a test need not wait for ten minutes."""
KNOWN = [pytest.param(one.values[0], id=one.id, marks=one.marks) for one in each(previous=False)]
ALL = pytest.mark.parametrize("agent", KNOWN)
TWO = pytest.mark.parametrize("agent", [one for one in KNOWN if one.id in ("claude", "codex")])


@pytest.fixture
def home(lab: Lab) -> Iterator[Lab]:
    """A lab whose tmux server outlives its sessions."""
    lab.tmux("new-session", "-d", "-s", "keep", "sleep 3600")
    yield lab
    lab.tmux("kill-session", "-t", "=keep")


def night(lab: Lab, agent: str, prompt: str = WORK, **wish: Any) -> Spawned:
    need(agent)
    session = Spawned(lab, agent, **wish)
    session.spawn(prompt)
    return session


def said(found: dict[str, Any]) -> tuple[str, bool, int]:
    return found["state"], found["final"], found["code"]


def told(found: dict[str, Any], session: Spawned) -> str:
    return f"{found}\n{session.screen()}"


# Ends -------------------------------------------------------------------------------------------------------------


@ALL
def test_a_turn_that_ends_is_completed_and_the_agent_stays(home: Lab, agent: str) -> None:
    session = night(home, agent, "go [[think 1]] [[text all done]]")
    found = session.monitor().end()
    assert said(found) == ("completed", True, 0), told(found, session)
    assert found["reason"] == "its turn has ended; nothing to verify against"
    assert Path(f"/proc/{session.work()}").exists()
    assert session.conversation()
    assert "all done" in session.call("logs", session.name).stdout


@TWO
def test_a_turn_that_fails_is_failed(home: Lab, agent: str) -> None:
    session = night(home, agent, "go [[status 400]]")
    found = session.monitor().end()
    assert said(found) == ("failed", True, 1), told(found, session)


@pytest.mark.parametrize("killed", ["work", "shim", "both"])
@TWO
def test_a_kill_is_a_crash_whomever_it_hits(home: Lab, agent: str, killed: str) -> None:
    session = night(home, agent)
    watching = session.monitor()
    watching.until_said("working")
    for who in ("shim", "work") if killed == "both" else (killed,):
        os.kill(getattr(session, who)(), signal.SIGKILL)
    found = watching.end()
    assert said(found) == ("crashed", True, 3), found
    assert ("SIGKILL" in found["reason"]) == (killed == "work"), found["reason"]
    assert session.verdict()["state"] == "crashed"


@ALL
def test_a_crash_is_resumed_with_its_own_conversation(home: Lab, agent: str) -> None:
    session = night(home, agent, "remember this [[think 1]] [[text noted]]")
    assert session.monitor().end()["state"] == "completed"
    before, work = session.conversation(), session.work()
    os.kill(work, signal.SIGKILL)
    found = session.monitor("--resume", "1").end()
    assert said(found) == ("completed", True, 0), told(found, session)
    assert (session.conversation(), session.record()["attempt"]) == (before, 2)
    assert before in session.record()["command"]
    assert session.work() != work
    prompts = [entry["prompt"] for entry in session.journal() if entry["event"] == "began" and entry.get("main")]
    assert prompts[-1].strip().endswith("Continue where you left off.")


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=pytest.mark.claude)])
def test_a_conversation_that_was_begun_anew_is_the_one_that_is_resumed(home: Lab, agent: str) -> None:
    session = night(home, agent, "go [[text the first]]")
    assert session.monitor().end()["state"] == "completed"
    first = session.conversation()
    session.type("/clear")
    session.until("the first", SLOW, gone=True)
    session.type("again [[text the second]]")
    session.until("● the second", SLOW)
    assert session.monitor().end()["state"] == "completed"
    second = session.conversation()
    assert second != first
    os.kill(session.work(), signal.SIGKILL)
    assert said(session.monitor("--resume", "1").end()) == ("completed", True, 0)
    assert second in session.record()["command"]
    assert "the second" in session.screen()


@pytest.mark.parametrize("agent", [one for one in KNOWN if one.id in ("claude", "codex-nodaemon")])
def test_a_model_that_never_answers_is_stuck_and_can_be_resumed(home: Lab, agent: str) -> None:
    session = night(home, agent, "go [[hang]]")
    found = session.monitor(*SOON).end()
    assert said(found) == ("stuck", False, 4), told(found, session)
    assert found["reason"].startswith("no progress for ")
    assert Path(f"/proc/{session.work()}").exists(), "what is only reported is not stopped"
    work = session.work()
    found = session.monitor(*SOON, "--resume", "1").end()
    assert said(found) == ("completed", True, 0), told(found, session)
    assert not Path(f"/proc/{work}").exists()


@pytest.mark.parametrize(
    ("agent", "wish"),
    [
        pytest.param("claude", {"oauth": True}, marks=pytest.mark.claude),
        pytest.param("codex", {}, marks=pytest.mark.codex),
    ],
)
def test_a_limit_is_told_with_its_end(home: Lab, agent: str, wish: dict[str, Any]) -> None:
    session = night(home, agent, "go [[limit 7200]]", **wish)
    found = session.monitor().end()
    assert said(found) == ("limited", False, 9), told(found, session)
    assert re.search(r"until .*\d", found["reason"])
    found = session.monitor("--on-limit", "wait", "--deadline", "1h").end()
    assert said(found) == ("limited", False, 9)
    why = found["reason"].partition("; ")[2].removesuffix("…")  # a line that is too long is cut in its reason
    assert why.startswith("that is")
    assert "that is beyond the monitor's deadline".startswith(why)


LIMITS = [
    pytest.param({"autoContinueAtUsageLimit": False}, 1, 240.0, id="menu"),
    pytest.param({}, 0, 600.0, id="continues by itself"),
]
"""Claude Code's settings, how many prompts a monitor must send, and the seconds that it all may take."""


@pytest.mark.claude
@pytest.mark.parametrize(("settings", "prompts", "most"), LIMITS)
def test_a_limit_is_waited_for_until_the_work_is_done(
    home: Lab, settings: dict[str, Any], prompts: int, most: float
) -> None:
    session = night(home, "claude", "go [[limit 20]]", oauth=True, settings=settings)
    found = session.monitor("--on-limit", "wait").end(most)
    assert said(found) == ("completed", True, 0), told(found, session)
    assert any("limited" in line for line in found["said"])
    sent = [line for line in found["said"] if "it is told to go on" in line]
    assert len(sent) == prompts, found
    assert ("its menu was answered" in "".join(found["said"])) == bool(prompts)
    screen = session.screen()
    assert "What do you want to do?" not in screen


@pytest.mark.claude
def test_esc_before_the_first_word_below_a_finished_turn_is_no_completion(home: Lab) -> None:
    """The last turn's closing line is still on the screen, and nothing is written of the one that was cut off."""
    session = night(home, "claude", "go [[text All of it is fine.]]")
    assert said(session.monitor().end()) == ("completed", True, 0)
    session.type("again [[hang]]")
    watching = session.monitor("--resume", "3")
    watching.until_said("working")
    session.keys("Escape")
    found = watching.end()
    assert (*said(found), found["cause"]) == ("waiting", False, 8, "interrupted"), told(found, session)
    live = session.verdict()
    assert (live["state"], live["cause"]) == ("waiting", "interrupted"), live


@pytest.mark.claude
def test_a_failed_turn_is_told_with_the_error(home: Lab) -> None:
    session = night(home, "claude", "go [[status 400]]")
    found = session.monitor().end()
    assert (*said(found), found["cause"]) == ("failed", True, 1, "turn-failed"), told(found, session)
    assert found["message"].startswith("API Error: 400")
    assert found["message"] in found["reason"]


@ALL
def test_a_permission_is_told_at_once_and_nobody_answers_it(home: Lab, agent: str) -> None:
    made = home.root / "made"
    outside = "!" if agent.startswith("codex") else ""
    session = night(home, agent, f"go [[bash {outside}touch {made}]] [[text done]]")
    found = session.monitor("--resume", "3").end()
    assert said(found) == ("waiting", False, 8), told(found, session)
    assert "a permission" in found["reason"]
    asked = len(session.journal())
    assert said(session.monitor().end()) == ("waiting", False, 8)
    assert (len(session.journal()), made.exists()) == (asked, False)


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=pytest.mark.claude)])
def test_a_question_is_told_at_once(home: Lab, agent: str) -> None:
    session = night(home, agent, "go [[ask Which colour? | Red | Blue]] [[text done]]")
    found = session.monitor().end()
    assert said(found) == ("waiting", False, 8), told(found, session)
    assert "an answer" in found["reason"]


@TWO
def test_who_presses_escape_is_asked_how_it_goes_on(home: Lab, agent: str) -> None:
    session = night(home, agent, "go [[stream 600 well]]")
    watching = session.monitor("--resume", "3")
    watching.until_said("working")
    session.keys("Escape")
    found = watching.end()
    assert said(found) == ("waiting", False, 8), told(found, session)
    assert "interrupted" in found["reason"]
    assert session.record()["attempt"] == 1, "nobody resumes what a person has interrupted"


@TWO
def test_a_person_who_leaves_has_ended_it(home: Lab, agent: str) -> None:
    session = night(home, agent, "")
    session.ready()
    watching = session.monitor("--resume", "3")
    session.type("/exit" if agent == "claude" else "/quit")
    found = watching.end()
    # For an instant the agent may report the command itself as a turn; a look just then sees one that was left.
    outcome = (found["state"], found["cause"])
    assert outcome in (("completed", "exit"), ("stopped", "left-mid-turn")), found
    assert (found["final"], found["exit_code"]) == (True, 0), found
    assert session.record()["attempt"] == 1, "nobody resumes what a person has ended"


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=pytest.mark.claude)])
def test_an_agent_that_exits_to_a_shell_is_told_by_its_goodbye(home: Lab, agent: str) -> None:
    need(agent)
    session = Spawned(home, agent)
    pane = home.start(agent)
    pane.type("go [[text hello there]]")
    pane.until("hello there")
    watching = session.monitor("-S", home.tmux.arguments[1], target=pane.pane_id)
    watching.until_said("idle")
    pane.type("/exit")
    found = watching.end()
    assert said(found) == ("stopped", True, 10), found
    assert found["reason"].startswith(("it said goodbye", "it ended: exit 0")), found


@TWO
def test_a_killed_tmux_server_takes_the_session_with_it_and_it_is_said_so(lab: Lab, agent: str) -> None:
    session = night(lab, agent)
    watching = session.monitor("--resume", "3")
    watching.until_said("working")
    os.kill(int(lab.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    found = watching.end()
    assert said(found) == ("stopped", True, 10), found
    assert "its terminal went away" in found["reason"]


# Silences ---------------------------------------------------------------------------------------------------------


@TWO
def test_a_suspended_agent_waits_for_a_person_and_is_woken_not_doubled(home: Lab, agent: str) -> None:
    session = night(home, agent)
    watching = session.monitor("--resume", "3", *SOON)
    watching.until_said("working")
    work = session.work()
    os.kill(work, signal.SIGSTOP)
    found = watching.end()
    assert said(found) == ("waiting", False, 8), found
    assert "suspended" in found["reason"]
    woken = session.call("resume", session.name)
    assert (woken.returncode, session.work(), session.record()["attempt"]) == (0, work, 1), woken
    session.until(lambda _: session.verdict()["state"] == "working", SLOW, what="the work to go on")


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=pytest.mark.claude)])
def test_a_silent_tool_is_stuck_only_after_its_threshold_and_is_named(home: Lab, agent: str) -> None:
    allowed = {"permissions": {"allow": ["Bash"]}}
    sleeps = "perl -e 'sleep 600'"  # newer releases refuse to run `sleep` alone
    session = night(home, agent, f"go [[bash {sleeps}]] [[text done]]", settings=allowed)
    found = session.monitor(*SOON).end()
    assert said(found) == ("stuck", False, 4), told(found, session)
    assert re.search(r"the open tool call is .*\bsleep 600", found["reason"]), found["reason"]


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=pytest.mark.claude)])
def test_a_busy_tool_is_never_stuck_however_silent(home: Lab, agent: str) -> None:
    allowed = {"permissions": {"allow": ["Bash"]}}
    busy = "timeout 9 sh -c 'while :; do :; done'; true"
    session = night(home, agent, f"go [[bash {busy}]] [[text done]]", settings=allowed)
    found = session.monitor(*SOON).end()
    assert said(found) == ("completed", True, 0), told(found, session)


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=pytest.mark.claude)])
def test_thinking_in_silence_is_neither_frozen_nor_stalled(home: Lab, agent: str) -> None:
    session = night(home, agent, "go [[think 12]] [[text done]]")
    watching = session.monitor("--grace", "1s")
    found = watching.end()
    assert said(found) == ("completed", True, 0), told(found, session)
    assert not any("stuck" in line for line in watching.said)


# Several ----------------------------------------------------------------------------------------------------------


@TWO
def test_two_resumes_of_one_conversation_are_one(home: Lab, agent: str) -> None:
    session = night(home, agent, "go [[text noted]]")
    assert session.monitor().end()["state"] == "completed"
    conversation = session.conversation()
    assert session.call("stop", session.name).returncode == 0
    words = [sys.executable, "-m", "midwatch", "resume", session.name]
    both = [home.begin(words, **session.env) for _ in range(2)]
    ends = sorted(process.wait(3 * SLOW) for process in both)
    assert ends == [0, 12], [process.stderr.read() for process in both if process.stderr]
    found = [pid for pid in home.alive() if conversation in command(pid)]
    tops = [pid for pid in found if parent(pid) not in found]
    assert len(tops) == 1, [command(pid) for pid in tops]


@pytest.mark.codex
def test_the_shared_daemon_of_codex_survives_the_stop_of_one_of_its_panes_and_is_named(home: Lab) -> None:
    need("codex")
    one = Spawned(home, "codex", "one")
    one.spawn("go [[text first]]")
    two = Spawned(home, "codex", "two", home=one.home)
    two.spawn("go [[slow 2]] [[text second]]")
    daemons = [pid for pid in home.alive() if "--managed-daemon" in command(pid)]
    assert daemons
    stopped = one.call("stop", "one").stdout
    left = [int(pid) for pid in re.findall(r"codex \((\d+)\)", stopped)]
    assert set(daemons) <= {*left}, stopped
    assert all(Path(f"/proc/{pid}").exists() for pid in daemons)
    assert said(two.monitor().end()) == ("completed", True, 0), two.screen()


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def parent(pid: int) -> int:
    told = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return int(told or 0)


# Without a terminal -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", [one for one in KNOWN if one.id != "codex-nodaemon"])
def test_without_a_terminal_it_is_a_job_that_says_what_it_does_while_it_does_it(home: Lab, agent: str) -> None:
    need(agent)
    session = Spawned(home, agent)
    prompt = session.file("go [[think 2]]+[[text all done]]")
    spawned = session.call(
        "spawn", "job", "--agent", session.kind, "--cwd", str(session.cwd), "--headless", "--prompt-file", str(prompt),
        *(("--", *session.more) if session.more else ()),
    )  # fmt: skip
    assert spawned.returncode == 0, spawned
    log = home.root / "jobs" / "job.log"
    session.until(lambda _: log.read_text(), SLOW, what="its first event")
    done = session.call("wait", "job", "--json")
    assert done.returncode == 0, (done.stdout, log.read_text()[-2000:])
    events = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert len(events) > 1, "it was silent until its end"
    assert "all done" in log.read_text()
    assert "go [[think" not in " ".join(json.loads((home.root / "jobs" / "job.json").read_text())["command"])
