"""OpenCode's plugin, run by a real JavaScript engine, writes what the hook of the others would."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents.hooks import events as hooks_events
from midwatch.agents.hooks.spool import HookSpool
from tests.conftest import PATIENCE, tool
from tests.integration.hooks.calling import PANE, PLUGIN, SOCKET, pane, this_process

DRIVER = """
import { Midwatch } from "./midwatch.mjs"
const plugin = await Midwatch({ directory: "/proj" })
for (const [kind, ...given] of JSON.parse(process.argv[2])) await plugin[kind](...given)
"""
"""Hands over events as OpenCode does, and ends when nothing is left to do."""


def event(kind: str, **properties: Any) -> list[Any]:
    return ["event", {"event": {"id": "evt_1", "type": kind, "properties": {"sessionID": "ses_1"} | properties}}]


class Plugin:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.spool = home / 'sp"ool'
        self.spool.mkdir(0o700)
        self.file = self.spool / f"opencode{SOCKET.replace('/', ',')}{PANE}.events"
        (home / "midwatch.mjs").write_text(hooks_events.plugin_source(PLUGIN.read_text(), str(self.spool)))
        (home / "driver.mjs").write_text(DRIVER)

    def tell(self, *events: list[Any]) -> None:
        env = {"PATH": os.environ["PATH"], "TMUX": f"{SOCKET},12,0", "TMUX_PANE": PANE}
        done = subprocess.run(
            [tool("node"), "driver.mjs", json.dumps(events)], cwd=self.home, env=env, capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def words(self) -> dict[str, str]:
        found = HookSpool(str(self.spool)).read(this_process("opencode"), pane())
        assert found is not None
        return found.words


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path)


def test_a_turn_with_a_question_in_it(plugin: Plugin) -> None:
    call = {"tool": "bash", "sessionID": "ses_1", "callID": "call_1"}
    plugin.tell(event("session.status", status={"type": "busy"}), ["tool.execute.before", call, {"args": {}}])
    assert (plugin.words()["event"], plugin.words()["tool"]) == ("tool.execute.before", "bash")
    plugin.tell(event("permission.asked", id="per_1", permission="bash", patterns=["touch x"]))
    assert (plugin.words()["event"], plugin.words()["cwd"]) == ("permission.asked", "/proj")
    plugin.tell(event("permission.replied", requestID="per_1", reply="once"), ["tool.execute.after", call, {}])
    assert (plugin.words()["event"], plugin.words()["open"]) == ("tool.execute.after", "0")
    plugin.tell(event("session.status", status={"type": "idle"}), event("session.idle"))
    assert (plugin.words()["event"], plugin.words()["count"]) == ("session.idle", "7")
    assert plugin.file.stat().st_mode & 0o777 == 0o600


def test_a_retry_and_an_error(plugin: Plugin) -> None:
    retry = {"type": "retry", "attempt": 3, "message": "fake error 429", "next": 1794794341491}
    plugin.tell(event("session.status", status=retry))
    words = plugin.words()
    assert (words["status"], words["retry_attempt"], words["retry_next"]) == ("retry", "3", "1794794341.491")
    error = {"name": "APIError", "data": {"message": "m" * 9000}}
    plugin.tell(event("session.error", error=error), event("session.idle"))
    assert (plugin.words()["error"], plugin.words()["message"]) == ("APIError", "m" * 300)


def test_a_session_below_another_is_its_sub_agent(plugin: Plugin) -> None:
    below = {"sessionID": "ses_3", "status": {"type": "idle"}}
    plugin.tell(
        event("session.status", status={"type": "busy"}),
        event("session.created", info={"id": "ses_2", "parentID": "ses_1"}),
        event("session.created", info={"id": "ses_3", "parentID": "ses_2"}),
        event("session.status", **below),
    )
    words = plugin.words()
    assert (words["event"], words["status"], words["conversation"], words["count"]) == (
        "session.status", "busy", "ses_1", "2",
    )  # fmt: skip


def test_what_nobody_needs_is_not_written(plugin: Plugin) -> None:
    plugin.tell(event("message.part.updated", part={"text": "secret"}), event("session.idle"))
    assert [line.split("\t")[8] for line in plugin.file.read_text().split("\n") if line] == [
        '{"hook_event_name":"session.idle","session_id":"ses_1","cwd":"/proj"}'
    ]


def test_odd_events_throw_nothing(plugin: Plugin) -> None:
    plugin.tell(
        ["event", {"event": {"type": "session.status"}}], ["event", {}], event("session.error"), event("session.idle")
    )
    assert plugin.words()["event"] == "session.idle"


def test_no_spool_throws_nothing(plugin: Plugin) -> None:
    plugin.spool.rmdir()
    plugin.tell(event("session.idle"))
    assert not plugin.spool.exists()


def test_a_pipe_where_the_file_should_be_makes_nobody_wait(plugin: Plugin) -> None:
    os.mkfifo(plugin.file)
    plugin.tell(event("session.idle"))
    assert plugin.file.is_fifo()


def test_a_full_file_is_moved_aside(plugin: Plugin) -> None:
    plugin.file.write_bytes(b"\n" * (1 << 20))
    plugin.tell(event("session.idle"))
    assert Path(f"{plugin.file}.1").stat().st_size == 1 << 20
    assert plugin.words()["event"] == "session.idle"
