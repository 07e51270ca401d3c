"""Through ntm a prompt gets our look before it and our proof after it; what ntm does not do is an error."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.integrations import ntm
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import send, undelivered_store
from midwatch.sessions.prompting.model import PromptResult
from tests.conftest import Box, until
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent
from tests.integration.send.test_send_delivery import impatient

STAND_IN = Path(__file__).with_name("ntm_stand_in.py")


class Ntm:
    """The stand-in, first in PATH."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir()
        program = directory / "ntm"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} "$@"\n')
        program.chmod(0o755)
        self.env = {"PATH": f"{directory}:{os.environ['PATH']}", "NTM_STAND_IN": str(directory)}

    def mood(self, name: str, content: str = "") -> None:
        (self.directory / name).write_text(content)

    @property
    def asked(self) -> list[list[str]]:
        path = self.directory / "asked"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ntm:
    found = Ntm(tmp_path / "ntm")
    for name, value in found.env.items():
        monkeypatch.setenv(name, value)
    impatient(monkeypatch)
    return found


def sending(private: Private, agent: Agent, text: str = "hello") -> PromptResult:
    panes = PaneObserver(catalog.load_all(), str(agent.directory / "spool"), private.server)
    try:
        return send.send_prompt(panes, agent.pane, text, via="ntm")
    finally:
        panes.close()


def test_it_is_asked_as_controller_proxy_watchdog_prints_it_and_the_transcript_proves_the_rest(
    box: Box, agent: Agent, through: Ntm
) -> None:
    text = "go on \"now\" 'please' $HOME `id` \\ and é"
    done = box("send", agent.pane, text, "--via", "ntm", *agent.private.server, "--json", **through.env)
    assert done.code == 0, done
    assert (done.json["outcome"], done.json["proof"]) == ("delivered", "transcript")
    assert through.asked == [["--robot-send=work", f"--panes={agent.pane}", f"--msg={text}", "--json"]]
    assert agent.typed == text.encode() + b"\r"


def test_a_setting_of_the_project_chooses_it_once_it_is_trusted(box: Box, agent: Agent, through: Ntm) -> None:
    (box.cwd / "midwatch.toml").write_text('[send]\nvia = "ntm"\n')
    (box.cwd / "midwatch.toml").chmod(0o644)
    done = box("send", agent.pane, "zero", *agent.private.server, **through.env)
    assert done.code == 0, done
    assert "is not trusted: read it, then `midwatch trust`; until then its [send] via does not count" in done.err
    assert through.asked == []
    assert "line 2    send     prompts go through ntm" in box("trust", "--yes").out
    assert box("send", agent.pane, "first", *agent.private.server, **through.env).code == 0
    assert len(through.asked) == 1
    assert agent.typed == agent.pasted("zero") + b"\rfirst\r"


def test_a_setting_of_the_user_chooses_it_and_a_flag_is_stronger(box: Box, agent: Agent, through: Ntm) -> None:
    config = Path(box.env["HOME"]) / ".config" / "midwatch" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[send]\nvia = "ntm"\n')
    (box.cwd / "midwatch.toml").write_text('[send]\nvia = "tmux"\n')  # which nobody has trusted
    assert box("send", agent.pane, "first", *agent.private.server, **through.env).code == 0
    assert len(through.asked) == 1
    assert box("send", agent.pane, "second", "--via", "tmux", *agent.private.server, **through.env).code == 0
    assert len(through.asked) == 1
    assert agent.typed == b"first\r" + agent.pasted("second") + b"\r"


def test_it_is_not_asked_while_somebody_would_mind(private: Private, agent: Agent, through: Ntm) -> None:
    private("send-keys", "-t", agent.pane, "-l", "my own words")
    private.until_shows(agent.pane, "my own words")
    sent = sending(private, agent)
    assert (sent.outcome, sent.typed) == ("draft", False)
    assert through.asked == []


def test_enter_is_pressed_once_more_if_the_text_still_stands_there(
    private: Private, agent: Agent, through: Ntm
) -> None:
    through.mood("enterless")
    assert sending(private, agent).proof == "transcript"
    assert agent.typed == b"hello\r"


def test_what_is_not_taken_is_taken_out_again(private: Private, agent: Agent, through: Ntm) -> None:
    agent.mood("numb")
    sent = sending(private, agent)
    assert (sent.outcome, sent.left) == ("not_taken", False)
    assert agent.box == "❯"  # noqa: RUF001
    assert len(through.asked) == 1
    assert agent.typed.startswith(b"hello\r\r\x15"), "ntm's Enter, and one of ours"


