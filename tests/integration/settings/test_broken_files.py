"""Who needs a settings file and who does not: a broken one must not cost anybody the night."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Box
from tests.integration.foreign.template import sleeper, wrapped
from tests.integration.wait.watching import listed, within

BROKEN = "[policy]\nstael = 3\n"


def break_it(box: Box) -> Path:
    path = box.cwd / "midwatch.toml"
    path.write_text(BROKEN)
    return path


def test_run_says_what_is_wrong_and_starts_nothing(box: Box) -> None:
    path = break_it(box)
    done = box("run", "--name", "x", "--", "true")
    assert (done.code, done.out) == (125, ""), done
    assert done.err.startswith(f"midwatch: {path}:2: unknown key 'stael'; did you mean stale?")
    assert not box.path("x.json").exists()


def test_run_does_not_start_either_when_a_flag_names_the_policy(box: Box) -> None:
    break_it(box)
    assert box("run", "--policy", "strict", "--", "true").code == 125


def test_the_users_own_broken_file_is_named_too(box: Box) -> None:
    path = box.cwd / ".config" / "midwatch" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("retries = 1\n")
    done = box("run", "--", "true")
    assert (done.code, f"{path}:1: unknown key 'retries'" in done.err) == (125, True), done


def test_verbs_that_look_at_our_own_jobs_do_not_read_the_file(box: Box) -> None:
    assert box("run", "-d", "--name", "x", "--", "sh", "-c", "echo said; exec sleep 1000").code == 0
    break_it(box)
    assert listed(box)["x"]["state"] in ("starting", "working")
    for verb, code in ((("why", "x"), 0), (("logs", "x"), 0), (("wait", "x", "--timeout", "0"), 13)):
        done = box(*verb)
        assert (done.code, done.err) == (code, ""), done
    stopped = box("stop", "x")
    assert (stopped.code, stopped.err) == (0, ""), stopped
    ended = box("wait", "x")
    assert (ended.code, ended.err) == (10, ""), ended
    missing = box("wait", "y")
    assert (missing.code, missing.err) == (7, ""), missing


@pytest.mark.parametrize("verb", [["ls"], ["wait", "x"], ["why", "x"], ["logs", "x"], ["stop", "x"]], ids=" ".join)
def test_a_good_file_costs_verbs_that_look_at_our_own_jobs_nothing(box: Box, verb: list[str]) -> None:
    (box.cwd / "midwatch.toml").write_text("[policy]\nstale = 50\n")
    assert box("run", "--name", "x", "--", "true").code == 0
    box.program[1:1] = ["-X", "importtime"]
    done = box(*verb)
    assert "midwatch.cli.context" in done.err
    assert "tomllib" not in done.err


# Work of others has no record, so its thresholds are the files'


def test_thresholds_for_work_of_others_come_from_the_project_and_the_user(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text("[policy]\nstale = 1\n")
    user = box.cwd / ".config" / "midwatch" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("[policy]\nstale = 999\ngrace = 1\n")
    with wrapped(box, "step", "sleep 300"):
        done = within(box, 30, "wait", "step", "--json")
    assert (done.code, done.json["state"], done.err) == (4, "stuck", ""), done
    assert "stale after 1s, grace 1s" in done.json["reason"]


def test_a_broken_file_is_a_warning_where_work_of_others_is_looked_at(box: Box) -> None:
    path = break_it(box)
    box.dir.mkdir()
    with sleeper() as pid:
        box.path("step.pid").write_text(f"{pid}\n")
        done = box("ls", "--json")
    assert (done.code, done.json["name"], done.json["state"]) == (0, "step", "working"), done
    assert done.err.count(f"warning: {path}:2: unknown key 'stael'") == 1


def test_variables_still_hold_for_work_of_others_when_a_file_is_broken(box: Box) -> None:
    break_it(box)
    with wrapped(box, "step", "sleep 300"):
        done = within(box, 30, "wait", "step", "--json", MIDWATCH_STALE="1s", MIDWATCH_GRACE="1s")
    assert (done.code, "stale after 1s, grace 1s" in done.json["reason"]) == (4, True), done
    assert "warning: " in done.err
