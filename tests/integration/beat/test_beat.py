import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import Box, until
from tests.integration.wait.watching import Gate, planted_pipe, start, start_gated, within

BEAT = f"{sys.executable} -m midwatch beat"


def beat_of(box: Box, name: str = "job") -> dict[str, object]:
    found: dict[str, object] = json.loads(box.drop(f"{name}.beat").read_text())
    return found


def test_a_beat_from_inside_finds_its_job_by_environment(box: Box) -> None:
    start(box, "job", "sh", "-c", f"{BEAT} --note 'epoch 3' --progress 0.4")
    assert box("wait", "job").code == 0, box("logs", "job")
    assert beat_of(box) == {"schema": 1, "run": box.record("job")["run"], "note": "epoch 3", "progress": 0.4}


def test_a_beat_from_a_grandchild_finds_its_job_too(box: Box) -> None:
    start(box, "job", "sh", "-c", f'sh -c "{BEAT} --note deep; true"; true')
    assert box("wait", "job").code == 0
    assert beat_of(box)["note"] == "deep"


def test_a_beat_finds_its_job_in_a_directory_given_with_dir(box: Box) -> None:
    elsewhere = box.cwd / "else where"
    start(box, "job", "sh", "-c", f"cd /; {BEAT} --note there", options=("--dir", str(elsewhere)))
    assert box("wait", "job", "--dir", str(elsewhere)).code == 0
    assert json.loads((elsewhere / "drop" / "job" / "job.beat").read_text())["note"] == "there"


def test_a_beat_says_nothing_and_is_0(box: Box) -> None:
    start(box, "job", "sh", "-c", BEAT)
    assert box("wait", "job").code == 0
    assert box("logs", "job").out == ""


def test_a_bare_beat_is_a_sign_of_progress_without_words(box: Box) -> None:
    start(box, "job", "sh", "-c", BEAT)
    assert box("wait", "job").code == 0
    assert (beat_of(box)["note"], beat_of(box)["progress"]) == ("", None)


def test_note_and_progress_are_shown_by_why(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f"{BEAT} --note 'epoch 3' --progress 0.4; read x < {gate.path}")
    box.until_file("drop/job/job.beat")
    told = box("why", "job").out
    assert "epoch 3" in told
    assert "40%" in told


def test_why_shows_when_the_last_beat_was(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f"{BEAT}; read x < {gate.path}")
    box.until_file("drop/job/job.beat")
    evidence = {piece["source"]: piece for piece in box("why", "job", "--json").json["for"]}
    assert 0 <= evidence["beat"]["age_s"] < 30


@pytest.mark.parametrize("note", ["naïve 🐕", 'quo"te \\ back', "two\nlines", "x" * 5000, ""])
def test_any_note_is_kept_as_it_is(box: Box, note: str) -> None:
    start(box, "job", "sleep", "300")
    assert box("beat", "--dir", str(box.dir), "--name", "job", f"--note={note}").code == 0
    assert beat_of(box)["note"] == note
    assert box("ls").code == 0


# Result -------------------------------------------------------------------------------------------------------------


def test_a_result_file_becomes_the_jobs_result(box: Box) -> None:
    (box.cwd / "out.json").write_text('{"files": 3}')
    start(box, "job", "sh", "-c", f"{BEAT} --result out.json")
    assert box("wait", "job", "--json").json["result"] == {"files": 3}


def test_a_result_is_taken_from_standard_input(box: Box) -> None:
    start(box, "job", "sh", "-c", f"echo '[1, 2]' | {BEAT} --result -")
    assert box("wait", "job", "--json").json["result"] == [1, 2]


@pytest.mark.parametrize("text", ["{oops", "", "NaN"])
def test_a_result_that_is_no_json_is_refused_and_nothing_is_written(box: Box, text: str) -> None:
    start(box, "job", "sleep", "300")
    (box.cwd / "out.json").write_text(text)
    done = box("beat", "--dir", str(box.dir), "--name", "job", "--result", "out.json")
    assert done.code == 2
    assert done.err.startswith("midwatch: --result out.json: ")
    assert not box.drop("job.result").exists()
    assert not box.drop("job.beat").exists()


def test_a_result_that_is_not_utf_8_is_refused_with_a_reason(box: Box) -> None:
    start(box, "job", "sleep", "300")
    (box.cwd / "out.json").write_bytes(b'"\xff\xfe"')
    done = box("beat", "--dir", str(box.dir), "--name", "job", "--result", "out.json")
    assert done.code == 2
    assert "Traceback" not in done.err


def test_a_result_file_that_is_not_there_is_named(box: Box) -> None:
    start(box, "job", "sleep", "300")
    done = box("beat", "--dir", str(box.dir), "--name", "job", "--result", "nowhere.json")
    assert done.code != 0
    assert "nowhere.json" in done.err
    assert "No such file" in done.err
    assert "cannot write" not in done.err


def test_a_deeply_nested_result_is_refused_or_taken_but_never_a_traceback(box: Box) -> None:
    start(box, "job", "sleep", "300")
    (box.cwd / "out.json").write_text("[" * 100_000 + "]" * 100_000)
    done = box("beat", "--dir", str(box.dir), "--name", "job", "--result", "out.json")
    assert "Traceback" not in done.err


# Outside, wrong, too late -------------------------------------------------------------------------------------------


def test_outside_a_job_is_a_clear_error(box: Box) -> None:
    done = box("beat", "--note", "hello")
    assert (done.code, done.out) == (2, "")
    assert "not inside a job" in done.err
    assert "midwatch run" in done.err


