"""`midwatch parse`: a model is asked through a command, whatever that does, and is not believed blindly."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from midwatch.stories import parse as stories_parse
from tests.conftest import Box, until, until_gone

UNTOLD, REFUSED = 6, 12
GOOD = {
    "status": "SUCCESS", "tests_passed": True, "build_passed": True, "summary": "done", "next_action": "proceed",
}  # fmt: skip
MODEL = """\
#!{python}
import json, os, sys
here = {here!r}
asked = len([name for name in os.listdir(here) if name.startswith("asked")])
with open(f"{{here}}/asked{{asked}}", "w") as file:
    json.dump({{"argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": dict(os.environ)}}, file)
says = open(f"{{here}}/says").read()
exec(says)
"""


class Model:
    """A stand-in for the model: a program that notes what it is asked, then does what the test says."""

    def __init__(self, home: Path) -> None:
        self.here = home / "model"
        self.here.mkdir()
        self.program = self.here / "claude"
        self.program.write_text(MODEL.format(python=sys.executable, here=str(self.here)))
        self.program.chmod(0o755)

    def does(self, code: str) -> None:
        (self.here / "says").write_text(textwrap.dedent(code))

    def says(self, *answers: str) -> None:
        self.does(f"print({list(answers)!r}[min(asked, {len(answers) - 1})])")

    @property
    def asked(self) -> list[dict[str, object]]:
        return [json.loads(path.read_text()) for path in sorted(self.here.glob("asked*"))]


@pytest.fixture
def model(box: Box) -> Model:
    found = Model(box.cwd)
    box.env["PATH"] = f"{found.here}:{box.env['PATH']}"
    (box.cwd / "log").write_text("Bash(make test)\n40 passed in 2s\n")
    return found


# A model that answers


def test_the_small_model_is_asked_on_its_standard_input(box: Box, model: Model) -> None:
    model.says(json.dumps(GOOD))
    done = box("parse", "log", "--step", "dev")
    assert (done.code, done.err) == (0, ""), done
    assert done.json == {"schema": 1, "step": "dev", "by": "model", **GOOD}
    (asked,) = model.asked
    assert asked["argv"] == ["-p", "--model", "haiku"]
    assert "| 40 passed in 2s" in str(asked["stdin"])


def test_it_is_not_told_that_an_agent_called_us_but_how_to_sign_in(box: Box, model: Model) -> None:
    model.says(json.dumps(GOOD))
    gone = {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SSE_PORT": "1", "TMUX_PANE": "%1"}
    kept = {"CLAUDE_CODE_OAUTH_TOKEN": "x", "CLAUDE_CODE_USE_BEDROCK": "1", "ANTHROPIC_API_KEY": "y"}
    assert box("parse", "log", "--step", "dev", **gone, **kept).code == 0
    env = model.asked[0]["env"]
    assert isinstance(env, dict)
    assert (gone.keys() & env.keys(), kept.keys() - env.keys()) == (set(), set())


def test_an_answer_that_does_not_fit_is_asked_for_once_more(box: Box, model: Model) -> None:
    model.says("All is well.", f"```json\n{json.dumps(GOOD, indent=2)}\n```")
    assert box("parse", "log", "--step", "dev").json["next_action"] == "proceed"
    first, second = [str(asked["stdin"]) for asked in model.asked]
    assert "could not be used: no JSON object is in it" in second
    assert second.startswith(first.rstrip())


def test_a_call_that_failed_is_made_once_more(box: Box, model: Model) -> None:
    model.does(f"print({json.dumps(GOOD)!r}) if asked else sys.exit('overloaded')")
    assert box("parse", "log", "--step", "dev").json["status"] == "SUCCESS"


def test_a_model_that_contradicts_itself_is_not_believed(box: Box, model: Model) -> None:
    model.says(json.dumps({**GOOD, "tests_passed": False}))
    done = box("parse", "log", "--step", "dev")
    assert (done.code, done.json["next_action"], done.json["status"]) == (0, "retry", "AMBIGUOUS")
    assert "tests_passed is false, so it is not believed: done" in done.json["summary"]


def test_of_a_hundred_thousand_lines_the_last_are_asked_about(box: Box, model: Model) -> None:
    model.says(json.dumps(GOOD))
    with (box.cwd / "log").open("w") as log:
        log.writelines(f"line {n} of a long night\n" for n in range(100_000))
    assert box("parse", "log", "--step", "dev").code == 0
    asked = [row for row in str(model.asked[0]["stdin"]).splitlines() if row.startswith("|")]
    assert asked == [f"| line {n} of a long night" for n in range(99_850, 100_000)]


# A model that does not


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("print('All tests pass.')", "sub-agent returned invalid json: no JSON object is in it"),
        ('print(\'{"status": "SUCCESS", \')', "sub-agent returned invalid json: no JSON object is in it"),
        ('print(\'{"status": "SUCCESS"}\')', "sub-agent returned invalid json: summary is missing; it must be "),
        ("pass", "sub-agent returned invalid json: it is empty"),
        (
            "sys.exit('\\x1b[31mInvalid API key')",
            "sub-agent call failed: `claude -p --model haiku` ended with 1: Invalid API key",
        ),
        (
            f"print({json.dumps(GOOD)!r}); sys.exit(3)",
            "sub-agent call failed: `claude -p --model haiku` ended with 3: {",
        ),
        ("os.kill(os.getpid(), 9)", "sub-agent call failed: `claude -p --model haiku` "),
        ("os.write(1, b'{\\xff\\xfe}')", "sub-agent returned invalid json: the answer is not UTF-8"),
        (
            "for _ in range(100): os.write(1, b'{' * 1_000_000)",
            "sub-agent returned invalid json: `claude -p --model haiku` said more than 64 kB",
        ),
    ],
    ids=["prose", "half", "part", "nothing", "failed", "failed-with-answer", "killed", "no-utf8", "100MB"],
)
def test_what_a_model_does_instead_of_answering_is_for_people(box: Box, model: Model, code: str, trouble: str) -> None:
    model.does(code)
    done = box("parse", "log", "--step", "dev")
    assert (done.code, done.err, len(model.asked)) == (UNTOLD, "", 2), done
    assert done.json["trouble"].startswith(trouble)
    assert (done.json["status"], done.json["next_action"], done.json["by"]) == ("AMBIGUOUS", "escalate", "model")
    assert done.json["summary"] == done.json["trouble"]
    assert (done.json["tests_passed"], done.json["build_passed"]) == (None, None)


def test_a_program_that_is_not_there_is_not_called_again(box: Box, model: Model) -> None:
    done = box("parse", "log", "--step", "dev", MIDWATCH_PARSE_COMMAND="nosuchmodel -p")
    assert done.code == UNTOLD
    assert done.json["trouble"].startswith("sub-agent call failed: `nosuchmodel -p` ended with 127: ")
    assert model.asked == []


def mentioned(mark: str) -> list[int]:
    """Processes that have a word on their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(int(pid))
        except OSError:
            continue
    return found


