"""`midwatch agents`: list, classify, test."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Box

SCREENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"


def test_a_screen_with_its_facts_is_read_as_its_label_says(box: Box) -> None:
    case = SCREENS / "codex" / "plan-limit-reached"
    done = box(
        "agents",
        "classify",
        "--agent",
        "codex",
        "--facts",
        str(case / "facts.json"),
        str(case / "screen.txt"),
        "--json",
    )
    assert done.code == 0
    assert done.json == {"turn": "limited", "detail": "plan", "rule": "limit-menu", "until": "10:33 PM"}


def test_colours_make_no_difference(box: Box) -> None:
    case = SCREENS / "claude" / "busy-10s"
    plain, coloured = (
        box(
            "agents", "classify", "--agent", "claude", "--facts", str(case / "facts.json"), str(case / name), "--json"
        ).json
        for name in ("screen.txt", "screen.ansi.txt")
    )
    assert plain == coloured
    assert plain["turn"] == "working"


def test_a_screen_may_come_from_a_pipe_and_without_facts(box: Box) -> None:
    screen = (SCREENS / "claude" / "permission-bash" / "screen.txt").read_text()
    done = box("agents", "classify", "--agent", "claude", "-", stdin=screen)
    assert done.out == "waiting (permission), by rule permission\n"


def test_the_name_of_a_case_plays_no_part(box: Box, tmp_path: Path) -> None:
    shutil.copytree(SCREENS / "claude" / "busy-10s", tmp_path / "cases" / "idle-exited-permission")
    assert box("agents", "test", str(tmp_path / "cases")).code == 0


def test_a_wrong_reading_is_named_with_its_danger_and_fails(box: Box, tmp_path: Path) -> None:
    case = tmp_path / "cases" / "one"
    shutil.copytree(SCREENS / "claude" / "idle-fresh", case)
    (case / "expected.json").write_text('{"agent": "claude", "turn": "working"}')
    done = box("agents", "test", str(tmp_path / "cases"))
    assert done.code == 1
    assert done.out == "one: working read as idle, by rule title-rest  DANGEROUS: working read as idle\n"
    assert done.err == "1 screens, 0 right, 1 wrong, 1 dangerous\n"


def test_a_label_of_several_lines_is_one_line(box: Box, tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(SCREENS / "claude" / "permission-bash", case)
    (case / "expected.json").write_text('{"agent": "claude", "turn": "x\\n7 screens, 7 right"}')
    assert "x\\n7 screens, 7 right read as" in box("agents", "test", str(case)).out


def test_a_screen_without_end_is_an_error(box: Box) -> None:
    for words in (("/dev/zero",), ("/dev/null", "--facts", "/dev/zero")):
        done = box("agents", "classify", "--agent", "claude", *words)
        assert done.code == 2
        assert "/dev/zero: it is larger than 16 MB" in done.err


def test_the_users_own_file_stands_in_place_of_ours(box: Box, tmp_path: Path) -> None:
    own = tmp_path / "config" / "midwatch" / "agents" / "claude.toml"
    own.parent.mkdir(parents=True)
    own.write_text(
        'agent = "claude"\ntitle = "Mine"\ntested = []\n[process]\nnames = "^claude$"\n'
        '[[rule]]\nname = "always"\nsource = "screen"\nturn = "waiting"\npriority = 1\nwhen.screen = "."\n'
    )
    screen = str(SCREENS / "claude" / "idle-fresh" / "screen.txt")
    there = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert box("agents", "classify", "--agent", "claude", screen, "--json", **there).json["rule"] == "always"
    listed = [json.loads(line) for line in box("agents", "list", "--json", **there).out.splitlines()]
    assert [each["file"] for each in listed if each["agent"] == "claude"] == [str(own)]


def test_a_bad_file_of_the_users_is_an_error_with_its_line(box: Box, tmp_path: Path) -> None:
    own = tmp_path / "config" / "midwatch" / "agents" / "claude.toml"
    own.parent.mkdir(parents=True)
    own.write_text('agent = "claude"\ntitle = "Mine"\ncolour = "red"\n')
    done = box("agents", "list", "claude", XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert done.code == 1
    assert f"{own}:3: unknown key 'colour'" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["classify"], "needs --agent A and one file"),
        (["classify", "--agent", "nobody", "/dev/null"], "no agent is called 'nobody'"),
        (["classify", "--agent", "claude", "/nowhere"], "cannot read /nowhere"),
        (["test", "/nowhere"], "no case below /nowhere"),
        (["dance"], "list, classify, test, not 'dance'"),
    ],
)
def test_usage(box: Box, arguments: list[str], says: str) -> None:
    done = box("agents", *arguments)
    assert done.code == 2
    assert says in done.err


def test_facts_that_are_not_json_say_so(box: Box, tmp_path: Path) -> None:
    (tmp_path / "facts").write_text("nonsense")
    screen = str(SCREENS / "claude" / "idle-fresh" / "screen.txt")
    done = box("agents", "classify", "--agent", "claude", "--facts", str(tmp_path / "facts"), screen)
    assert done.code == 12
    assert "not JSON" in done.err
