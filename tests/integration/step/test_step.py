"""A step of work in one call: whatever becomes of it, one JSON line says what is next, and its session is closed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.core.policy import PATIENT
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.sessions.spawn import SpawnRequest
from midwatch.stories.step import StepPlan, StepRunner
from tests.conftest import PATIENCE, Done, alive, kill, until, until_gone
from tests.integration.notify.conftest import Notices
from tests.integration.spawn.office import Office

INCOMPLETE, STOPPED, REFUSED, INTERRUPTED = 6, 10, 12, 130
SAID = {
    "status": "SUCCESS",
    "tests_passed": True,
    "build_passed": True,
    "summary": "All is well.",
    "next_action": "proceed",
}
REVIEW = {
    "status": "FAILURE", "issues_found": {"critical": 1, "high": 0, "medium": 0, "low": 0}, "all_fixed": False,
    "summary": "One is left.", "next_action": "retry",
}  # fmt: skip
GOOD = REVIEW | {"status": "SUCCESS", "all_fixed": True, "summary": "All are fixed.", "next_action": "proceed"}


class Steps:
    """Steps in an office, and the model that reads what they show."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.asked = office.home / "asked"
        self.answers = office.home / "answers"
        self.started: list[subprocess.Popen[str]] = []

    def words(self, prompt: str, *more: str) -> list[str]:
        given = ["api", "--agent", "claude", "--socket", str(self.office.tmux.socket), "--prompt", prompt]
        return ["step", *given, *([] if "--" in more else ["--json"]), *more]

    def __call__(self, prompt: str, *more: str, **env: str) -> Done:
        return self.office.box(*self.words(prompt, *more), **env)

    def begin(self, prompt: str, *more: str, **env: str) -> subprocess.Popen[str]:
        found = self.office.box.start(*self.words(prompt, *more), env=env)
        self.started.append(found)
        return found

    def end(self, process: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
        out, err = process.communicate(timeout=2 * PATIENCE)
        assert out, err
        return process.returncode, json.loads(out)

    def model(self, *answers: object) -> None:
        """What reads the output answers these, one after the other, the last again and again."""
        self.answers.write_text("\n".join(json.dumps(each) for each in answers) + "\n")
        program = (
            "import sys; asked = sys.argv[1]; open(asked, 'a').write(sys.stdin.read() + chr(0));"
            "lines = open(sys.argv[2]).read().splitlines(); n = open(asked).read().count(chr(0));"
            "print(lines[min(n, len(lines)) - 1])"
        )
        words = [sys.executable, "-I", "-S", "-c", program, str(self.asked), str(self.answers)]
        self.office.box.env["MIDWATCH_PARSE_COMMAND"] = shlex.join(words)

    def questions(self) -> list[str]:
        return self.asked.read_text().split("\0")[:-1] if self.asked.exists() else []

    def gone(self) -> bool:
        """Whether nothing is left of any attempt."""
        for start in self.office.starts():
            until_gone(start["pid"])
        return not self.office.sessions()

    def close(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def steps(office: Office) -> Iterator[Steps]:
    found = Steps(office)
    yield found
    found.close()


# What becomes of it ---------------------------------------------------------------------------------------------------


def test_a_step_that_went_well_is_gone_on_with_and_leaves_nothing_but_its_output(steps: Steps) -> None:
    steps.model(SAID)
    done = steps("say", "--step", "dev", "--verify", "true")
    found = done.json
    assert (done.code, found["state"], found["next_action"], found["verified"]) == (0, "completed", "proceed", True)
    assert (found["attempts"], found["cycles"], found["why"], found["name"]) == (1, 1, "All is well.", "api")
    assert found["parsed"] | SAID == found["parsed"]
    assert "● Fine." in Path(found["output"]).read_text()
    assert "● Fine." in steps.questions()[0]
    assert steps.gone()
    assert steps.office.listed() == {"api": "completed"}
    assert "api: attempt 1 has begun" in done.err


def test_without_a_verifier_and_a_step_the_end_of_the_turn_is_what_counts(steps: Steps) -> None:
    done = steps("say")
    found = done.json
    assert (done.code, found["next_action"], found["verified"], found["parsed"]) == (0, "proceed", None, None)
    assert found["step"] is None
    assert "nothing to verify against" in found["why"]
    assert steps.gone()


def test_idle_is_not_done(steps: Steps) -> None:
    steps.model(SAID)
    done = steps("say", "--step", "dev", "--verify", "file:made")
    found = done.json
    assert (done.code, found["state"], found["verified"]) == (INCOMPLETE, "incomplete", False)
    assert (found["next_action"], found["parsed"]) == ("escalate", None)
    assert "there is no made" in found["why"]
    assert steps.questions() == []
    assert steps.gone()


@pytest.mark.parametrize(
    ("prompt", "state", "action", "code"),
    [
        ("fail", "failed", "escalate", 1),
        ("exit 3", "failed", "escalate", 1),
        ("exit 0", "stopped", "escalate", 10),
        ("ask", "waiting", "escalate", 8),
        ("stop", "waiting", "escalate", 8),
        ("limit 5pm (UTC)", "limited", "retry", 9),
        ("die 15", "crashed", "escalate", 3),
    ],
)
def test_what_did_not_go_well_is_said_and_its_session_closed(
    steps: Steps, prompt: str, state: str, action: str, code: int
) -> None:
    done = steps(prompt)
    found = done.json
    assert (done.code, found["state"], found["next_action"], found["attempts"]) == (code, state, action, 1)
    assert found["why"]
    assert found["until"] == ("5pm (UTC)" if state == "limited" else None)
    assert steps.gone()


def test_a_prompt_that_a_dialog_is_in_the_way_of_is_for_a_person(steps: Steps) -> None:
    steps.office.begin("trust")
    done = steps("say")
    assert (done.code, done.json["state"], done.json["next_action"]) == (8, "waiting", "escalate")
    assert "its prompt was not delivered" in done.json["why"]
    assert steps.gone()


@pytest.mark.parametrize("begin", ["exit 0", "bye 0"])
def test_an_agent_that_leaves_before_it_has_its_prompt_has_done_nothing(steps: Steps, begin: str) -> None:
    steps.office.begin(begin)
    done = steps("say", "--verify", "true")
    assert (done.code, done.json["state"], done.json["next_action"]) == (STOPPED, "stopped", "escalate")
    assert done.json["verified"] is None
    assert steps.gone()


def test_an_agent_that_is_not_there_is_for_a_person(steps: Steps) -> None:
    (steps.office.home / "bin/claude").unlink()
    done = steps("say", PATH="/usr/bin:/bin")
    assert (done.code, done.json["state"], done.json["next_action"]) == (1, "failed", "escalate")
    assert "could not be started" in done.json["why"]
    assert steps.office.sessions() == []


def test_what_takes_too_long_is_ended(steps: Steps) -> None:
    done = steps("work", "--deadline", "3s")
    found = done.json
    assert (done.code, found["state"], found["next_action"]) == (5, "timeout", "escalate")
    assert "the step's time was up (3s); it was working" in found["reason"]
    assert steps.gone()


# Again ----------------------------------------------------------------------------------------------------------------


def test_a_crash_is_begun_again_and_each_attempt_is_a_run_of_its_own(steps: Steps) -> None:
    process = steps.begin("work")
    steps.office.until_watched("working")
    first = steps.office.box.record("api")["run"]
    kill(steps.office.start(1)["pid"], signal.SIGKILL)
    steps.office.start(2)
    steps.office.go()
    code, found = steps.end(process)
    assert (code, found["state"], found["next_action"]) == (0, "completed", "proceed")
    assert (found["attempts"], found["cycles"]) == (2, 1)
    assert steps.office.box.record("api")["run"] != first
    archived = steps.office.box.path("archive/api/000001")
    assert json.loads((archived / "api.json").read_text())["run"] == first
    assert (archived / "api.output").exists()
    assert steps.gone()


def test_what_a_crash_left_running_is_ended_first(steps: Steps) -> None:
    process = steps.begin("child")
    child = steps.office.notes / "child"
    until(lambda: child.exists() and child.read_text() != "")
    left = int(child.read_text())
    steps.office.until_watched("working")
    child.unlink()
    kill(steps.office.start(1)["pid"], signal.SIGKILL)
    steps.office.start(2)
    assert not alive(left)
    steps.office.go()
    assert steps.end(process)[1]["attempts"] == 2
    assert steps.gone()


def test_after_so_many_crashes_a_person_must_look(steps: Steps) -> None:
    steps.office.begin(*3 * ["die 9"])
    done = steps("say")
    found = done.json
    assert (done.code, found["state"], found["next_action"], found["attempts"]) == (3, "crashed", "escalate", 3)
    assert found["why"].startswith("crashed after 2 retries: ")
    assert done.err.count("crash retry") == 2
    assert steps.gone()


def test_a_crash_may_be_the_last_one(steps: Steps) -> None:
    done = steps("die 9", "--crash-retries", "0")
    assert (done.code, done.json["attempts"], done.json["next_action"]) == (3, 1, "escalate")
    assert len(steps.office.starts()) == 1


def test_a_hang_is_ended_and_begun_again(steps: Steps) -> None:
    process = steps.begin("work", "--crash-retries", "1", MIDWATCH_STALE="2s", MIDWATCH_GRACE="1s")
    first = steps.office.start(1)["pid"]
    until_gone(first)
    code, found = steps.end(process)
    assert (code, found["state"], found["attempts"], found["next_action"]) == (4, "stuck", 2, "escalate")
    assert steps.gone()


def test_work_of_an_attempt_that_crashed_counts(steps: Steps) -> None:
    process = steps.begin("work", "--verify", "file:made")
    steps.office.until_watched("working")
    (steps.office.cwd / "made").write_text("x")
    os.utime(steps.office.cwd / "made", 2 * (steps.office.box.record("api")["started"],))
    kill(steps.office.start(1)["pid"], signal.SIGKILL)
    steps.office.start(2)
    steps.office.go()
    code, found = steps.end(process)
    assert (code, found["verified"], found["attempts"]) == (0, True, 2)


def test_a_person_who_stops_it_does_not_want_it_back(steps: Steps) -> None:
    process = steps.begin("work")
    steps.office.until_watched("working")
    assert steps.office.box("stop", "api").code == 0
    code, found = steps.end(process)
    assert (code, found["state"], found["next_action"], found["attempts"]) == (STOPPED, "stopped", "escalate", 1)
    assert steps.gone()


def test_nor_if_it_crashed_just_then(steps: Steps) -> None:
    process = steps.begin("work")
    steps.office.until_watched("working")
    steps.office.box.path("api.halt").write_text(f"{time.time()}\n")
    kill(steps.office.start(1)["pid"], signal.SIGKILL)
    code, found = steps.end(process)
    assert (code, found["state"], found["attempts"]) == (STOPPED, "stopped", 1)
    assert found["why"].startswith("somebody stopped it; before that: crashed, ")


def test_a_review_is_gone_through_until_nothing_is_left_to_mend(steps: Steps) -> None:
    steps.model(REVIEW, REVIEW, GOOD)
    done = steps("say", "--step", "review")
    found = done.json
    assert (done.code, found["next_action"], found["cycles"], found["attempts"]) == (0, "proceed", 3, 3)
    assert found["why"] == "All are fixed."
    assert "review cycle 3 of 5 begins" in done.err
    assert steps.gone()


def test_a_review_that_never_ends_is_for_a_person(steps: Steps) -> None:
    steps.model(REVIEW)
    done = steps("say", "--step", "review", "--cycles", "2")
    found = done.json
    assert (done.code, found["state"], found["next_action"]) == (INCOMPLETE, "completed", "escalate")
    assert (found["cycles"], found["why"]) == (2, "review loop: 2 cycles: One is left.")


def test_a_review_that_is_not_verified_is_gone_through_again(steps: Steps) -> None:
    done = steps("say", "--step", "review", "--no-parse", "--verify", 'echo >>tries; test "$(wc -l <tries)" = 2')
    assert (done.code, done.json["cycles"], done.json["next_action"], done.json["verified"]) == (0, 2, "proceed", True)


# Reading --------------------------------------------------------------------------------------------------------------


def test_what_a_model_wants_done_again_is_left_to_the_caller_unless_it_is_a_review(steps: Steps) -> None:
    steps.model(SAID | {"status": "FAILURE", "next_action": "retry", "tests_passed": False})
    done = steps("say", "--step", "dev")
    assert (done.code, done.json["state"], done.json["next_action"]) == (INCOMPLETE, "completed", "retry")
    assert (done.json["attempts"], done.json["parsed"]["tests_passed"]) == (1, False)


@pytest.mark.parametrize("command", ["echo it went well", "false", "echo '{\"status\":'", "exec /nowhere/model"])
def test_a_model_that_cannot_tell_is_for_a_person(steps: Steps, command: str) -> None:
    done = steps("say", "--step", "dev", MIDWATCH_PARSE_COMMAND=command)
    assert (done.code, done.json["state"], done.json["next_action"]) == (INCOMPLETE, "completed", "escalate")
    assert done.json["why"].startswith("sub-agent ")
    assert steps.gone()


def test_rules_ask_no_model(steps: Steps) -> None:
    steps.model(SAID)
    done = steps("say", "--step", "dev", "--rules")
    assert (done.json["parsed"]["by"], done.json["next_action"]) == ("rules", "escalate")
    assert steps.questions() == []


# Creating -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "action", "why"),
    [
        ("touch docs/a.md", "proceed", ""),
        ("true", "escalate", "no file was created"),
        ("touch docs/a.md docs/b.md docs/c.md", "escalate", "runaway creation: 3 files"),
    ],
)
def test_exactly_one_file_must_be_created(steps: Steps, made: str, action: str, why: str) -> None:
    (steps.office.cwd / "docs").mkdir()
    (steps.office.cwd / "docs/old.md").write_text("x")
    done = steps("say", "--creates", "docs/*.md", "--verify", made)
    assert (done.json["next_action"], done.code) == (action, 0 if action == "proceed" else INCOMPLETE)
    assert done.json["why"].startswith(why)


def test_a_step_that_creates_stories_is_counted_where_stories_are(steps: Steps) -> None:
    stories = steps.office.cwd / "_bmad-output/implementation-artifacts"
    stories.mkdir(parents=True)
    made = f"touch {stories}/5-4-cart.md {stories}/5-5-till.md {stories}/sprint-status.yaml"
    done = steps("say", "--step", "create", "--no-parse", "--verify", made)
    assert (done.json["why"], done.json["created"]) == ("runaway creation: 2 files", 2)


# Keeping and ending ---------------------------------------------------------------------------------------------------


def test_the_last_session_is_kept_if_that_is_wanted(steps: Steps) -> None:
    steps.model(REVIEW, GOOD)
    done = steps("say", "--step", "review", "--keep")
    assert (done.code, done.json["attempts"]) == (0, 2)
    first, last = (start["pid"] for start in steps.office.starts())
    until_gone(first)
    assert alive(last)
    assert steps.office.sessions() == ["api"]


@pytest.mark.parametrize(("number", "wanted"), [(signal.SIGTERM, STOPPED), (signal.SIGINT, INTERRUPTED)])
def test_whoever_ends_the_step_ends_its_session(steps: Steps, number: signal.Signals, wanted: int) -> None:
    process = steps.begin("work")
    steps.office.until_watched("working")
    process.send_signal(number)
    code, found = steps.end(process)
    assert (code, found["state"], found["next_action"]) == (wanted, "stopped", "escalate")
    assert f"the step was ended by {number.name}; it was (working" in found["why"]
    assert steps.gone()


def test_also_before_its_prompt(steps: Steps) -> None:
    steps.office.begin("work")
    process = steps.begin("say")
    steps.office.start(1)
    process.terminate()
    code, found = steps.end(process)
    assert (code, found["state"]) == (STOPPED, "stopped")
    assert steps.gone()


def test_also_while_a_model_is_asked(steps: Steps) -> None:
    busy = steps.office.home / "busy"
    process = steps.begin(
        "say", "--step", "dev", MIDWATCH_PARSE_COMMAND=f"echo $$ >{busy}.new; mv {busy}.new {busy}; exec sleep 600"
    )
    until(busy.exists)
    process.terminate()
    code, found = steps.end(process)
    assert (code, found["state"], found["next_action"], found["parsed"]) == (STOPPED, "stopped", "escalate", None)
    until_gone(int(busy.read_text()))
    assert steps.gone()


def test_also_while_the_work_is_verified(steps: Steps) -> None:
    busy = steps.office.home / "busy"
    process = steps.begin("say", "--verify", f"echo $$ >{busy}.new; mv {busy}.new {busy}; exec sleep 600")
    until(busy.exists)
    process.terminate()
    code, found = steps.end(process)
    assert (code, found["state"], found["verified"]) == (STOPPED, "stopped", None)
    until_gone(int(busy.read_text()))
    assert steps.gone()


def test_that_nobody_reads_along_any_more_ends_nothing(steps: Steps) -> None:
    reader, writer = os.pipe()
    process = steps.office.box.start(*steps.words("say"), stderr=writer)
    steps.started.append(process)
    os.close(writer)
    os.close(reader)
    out, _ = process.communicate(timeout=2 * PATIENCE)
    assert json.loads(out)["next_action"] == "proceed"
    assert steps.gone()


def test_whatever_breaks_its_session_is_closed(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    office = steps.office
    for name, value in office.box.env.items():
        monkeypatch.setenv(name, value)
    claude = next(each for each in catalog.load_all() if each.agent == "claude")
    wish = SpawnRequest("api", claude, str(office.cwd), ("-S", str(office.tmux.socket)))

    def broken(verdict: Verdict) -> None:
        raise ZeroDivisionError(verdict.state)

    stepper = StepRunner(
        JobDirectory(str(office.box.dir), lambda: PATIENT), PATIENT, StepPlan(wish, "work"), broken, print
    )
    with pytest.raises(ZeroDivisionError):
        stepper.run()
    assert steps.gone()
    assert "Claude Code" in office.box.path("api.output").read_text()


def test_a_kept_session_outlives_the_step(steps: Steps) -> None:
    process = steps.begin("work", "--keep")
    steps.office.until_watched("working")
    process.terminate()
    code, found = steps.end(process)
    assert (code, found["state"]) == (11, "abandoned")
    assert steps.office.sessions() == ["api"]
    assert steps.office.listed() == {"api": "working"}


# Notices --------------------------------------------------------------------------------------------------------------


def test_a_crash_that_is_begun_again_is_marked_as_no_end(steps: Steps) -> None:
    """Whoever is about to tell of it finds that, and does not."""
    process = steps.begin("work")
    steps.office.until_watched("working")
    kill(steps.office.start(1)["pid"], signal.SIGKILL)
    steps.office.start(2)
    watch = json.loads(steps.office.box.path("archive/api/000001/api.watch").read_text())
    assert (watch["acting"], watch["verdict"]) == ("resume", None)
    steps.office.go()
    assert steps.end(process)[0] == 0


def test_a_crash_that_is_the_last_one_is_told(steps: Steps) -> None:
    notices = Notices(steps.office.box, steps.office.home)
    notices.mine(notices.command(fields='"{state}", "{name}"'))
    steps("die 9", "--crash-retries", "0")
    until(lambda: bool(notices.delivered()))
    until(lambda: not notices.tellers())
    assert notices.delivered() == [["crashed", "api"]]


# Refused --------------------------------------------------------------------------------------------------------------


def test_a_session_of_that_name_is_left_alone(steps: Steps) -> None:
    steps.office.spawned("api", prompt="work")
    done = steps("say")
    assert (done.code, done.json["state"], done.json["next_action"]) == (REFUSED, "unknown", "escalate")
    assert "no session was started: api is" in done.json["why"]
    assert done.json["attempts"] == 0
    assert steps.office.listed() == {"api": "working"}


def test_a_broken_environment_is_not_worked_in(steps: Steps) -> None:
    (steps.office.cwd / "midwatch.toml").write_text('[[check]]\nenv = "NEEDED"\n')
    done = steps("say", "--preflight")
    assert (done.code, done.json["next_action"], done.json["attempts"]) == (REFUSED, "escalate", 0)
    assert "NEEDED is not set" in done.json["why"]
    assert steps.office.starts() == []
    assert steps("say", "--preflight", NEEDED="1").code == 0


def test_what_every_step_needs_is_looked_for(steps: Steps) -> None:
    (steps.office.home / "bin/claude").unlink()
    done = steps("say", "--preflight", "--step", "dev", MIDWATCH_PARSE_COMMAND="MODEL=1 no-such-reader -p")
    assert (done.code, done.json["attempts"]) == (REFUSED, 0)
    assert "Claude Code: it is not in PATH" in done.json["why"]
    assert "what reads its output: exit code 127: no-such-reader is not in PATH" in done.json["why"]


def test_a_person_is_told_in_a_line(steps: Steps) -> None:
    words = [word for word in steps.words("say", "--no-such") if word not in ("--json", "--no-such")]
    done = steps.office.box(*words)
    assert done.out == "api: completed, proceed: its turn has ended; nothing to verify against\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("api", "--agent", "claude"), "step needs --prompt or --prompt-file"),
        (("--agent", "claude", "--prompt", "x"), "step needs one NAME"),
        (("api", "--agent", "nobody", "--prompt", "x"), "--agent is one of"),
        (("api", "--agent", "claude", "--prompt", "x", "--step", "dance"), "--step is one of create, dev"),
        (("api", "--agent", "claude", "--prompt", "x", "--rules"), "say which with --step"),
        (("api", "--agent", "claude", "--prompt", "x", "--step", "dev", "--rules", "--no-parse"), "give one"),
        (("api", "--agent", "claude", "--prompt", "x", "--cycles", "0"), "--cycles is a number from 1"),
        (("api", "--agent", "claude", "--prompt", "x", "--crash-retries", "two"), "--crash-retries is a number"),
        (("api", "--agent", "claude", "--prompt", "x", "--deadline", "0"), "--deadline must be above 0"),
        (("api", "--agent", "claude", "--prompt", "x", "--verify", "git:x"), "--verify git:x is not known"),
    ],
)
def test_what_is_meant_by_a_step_must_be_said_well(office: Office, words: tuple[str, ...], said: str) -> None:
    done = office.box("step", *words)
    assert done.code == 2
    assert said in done.err