def test_a_job_that_is_not_there_is_7(box: Box) -> None:
    done = box("beat", "--dir", str(box.dir), "--name", "nobody")
    assert done.code == 7
    assert "there is no job 'nobody'" in done.err


@pytest.mark.parametrize("name", ["../job", "a/b", "..", "n" * 300, "two\nlines"])
def test_an_odd_name_writes_nothing_anywhere(box: Box, name: str) -> None:
    start(box, "job", "sleep", "300")
    done = box("beat", "--dir", str(box.dir / "spool"), "--name", name)
    assert done.code != 0
    assert "Traceback" not in done.err
    assert list(box.cwd.rglob("*.beat")) == []


@pytest.mark.parametrize(
    "arguments",
    [("--progress", "2"), ("--progress", "-0.1"), ("--progress", "half"), ("--progress", "nan"), ("--nope",)],
)
def test_wrong_usage_is_2_and_nothing_is_written(box: Box, arguments: tuple[str, ...]) -> None:
    start(box, "job", "sleep", "300")
    done = box("beat", "--dir", str(box.dir), "--name", "job", *arguments)
    assert done.code == 2
    assert "try `midwatch beat --help`" in done.err
    assert not box.drop("job.beat").exists()


def test_a_beat_of_an_older_run_does_not_speak_for_a_new_one(box: Box) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    run = box.record("job")["run"]
    old = {"MIDWATCH_DIR": str(box.dir / "drop" / "job"), "MIDWATCH_NAME": "job", "MIDWATCH_RUN": run}
    start(box, "job", "sleep", "300")
    done = box("beat", "--note", "from the grave", **old)
    assert done.code == 7
    assert "older run" in done.err
    assert not box.drop("job.beat").exists()


def test_a_result_of_an_older_run_does_not_become_the_new_ones(box: Box, gate: Gate) -> None:
    script = f"(setsid sh -c 'read x < {gate.path}; echo 1 | {BEAT} --result -; echo $? > {box.cwd}/code' &)"
    start(box, "job", "sh", "-c", script)
    assert box("wait", "job").code == 0
    start(box, "job", "sleep", "300")
    gate.say()
    code = box.cwd / "code"
    until(lambda: code.exists() and code.read_text() != "", box.cwd)
    assert code.read_text() == "7\n"
    assert not box.drop("job.result").exists()


@pytest.mark.parametrize("named", ["--name other", "--name=other"])
def test_work_may_beat_for_another_job_that_it_names(box: Box, named: str) -> None:
    start(box, "other", "sleep", "300")
    start(box, "job", "sh", "-c", f"{BEAT} {named} --note hello")
    assert box("wait", "job").code == 0, box("logs", "job")
    assert beat_of(box, "other")["note"] == "hello"


def test_the_last_words_of_an_old_run_are_not_shown_for_the_new_one(box: Box) -> None:
    start(box, "job", "sh", "-c", f"{BEAT} --note yesterday")
    assert box("wait", "job").code == 0
    start(box, "job", "sleep", "300")
    assert not box.drop("job.beat").exists()
    assert "yesterday" not in box("why", "job").out


def test_a_beat_into_a_removed_directory_fails_with_a_reason(box: Box) -> None:
    env = {"MIDWATCH_DIR": str(box.cwd / "gone"), "MIDWATCH_NAME": "job", "MIDWATCH_RUN": "r"}
    done = box("beat", **env)
    assert done.code == 7
    assert str(box.cwd / "gone") in done.err


def test_a_planted_pipe_in_place_of_the_record_does_not_block_a_beat(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    with planted_pipe(box.path("job.json")):
        done = within(box, 5, "beat", "--dir", str(box.dir), "--name", "job")
    assert done.code != 0


def test_a_link_planted_as_beat_is_replaced_not_followed(box: Box) -> None:
    start(box, "job", "sleep", "300")
    precious = box.cwd / "precious"
    precious.write_text("precious\n")
    box.drop("job.beat").symlink_to(precious)
    assert box("beat", "--dir", str(box.dir), "--name", "job").code == 0
    assert precious.read_text() == "precious\n"


def test_beats_leave_no_temporary_files(box: Box) -> None:
    start(box, "job", "sleep", "300")
    for _ in range(3):
        assert box("beat", "--dir", str(box.dir), "--name", "job").code == 0
    assert [path.name for path in box.dir.rglob(".*")] == []


def test_the_program_can_be_moved_while_a_job_runs(box: Box, gate: Gate, tmp_path: Path) -> None:
    """The shim has all it needs from the start: work that never beats ends well although the package is gone."""
    package = tmp_path / "copy" / "midwatch"
    shutil.copytree(Path(sys.modules["midwatch"].__path__[0]), package)
    env = {"PYTHONPATH": str(package.parent)}
    begun = box("run", "-d", "--name", "job", "--", "sh", "-c", f"read x < {gate.path}; exit 5", **env)
    assert begun.code == 0, begun
    shutil.rmtree(package)
    gate.say()
    assert box("wait", "job", "--json").json["exit_code"] == 5


def test_a_gated_beat_is_seen_by_ls_at_once(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", f"{BEAT} --note now; read x < {gate.path}")
    gate.say()
    box.until_file("drop/job/job.beat")
    assert "last beat" in box("ls").out


def test_a_job_that_is_named_is_found_where_the_others_are(box: Box) -> None:
    box("run", "-d", "--name", "job", "--", "sleep", "300")
    assert box("beat", "--name", "job", "--note", "from outside").code == 0
    assert "from outside" in box("why", "job").out
