import json
from pathlib import Path

import pytest

from tests.conftest import Box
from tests.integration.wait.watching import KEYS, Gate, start, start_gated

LONGEST = 500
LONG_NAME = "n" * 100


def size_without_result(line: str) -> int:
    found = json.loads(line)
    if found["result"] is None:
        return len(line.rstrip("\n").encode())
    found["result"] = None
    return len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode())


def long_directory(box: Box) -> Path:
    return box.cwd / ("d" * 200) / ("e" * 200) / ("f" * 200)


def test_the_line_has_exactly_the_keys_of_the_contract(box: Box) -> None:
    start(box, "job", "true")
    assert list(box("wait", "job", "--json").json) == KEYS


def test_the_line_of_a_missing_job_has_the_same_keys(box: Box) -> None:
    assert list(box("wait", "nobody", "--json").json) == KEYS


def test_the_line_of_a_live_job_has_the_same_keys(box: Box) -> None:
    start(box, "job", "sleep", "300")
    assert list(box("wait", "job", "--json", "--timeout", "0s").json) == KEYS


def test_the_line_says_what_became_of_the_work(box: Box) -> None:
    start(box, "job", "sh", "-c", "exit 7")
    found = box("wait", "job", "--json").json
    assert (found["schema"], found["name"], found["kind"]) == (1, "job", "job")
    assert (found["state"], found["final"], found["exit_code"], found["signal"]) == ("failed", True, 7, None)
    assert found["log"] == str(box.path("job.log"))
    assert found["elapsed_s"] >= 0
    assert found["next"] == "escalate"


def test_the_result_stands_in_the_line_as_json(box: Box) -> None:
    start(box, "job", "sh", "-c", """echo '{"files": [1, 2], "ok": true}' > "$MIDWATCH_DIR/$MIDWATCH_NAME.result" """)
    assert box("wait", "job", "--json").json["result"] == {"files": [1, 2], "ok": True}


def test_one_line_ends_the_output(box: Box) -> None:
    start(box, "job", "true")
    out = box("wait", "job", "--json").out
    assert out.endswith("\n")
    assert out.count("\n") == 1


def test_without_json_one_line_for_people_names_job_state_and_reason(box: Box) -> None:
    start(box, "job", "sh", "-c", "exit 7")
    done = box("wait", "job")
    assert done.out.startswith("job: failed: exit 7 after ")
    assert done.out.count("\n") == 1


def test_nothing_is_said_on_standard_error_when_piped(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo out; echo err >&2; exit 1")
    assert box("wait", "job").err == ""


@pytest.mark.parametrize("script", ["exit 0", "exit 3", "kill -9 $$", "exec /no/such/program"])
def test_the_line_stays_short_with_the_longest_name_and_a_long_directory(box: Box, script: str) -> None:
    directory = str(long_directory(box))
    start(box, LONG_NAME, "sh", "-c", script, options=("--dir", directory))
    out = box("wait", LONG_NAME, "--json", "--dir", directory).out
    assert size_without_result(out) <= LONGEST


def test_the_line_of_a_missing_job_stays_short_in_a_long_directory(box: Box) -> None:
    out = box("wait", LONG_NAME, "--json", "--dir", str(long_directory(box))).out
    assert size_without_result(out) <= LONGEST


def test_a_large_result_is_whole_and_the_rest_of_the_line_short(box: Box) -> None:
    script = """printf '{"text": "%05000d"}' 7 > "$MIDWATCH_DIR/$MIDWATCH_NAME.result" """
    start(box, LONG_NAME, "sh", "-c", script)
    done = box("wait", LONG_NAME, "--json")
    assert len(done.json["result"]["text"]) == 5000
    assert size_without_result(done.out) <= LONGEST


@pytest.mark.parametrize("text", ["x" * 2000, "ü" * 2000, "\\001" * 300, "🐕" * 500], ids=["x", "ü", "control", "dog"])
def test_the_line_stays_short_when_a_long_line_matches(box: Box, text: str) -> None:
    directory = str(long_directory(box))
    start(box, LONG_NAME, "sh", "-c", f"printf 'here {text}\\n'", options=("--dir", directory))
    out = box("wait", LONG_NAME, "--json", "--dir", directory, "--match", "here").out
    assert size_without_result(out) <= LONGEST


def test_the_reason_of_a_timeout_names_the_time_that_was_given(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--timeout", "300ms"))
    assert "0.3s" in box("wait", "job", "--json").json["reason"]


def test_a_result_that_is_no_json_is_named_and_does_not_spoil_the_line(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo '{oops' > \"$MIDWATCH_DIR/job.result\"")
    found = box("wait", "job", "--json").json
    assert (found["state"], found["result"]) == ("completed", None)
    assert "result is not valid JSON" in found["reason"]


@pytest.mark.parametrize("text", ["NaN", '{"loss": NaN}', "[-Infinity]"])
def test_a_result_that_only_python_calls_json_is_not_passed_on(box: Box, text: str) -> None:
    start(box, "job", "sh", "-c", f"echo '{text}' > \"$MIDWATCH_DIR/job.result\"")
    done = box("wait", "job", "--json")
    assert not any(word in done.out for word in ("NaN", "Infinity")), done
    assert "result is not valid JSON" in done.json["reason"]


@pytest.mark.parametrize("depth", [500, 990, 100_000])
def test_a_deeply_nested_result_gives_a_line_and_no_traceback(box: Box, depth: int) -> None:
    (box.cwd / "deep").write_text("[" * depth + "]" * depth)
    start(box, "job", "sh", "-c", 'cp deep "$MIDWATCH_DIR/job.result"')
    done = box("wait", "job", "--json")
    assert done.code == 0, done
    assert done.err == ""


def test_a_result_with_a_lone_surrogate_gives_a_line_that_can_be_read(box: Box) -> None:
    (box.cwd / "odd").write_text('["\\ud800"]')
    start(box, "job", "sh", "-c", 'cp odd "$MIDWATCH_DIR/job.result"')
    done = box("wait", "job", "--json")
    assert done.code == 0
    assert done.json["result"] == ["\ud800"]


def test_a_result_written_when_the_work_is_told_is_there_with_the_verdict(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", 'echo "\\"$line\\"" > "$MIDWATCH_DIR/job.result"')
    gate.say("fine")
    assert box("wait", "job", "--json").json["result"] == "fine"
