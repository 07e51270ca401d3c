"""Whatever goes wrong: a drift is not lost, and who asked for JSON gets one object with the reason."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from tests.conftest import tool, until
from tests.integration.reconcile.staying import Stays
from tests.integration.reconcile.workspace import BEFORE, Workspace

NAME = "lab-creator-claude"
LOST = f"sessions:\n  - {{name: {NAME}, status: running, pane: {{{BEFORE}}}}}\n"


def test_a_drift_is_not_lost_when_the_state_file_cannot_be_written(workspace: Workspace) -> None:
    workspace.write(LOST)
    (workspace.root / ".cache").write_text("no directory")
    done = workspace("--once", "--emit-diff")
    assert done.code == 12
    (drift,) = done.json["drifts"]
    assert (drift["class"], drift["applied"]) == ("A", True)
    (trouble,) = done.json["troubles"]
    assert "workspace.state cannot be written" in trouble
    assert trouble in done.err
    assert workspace.rows()[NAME]["status"] == "terminated"
    assert noted(workspace) == [("A", NAME)]


def noted(workspace: Workspace) -> list[tuple[str, str]]:
    """Class and session of each drift in the journal."""
    events = [json.loads(line) for line in workspace.box("events", "--json").out.splitlines()]
    return [(each["class"], each["name"]) for each in events if each["event"] == "drift"]


def test_a_drift_that_cannot_be_noted_is_told_with_the_reason(workspace: Workspace) -> None:
    workspace.write(LOST)
    workspace.box.dir.write_text("no directory")
    done = workspace("--once", "--emit-diff")
    assert done.code == 12
    assert [(drift["class"], drift["applied"]) for drift in done.json["drifts"]] == [("A", True)]
    (trouble,) = done.json["troubles"]
    assert "new drifts are not in the journal: cannot write to " in trouble
    assert trouble in done.err


def test_a_watch_tells_what_cannot_be_noted_too(workspace: Workspace, stays: Callable[..., Stays]) -> None:
    workspace.write(LOST)
    workspace.box.dir.write_text("no directory")
    watch = stays("--watch", "--interval", "1h")
    said = next(line for line in iter(watch.said, None) if line["drifts"])
    assert ([drift["class"] for drift in said["drifts"]], len(said["troubles"])) == (["A"], 1)
    assert said["troubles"][0] in watch.complains("journal")


def test_a_drift_is_noted_where_nothing_was_started_and_nobody_is(workspace: Workspace) -> None:
    """As a timer calls it, from a directory of its own."""
    workspace.write(LOST)
    del workspace.box.env["MIDWATCH_HOME"]
    workspace.box.cwd = workspace.home
    assert workspace.diff("--registry", str(workspace.registry))["troubles"] == []
    workspace.box.cwd = workspace.root
    assert noted(workspace) == [("A", NAME)]


def test_a_notice_of_a_drift_needs_no_journal(workspace: Workspace) -> None:
    workspace.write(LOST)
    workspace.box("run", "--name", "job", "--", "true")
    workspace.box("events")
    sent = workspace.home / "sent"
    settings = workspace.home / ".config" / "midwatch" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[notify]\ncommand = ["{tool("sh")}", "-c", "echo $0 >> {sent}", "{{name}}"]\n')
    with closing(sqlite3.connect(workspace.box.path("journal.sqlite"))) as journal:
        journal.execute("PRAGMA user_version = 9")
    done = workspace("--once", "--emit-diff", HOME=str(workspace.home))
    assert "new drifts are not in the journal" in done.json["troubles"][0]
    until(lambda: sent.exists() and sent.read_text() == f"{NAME}\n", workspace.home)


def test_a_drift_is_told_once_when_the_list_cannot_be_written(workspace: Workspace) -> None:
    workspace.write(LOST)
    workspace.registry.with_name("agent-sessions.yaml.lock").mkdir()
    done = workspace("--once", "--emit-diff")
    assert done.code == 12
    (drift,) = done.json["drifts"]
    assert (drift["class"], drift["applied"]) == ("A", False)
    assert "agent-sessions.yaml.lock" in done.json["troubles"][0]
    again = workspace("--once", "--emit-diff").json
    assert (again["drifts"], again["standing"]) == ([], 1)
    workspace.registry.with_name("agent-sessions.yaml.lock").rmdir()
    assert [each["applied"] for each in workspace.drifts()] == [True]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("status: runing", "status runing is none of"),
        ("status: running, pane: {pid: '7'}", "pid must be a whole number"),
        ("status: running, status: stopped", "status stands twice"),
        ("status: running, created_at: 2026-13-45", "looks like a timestamp"),
    ],
    ids=["status", "pid", "twice", "time"],
)
def test_one_bad_row_affects_that_row_only(workspace: Workspace, bad: str, says: str) -> None:
    """Of two such rows one has a session, the other has none."""
    workspace.session("bad-creator-claude")
    workspace.session("new-creator-claude")
    rows = "".join(f"  - {{name: {name}-creator-claude, {bad}}}  # mine\n" for name in ("bad", "lost"))
    workspace.write(f"sessions:\n{rows}  - {{name: {NAME}, status: running, pane: {{{BEFORE}}}}}\n")
    done = workspace("--once", "--emit-diff")
    assert done.code == 12
    assert (done.json["checked"], done.json["standing"]) == (3, 2)
    found = [(drift["class"], drift["session"], drift["applied"]) for drift in done.json["drifts"]]
    assert found == [("A", NAME, True), ("B", "new-creator-claude", True)], "bad rows are left alone"
    for line, trouble in zip((2, 3), done.json["troubles"], strict=True):
        assert f"agent-sessions.yaml:{line}: " in trouble
        assert says in trouble
    assert workspace.registry.read_text().startswith(f"sessions:\n{rows}")
    listed = workspace.box("session", "list")
    assert (listed.code, listed.out.splitlines()[1].split()[:2]) == (12, ["bad-creator-claude", "invalid"])
    stopped = workspace.box("session", "stop", "bad-creator-claude")
    assert stopped.code == 12
    assert "mend that row first" in stopped.err


def test_of_many_wrong_rows_the_first_are_named_and_the_others_counted(workspace: Workspace) -> None:
    wrong = "".join(f"  - {{name: bad{n}, status: runing}}\n" for n in range(1000))
    workspace.write(f"sessions:\n{wrong}")
    done = workspace("--once", "--emit-diff")
    assert (done.code, done.json["checked"], len(done.json["troubles"])) == (12, 1000, 11)
    assert "agent-sessions.yaml:2: " in done.json["troubles"][0]
    assert done.json["troubles"][-1] == "and 990 more rows that cannot be understood"
    plain = [workspace("--once"), *[workspace.box("session", verb) for verb in ("list", "status", "restore")]]
    for each, code in zip((done, *plain), (12, 12, 12, 12, 0), strict=True):
        assert each.code == code, each
        said = each.err.splitlines()
        assert len(said) <= 12, each
        assert any(line.startswith("midwatch: and 990 more rows") for line in said), each


def test_a_row_that_cannot_be_changed_holds_up_no_other(workspace: Workspace) -> None:
    lost = f"&lost {{status: running, pane: {{{BEFORE}}}}}"
    workspace.write(f"base: {lost}\nsessions:\n  odd-creator-claude: *lost\n  {NAME}:\n    <<: *lost\n    x: 1\n"
                    f"  last-creator-claude: {{status: running, pane: {{{BEFORE}}}}}\n")  # fmt: skip
    done = workspace("--once", "--emit-diff")
    assert done.code == 12
    found = {drift["session"]: drift["applied"] for drift in done.json["drifts"]}
    assert found == {"odd-creator-claude": False, NAME: False, "last-creator-claude": True}
    assert ["agent-sessions.yaml:3: an anchor" in done.json["troubles"][0], len(done.json["troubles"])] == [True, 2]
    assert workspace.rows()["last-creator-claude"]["status"] == "terminated"


@pytest.mark.parametrize(
    ("breaks", "arguments", "code", "says"),
    [
        ("sessions: [", ("--once",), 12, "agent-sessions.yaml:2: no YAML"),
        (LOST, ("--registry", "nowhere.yaml"), 12, "nowhere.yaml: No such file"),
        (LOST, ("--once", "--watch"), 2, "--once is one pass"),
        (LOST, ("--kanban-task", "t_1", "--kanban-new"), 2, "--kanban-new makes a card"),
        (LOST, ("--watch", "--interval", "0"), 2, "--interval must be above 0"),
        (LOST, ("somebody",), 2, "reconcile takes no names"),
        (LOST, ("--wtach",), 2, "reconcile has no option --wtach; did you mean --watch?"),
        (LOST, ("--registry",), 2, "--registry needs a value"),
        (LOST, ("--once=yes",), 2, "--once takes no value"),
        (LOST, ("--watch", "--interval", "soon"), 2, "--interval: 'soon' is not a duration"),
        (LOST, ("--interval=abc",), 2, "--interval: 'abc' is not a duration"),
        (LOST, ("--once", "--interval=0"), 2, "--interval must be above 0"),
        (LOST, ("--once", "--timeout=abc"), 2, "--timeout: 'abc' is not a duration"),
        (LOST, ("--idle-timeout=abc",), 2, "--idle-timeout: 'abc' is not a duration"),
    ],
    ids=[
        "no YAML",
        "no list",
        "usage",
        "two cards",
        "no interval",
        "a name",
        "no option",
        "no value",
        "a value",
        "no duration",
        "no duration for one pass",
        "no interval for one pass",
        "no timeout for one pass",
        "no idle timeout for one pass",
    ],
)
def test_on_any_error_one_json_object_tells_the_reason(
    workspace: Workspace, breaks: str, arguments: tuple[str, ...], code: int, says: str
) -> None:
    workspace.write(breaks)
    done = workspace("--emit-diff", *arguments)
    assert done.code == code
    (line,) = done.out.splitlines()
    found = json.loads(line)
    assert (found["schema"], found["checked"], found["drifts"], found["standing"]) == (1, 0, [], 0)
    assert says in found["troubles"][0]
    assert found["troubles"][0] in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nope", "--emit-diff"),
        ("--json", "--nope"),
        ("--emit-diff=1",),
        ("--once", "--registry", "--emit-diff"),  # as of a variable that is empty
        ("--once", "--socket", "--json"),
    ],
)
def test_json_is_asked_for_wherever_it_stands_on_a_wrong_command_line(
    workspace: Workspace, arguments: tuple[str, ...]
) -> None:
    done = workspace(*arguments)
    assert (done.code, len(done.out.splitlines()), len(done.json["troubles"])) == (2, 1, 1)
    assert "try `midwatch reconcile --help`" in done.err


def test_without_json_a_wrong_command_line_is_told_on_stderr_alone(workspace: Workspace) -> None:
    done = workspace("--nope")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("midwatch: reconcile has no option --nope")


@pytest.mark.parametrize("home", [True, False], ids=["home", "project"])
def test_a_current_directory_that_was_removed_is_a_reason_too(workspace: Workspace, home: bool) -> None:
    """Also where our own directory is found by the current one."""
    gone = workspace.directory("gone")
    if not home:
        del workspace.box.env["MIDWATCH_HOME"]
    command = f'cd "{gone}" && rmdir "{gone}" && exec "$@"'
    workspace.box.program = ["sh", "-c", command, "sh", *workspace.box.program]
    done = workspace("--once", "--emit-diff")
    assert (done.code, len(done.out.splitlines())) == (12, 1)
    assert done.json["troubles"] == ["the current directory was removed; change to one that is there"]
    assert done.json["troubles"][0] in done.err


def test_settings_that_cannot_be_read_are_a_reason_too(workspace: Workspace) -> None:
    workspace.write(LOST)
    (workspace.root / "midwatch.toml").write_text("[registry\n")
    done = workspace("--once", "--emit-diff")
    assert done.code == 12
    assert "midwatch.toml" in done.json["troubles"][0]