FAILED = {
    "no JSON": ("panic: no such session\n", "it said: panic: no such session"),
    "nothing": ("", "it said: nothing"),
    "no object": ("[]", "gave no answer that can be read"),
    "not a success": ('{"success": false, "error": "session not found"}', "failed: session not found"),
    "partial": (
        '{"success": true, "successful": ["%0"], "failed": [{"pane": "1.1", "error": "no such pane"}]}',
        "failed: 1.1 no such pane",
    ),
    "another pane": ('{"success": true, "successful": ["%99"], "failed": []}', "those that have it: %99"),
    "no pane": ('{"success": true, "failed": null}', "those that have it: none"),
    "success in words": ('{"success": "true", "successful": ["%0"], "failed": []}', "failed"),
}


@pytest.mark.parametrize("case", FAILED)
def test_whatever_it_does_not_say_to_have_done_is_an_error(
    private: Private, agent: Agent, through: Ntm, case: str
) -> None:
    answer, says = FAILED[case]
    through.mood("typeless")
    through.mood("answer", answer)
    sent = sending(private, agent)
    assert (sent.outcome, sent.submitted, sent.left) == ("not_taken", False, False)
    assert says in sent.reason
    assert agent.typed == b""


def test_an_exit_code_is_an_error_too(private: Private, agent: Agent, through: Ntm) -> None:
    through.mood("typeless")
    through.mood("code", "3")
    sent = sending(private, agent)
    assert (sent.outcome, sent.reason.partition(";")[0]) == ("not_taken", "`ntm --robot-send` failed: exit code 3")


def test_what_it_typed_though_it_failed_is_taken_out_again(private: Private, agent: Agent, through: Ntm) -> None:
    through.mood("enterless")
    through.mood("answer", '{"success": false, "error": "timeout"}')
    sent = sending(private, agent)
    assert (sent.outcome, sent.left) == ("not_taken", False)
    assert agent.box == "❯"  # noqa: RUF001
    assert b"\r" not in agent.typed


def test_what_the_agent_has_is_delivered_whatever_ntm_says(private: Private, agent: Agent, through: Ntm) -> None:
    """Else it would be sent twice."""
    through.mood("code", "1")
    sent = sending(private, agent)
    assert (sent.outcome, sent.proof) == ("delivered", "transcript")
    assert sent.reason == "its transcript tells of it, though `ntm --robot-send` failed: exit code 1"


def test_a_success_that_nothing_shows_is_not_believed(private: Private, agent: Agent, through: Ntm) -> None:
    through.mood("typeless")
    sent = sending(private, agent)
    assert (sent.outcome, sent.delivered) == ("unproven", False)
    assert sent.reason.startswith("ntm says that it was sent, but nothing shows it")


def test_one_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, private: Private, through: Ntm) -> None:
    pane = private.start("cat", "work")
    through.mood("hung")
    with pytest.raises(ntm.NtmError, match="took longer than 3s and was ended"):
        ntm.send_text("work", pane, "hello", socket=str(private.socket), limit=3.0)
    assert through.asked
    until(lambda: not _children(tmp_path))


def _children(directory: Path) -> list[str]:
    """Processes that were started with that directory in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            env = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if f"NTM_STAND_IN={directory}/".encode() in env and int(pid) != os.getpid():
            found.append(Path(f"/proc/{pid}/comm").read_text())
    return [name for name in found if name.strip() in ("sleep", "ntm")]


def test_where_it_is_not_installed_nothing_is_typed_and_that_is_said(
    private: Private, agent: Agent, through: Ntm
) -> None:
    (through.directory / "ntm").unlink()
    sent = sending(private, agent)
    assert (sent.outcome, sent.typed) == ("refused", False)
    assert sent.reason == "ntm is not installed here; without it send with --via tmux"


def test_a_text_that_no_command_line_takes_is_refused(private: Private, agent: Agent, through: Ntm) -> None:
    sent = sending(private, agent, "é" * 60_000)
    assert (sent.outcome, sent.typed) == ("refused", False)
    assert "too many for ntm" in sent.reason
    assert through.asked == []


def test_what_ntm_leaves_in_the_box_is_noted(private: Private, agent: Agent, through: Ntm) -> None:
    agent.mood("nosy")
    sent = sending(private, agent)
    assert len(through.asked) == 1
    assert (sent.submitted, sent.left) == (False, True)
    assert [note.text for note in undelivered_store.read_notes(str(private.socket), agent.pane)] == ["hello"]