def test_a_model_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    mark = f"600.{os.getpid()}"
    found = stories_parse.parse_log("x", "retro", f"echo >>{tmp_path}/asked; sleep {mark} & sleep {mark}", limit_s=1.0)
    assert found.trouble is not None
    assert found.trouble.kind == "sub-agent timed out"
    assert found.trouble.detail.endswith(" took longer than 1s and was ended")
    assert (found.status, found.next_action) == ("AMBIGUOUS", "escalate")
    until(lambda: not mentioned(mark))
    asked = tmp_path / "asked"
    assert not asked.exists() or asked.read_text() == "\n"  # a machine under load may not even have come to that


def test_what_it_leaves_running_neither_delays_the_answer_nor_stays(box: Box, model: Model) -> None:
    (box.cwd / "answer").write_text(json.dumps(GOOD))
    done = box("parse", "log", "--step", "dev", MIDWATCH_PARSE_COMMAND="sleep 600 & echo $! >left; cat answer")
    assert (done.code, model.asked) == (0, [])
    until_gone(int((box.cwd / "left").read_text()))


def test_a_model_that_reads_nothing_is_not_waited_for(box: Box, model: Model) -> None:
    (box.cwd / "log").write_text(("x" * 900 + "\n") * 150)  # more than a pipe takes
    (box.cwd / "answer").write_text(json.dumps(GOOD))
    assert box("parse", "log", "--step", "dev", MIDWATCH_PARSE_COMMAND="exec <&-; cat answer").code == 0
    assert model.asked == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whoever_ends_us_ends_the_model(box: Box, model: Model, number: int) -> None:
    left = model.here / "left"
    command = f"echo $$ >{left}.new; mv {left}.new {left}; sleep 600"
    parse = box.start("parse", "log", "--step", "dev", env={"MIDWATCH_PARSE_COMMAND": command})
    until(left.exists, model.here)
    parse.send_signal(number)
    out, err = parse.communicate(timeout=30)
    assert (parse.returncode, out, err) == (128 + number, "", "")
    until_gone(int(left.read_text()))


# Without a model


def test_rules_need_no_model_and_say_that_they_were_it(box: Box, model: Model) -> None:
    done = box("parse", "log", "--step", "dev", "--rules")
    assert done.code == 0
    assert done.json == {
        "schema": 1, "step": "dev", "status": "SUCCESS", "summary": "it says “40 passed in 2s”",
        "next_action": "proceed", "tests_passed": True, "build_passed": None, "by": "rules",
    }  # fmt: skip
    assert model.asked == []


def test_rules_that_know_nothing_of_a_log_escalate(box: Box) -> None:
    with (box.cwd / "log").open("w") as log:
        log.writelines(f"line {n}\n" for n in range(100_000))
    done = box("parse", "log", "--step", "review", "--rules", "--json")
    assert (done.code, done.json["status"], done.json["next_action"]) == (0, "AMBIGUOUS", "escalate")


# Files and flags


@pytest.mark.parametrize("what", ["missing", "empty", "blank", "directory", "pipe", "sealed"])
def test_what_cannot_be_read_is_refused(box: Box, model: Model, what: str) -> None:
    path = box.cwd / what
    match what:
        case "empty":
            path.touch()
        case "blank":
            path.write_text("\n \n")
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "sealed":
            path.symlink_to("/proc/self/mem")
    done = box("parse", what, "--step", "dev")
    assert (done.code, done.out, model.asked) == (REFUSED, "", []), done
    assert what in done.err


def test_bytes_that_are_no_text_are_a_log_too(box: Box, model: Model) -> None:
    model.says(json.dumps(GOOD))
    (box.cwd / "log").write_bytes(b"\xff\xfe\x00 40 passed\r\n\x1b[2J")
    assert box("parse", "log", "--step", "dev").code == 0
    assert "40 passed" in str(model.asked[0]["stdin"])


@pytest.mark.parametrize(
    "words", [("log",), ("log", "--step", "deploy"), ("--step", "dev"), ("log", "log", "--step", "dev")]
)
def test_what_makes_no_sense_is_a_usage_error(box: Box, model: Model, words: tuple[str, ...]) -> None:
    done = box("parse", *words)
    assert (done.code, done.out, model.asked) == (2, "", [])


# Which command


def test_a_project_s_command_is_run_once_it_is_trusted(box: Box, model: Model) -> None:
    file = box.cwd / "midwatch.toml"
    file.write_text('[parse]\ncommand = "touch ran; claude theirs"\n')
    file.chmod(0o644)
    model.says(json.dumps(GOOD))
    done = box("parse", "log", "--step", "dev")
    assert (done.code, done.out, model.asked) == (REFUSED, "", [])
    assert "is not trusted: read it, then `midwatch trust`" in done.err
    assert not (box.cwd / "ran").exists()
    shown = box("trust", "--yes").out
    assert "  line 2    parse    touch ran; claude theirs\n" in shown
    assert box("parse", "log", "--step", "dev").code == 0
    assert box("parse", "log", "--step", "dev", MIDWATCH_PARSE_COMMAND="claude mine").code == 0
    assert [asked["argv"] for asked in model.asked] == [["theirs"], ["mine"]]
    assert box("trust", "--json").out.splitlines()[0] == json.dumps(
        {"schema": 1, "command": {"kind": "parse", "target": "touch ran; claude theirs"}, "line": 2}
    )


def test_the_user_s_own_command_needs_no_trust(box: Box, model: Model) -> None:
    file = box.cwd / ".config" / "midwatch" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[parse]\ncommand = "claude mine"\n')
    model.says(json.dumps(GOOD))
    assert box("parse", "log", "--step", "dev").code == 0
    assert model.asked[0]["argv"] == ["mine"]


def test_rules_run_nothing_of_an_untrusted_file(box: Box, model: Model) -> None:
    (box.cwd / "midwatch.toml").write_text('[parse]\ncommand = "touch ran"\n')
    assert box("parse", "log", "--step", "dev", "--rules").code == 0
    assert (model.asked, (box.cwd / "ran").exists()) == ([], False)


@pytest.mark.parametrize("text", ["command = 1", 'command = " "', 'comand = "x"', 'command = ["x"]'])
def test_a_setting_that_is_wrong_is_told_with_its_line(box: Box, model: Model, text: str) -> None:
    (box.cwd / "midwatch.toml").write_text(f"[parse]\n{text}\n")
    done = box("parse", "log", "--step", "dev")
    assert (done.code, model.asked) == (REFUSED, [])
    assert "midwatch.toml:2: " in done.err
