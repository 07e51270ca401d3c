"""`midwatch send` to real agents: what it says has arrived, the model has seen, once; and nobody is disturbed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from midwatch.agents import catalog, parts
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import input_box, prompt_delivery
from midwatch.sessions.prompting.model import PromptResult
from midwatch.sessions.prompting.send import send_prompt
from midwatch.tmux.pane_input import KeyTyper
from midwatch.tmux.pane_snapshot import take_snapshot
from tests.agents.conftest import each, need
from tests.agents.test_smoke import SLOW, WAYS
from tests.lab.lab import Lab
from tests.lab.pane import AgentPane

LINES = "first, a line\n\n  - then an indented one\n  - é, 日本語 and 👍\nand [[text all of it read]]"
TALL = "\n".join(f"{number}. a row of a text that is folded" for number in range(60)) + "\n[[text folded and read]]"
LONG = "\n".join(f"{number}. row of a very long text" for number in range(4000)) + "\n[[text long and read]]"

AWKWARD = (
    "<<<WATCHDOG TICK>>> watchdog:work:1:2:ab\x07cd\n"
    "He said \"no\", she said 'yes'; it costs $5, $HOME, ${PATH} and $(id)\x00; `uname -a`; a\\b, \\n and \\\\;\n"
    "\n"
    "\t100% #{pane_id} #(id) {a} [b] ~c; d && e | f > /dev/null & g ! h \x1b[31mred\x1b[0m\x08\x7f\n"
    "<<<CHECK MAIL>>> pane2 bd-q2.3 done <<<END CHECK MAIL>>>\x1b[201~\x1b[200~\n"
    + "".join(f"{number:03}. 'row' \"of\" a `long` $message \\ with\x03 much\x85 in it\n" for number in range(200))
    + "<<<END WATCHDOG TICK>>> watchdog:work:1:2:abcd [[text awkward and read]]"
)
"""What anything on the way might take for its own, and control characters, which are taken out."""
TAKEN_OUT = ("\x07", "\x00", "\x1b[31m", "\x1b[0m", "\x08", "\x7f", "\x1b[201~", "\x1b[200~", "\x03", "\x85")

KEPT = 900
"""The journal keeps only the end of a prompt."""


class Sender:
    """Sends to one pane, as a person does, and knows what the model has seen since."""

    def __init__(self, lab: Lab, pane: AgentPane) -> None:
        self.pane = pane
        self.env = {"HOME": str(lab.root), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self.seen = 0

    def run(self, verb: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-m", "midwatch", verb, self.pane.pane_id, *arguments, *self.pane.server_args, "--json"]
        return subprocess.run(
            call, env=self.env, input=stdin, capture_output=True, text=True, timeout=2 * SLOW, check=False
        )

    def send(self, text: str) -> dict[str, Any]:
        done = self.run("send", "--file", "-", stdin=text)
        assert not done.stderr, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found | {"code": done.returncode}

    def prompts(self) -> list[str]:
        """The prompts with which the model was asked since the last time, without what the agent put before them."""
        began = [entry for entry in self.pane.journal() if entry["event"] == "began" and entry.get("main")]
        fresh, self.seen = began[self.seen :], len(began)
        return [entry["prompt"].rpartition("</session_context>\n")[2].strip() for entry in fresh if not entry["step"]]

    def idle(self) -> None:
        self.pane.until(lambda _: self.begun() and self.turn() == "idle", SLOW, what="its prompt")

    def begun(self) -> bool:
        """Codex shows its prompt before it has begun, and then for a moment that it works: its title tells."""
        return not self.pane.agent.startswith("codex") or self.pane.title() == self.pane.cwd.name

    def turn(self) -> str:
        return str(json.loads(self.run("why").stdout)["turn"])


def delivered(sender: Sender, text: str) -> None:
    sender.idle()
    sent = sender.send(text)
    assert (sent["code"], sent["proof"], sent["left"]) == (0, "transcript", False), json.dumps(sent)
    sender.pane.until_model("began", SLOW, main=True)
    sender.idle()
    assert [prompt[-KEPT:] for prompt in sender.prompts()] == [text[-KEPT:]]
    assert sender.pane.tmux("list-buffers") == ""


def refused(sender: Sender, says: str, code: int = 12) -> None:
    sent = sender.send("nobody should see this")
    assert (sent["code"], sent["typed"], sent["submitted"]) == (code, False, False), json.dumps(sent)
    assert says in sent["reason"]
    assert "nobody should" not in sender.pane.screen()
    assert not any("nobody should" in entry.get("prompt", "") for entry in sender.pane.journal())
    assert sender.pane.tmux("list-buffers") == ""


@pytest.mark.parametrize(("agent", "age"), each(previous=True))
def test_a_prompt_arrives_once_and_as_it_was(lab: Lab, agent: str, age: str) -> None:
    need(agent, age)
    sender = Sender(lab, lab.start(agent, version=age))
    delivered(sender, "go on [[text one line read]]")
    delivered(sender, LINES)
    delivered(sender, TALL)
    (sender.pane.cwd / "main.py").write_text("x")
    (sender.pane.cwd / "maintain.py").write_text("x")
    if not agent.startswith("gemini"):  # which puts the file that it takes for the one meant into the prompt
        delivered(sender, "what ends with a mention @mai")
    delivered(sender, "what ends with a backslash \\")


@pytest.mark.parametrize(
    "agent",
    [pytest.param("claude", marks=pytest.mark.claude), pytest.param("codex", marks=pytest.mark.codex)],
    indirect=True,
)
def test_a_very_long_prompt_arrives(lab: Lab, agent: str) -> None:
    assert len(LONG) > 100_000
    delivered(Sender(lab, lab.start(agent)), LONG)


@pytest.mark.parametrize(("agent", "age"), each(previous=False))
def test_ten_thousand_awkward_letters_arrive_once_as_they_were_without_control_characters(
    lab: Lab, agent: str, age: str
) -> None:
    need(agent, age)
    text = AWKWARD.replace("\t", "    ")
    for sign in TAKEN_OUT:
        text = text.replace(sign, "")
    assert len(text) > 10_000
    assert all(letter == "\n" or letter.isprintable() for letter in text)
    sender = Sender(lab, lab.start(agent, version=age))
    sender.idle()
    sent = sender.send(AWKWARD)
    assert (sent["code"], sent["proof"], sent["left"], sent["note"]) == (0, "transcript", False, None), sent
    sender.pane.until_model("began", SLOW, main=True)
    sender.idle()
    assert [prompt[-KEPT:] for prompt in sender.prompts()] == [text[-KEPT:]], "the model was asked once"
    assert sender.pane.tmux("list-buffers") == ""
    if agent.startswith(("claude", "codex")):
        assert written(sender.pane) == [text], "its own transcript has it once, to the letter"


def written(pane: AgentPane) -> list[str]:
    """The prompts of a person that stand in the transcripts of Claude Code or Codex."""
    found = []
    where = "projects/*/*.jsonl" if pane.agent == "claude" else "sessions/**/rollout-*.jsonl"
    for line in [line for path in pane.home.rglob(where) for line in path.read_bytes().splitlines()]:
        made = parts.files(pane.agent.partition("-")[0]).story
        assert made is not None
        story = made()
        story.take(line)
        if story.event == "prompt" and b"[[text" in line:  # Codex tells of the turn as well
            found.append(max(texts(json.loads(line)), key=len))
    return found


def texts(told: object) -> list[str]:
    """All texts in a piece of JSON."""
    if isinstance(told, dict | list):
        return [text for each in (told.values() if isinstance(told, dict) else told) for text in texts(each)]
    return [told] if isinstance(told, str) else []


@pytest.mark.parametrize(("agent", "age"), each(previous=False))
def test_nobody_is_disturbed(lab: Lab, agent: str, age: str) -> None:
    """At work, with a draft in the box, with a question open."""
    need(agent, age)
    pane = lab.start(agent)
    sender = Sender(lab, pane)
    sender.idle()
    pane.type("think [[slow 20]]+[[text done]]")
    pane.until(lambda _: sender.turn() == "working", SLOW, what="work")
    refused(sender, "it is at work")
    sender.idle()

    pane.type("my own words", enter=False)
    refused(sender, "a draft stands in its box: 'my own words'")
    pane.keys("C-u")
    pane.until("my own words", gone=True)

    outside = "!" if agent.startswith("codex") else ""
    made = pane.cwd / "made"
    pane.type(f"act [[bash {outside}touch {made}]] [[text done]]")
    pane.until(WAYS[agent.partition("-")[0]].asks, SLOW)
    pane.until(lambda _: sender.turn() == "waiting", SLOW, what="the question")
    refused(sender, "it waits for a permission", 8)
    assert not made.exists()
    pane.until(WAYS[agent.partition("-")[0]].asks, SLOW)


def begun(lab: Lab, pane: AgentPane, text: str) -> PromptResult:
    """Deliver a prompt to an agent that has just been started."""
    panes = PaneObserver(catalog.load_all(), str(lab.root / "spool"), tuple(pane.server_args))
    try:
        return send_prompt(panes, pane.pane_id, text, until=time.monotonic() + SLOW)
    finally:
        panes.close()


@pytest.mark.parametrize(("agent", "age"), each(previous=True))
def test_an_agent_that_was_just_started_gets_its_prompt_once(lab: Lab, agent: str, age: str) -> None:
    need(agent, age)
    pane = lab.start(agent, version=age, ready=False)
    sent = begun(lab, pane, LINES)
    assert (sent.outcome, sent.proof, sent.left) == ("delivered", "transcript", False), f"{sent}\n{pane.screen()}"
    pane.until_model("began", SLOW, main=True)
    sender = Sender(lab, pane)
    sender.idle()
    assert sender.prompts() == [LINES]


@pytest.mark.parametrize(
    "agent",
    [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("claude", "gemini", "qwen")],
    indirect=True,
)
def test_a_question_for_trust_at_the_start_is_a_persons(lab: Lab, agent: str) -> None:
    pane = lab.start(agent, trusted=False, ready=False)
    sent = begun(lab, pane, "nobody should see this")
    assert (sent.outcome, sent.detail, sent.typed) == ("waiting", "trust", False), f"{sent}\n{pane.screen()}"
    assert "nobody should" not in pane.screen()


class Deaf(KeyTyper):
    """Presses Enter where the agent does not hear it."""

    def press(self, keys: tuple[str, ...], guard: str) -> bool:
        return keys == ("Enter",) or super().press(keys, guard)


@pytest.mark.parametrize(("agent", "age"), each(previous=False))
def test_what_is_not_taken_is_taken_out_again(lab: Lab, agent: str, age: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(agent, age)
    pane = lab.start(agent)
    sender = Sender(lab, pane)
    monkeypatch.setattr(prompt_delivery, "AGAIN", 0.1)
    monkeypatch.setattr(prompt_delivery, "GIVEN_UP", 0.1)
    monkeypatch.setattr(prompt_delivery, "KeyTyper", Deaf)
    server = tuple(pane.server_args)
    panes = PaneObserver(catalog.load_all(), str(lab.root / "spool"), server)
    for text in ("one line", "three\nlines\n\n  of text", TALL):
        sender.idle()
        sent = send_prompt(panes, pane.pane_id, text)
        assert (sent.typed, sent.submitted, sent.left) == (True, False, False), f"{sent}\n{pane.screen()}"
        seen = take_snapshot(server, pane.pane_id)
        assert seen is not None
        assert input_box.read_input_box(catalog.load(agent.partition("-")[0]), seen.rows).state == "empty"
    panes.close()
    assert sender.prompts() == []


@pytest.mark.codex
@pytest.mark.parametrize("agent", ["codex", "codex-nodaemon"], indirect=True)
def test_a_command_that_it_does_not_know_is_taken_out_again(lab: Lab, agent: str) -> None:
    """It comes back into the box, with the cursor before it."""
    sender = Sender(lab, lab.start(agent))
    sender.idle()
    for text in ("/nosuchcommand at all", "/nosuchcommand\nwith a second line\n\nand more"):
        sent = sender.send(text)
        assert (sent["code"], sent["outcome"], sent["left"]) == (1, "not_taken", False), (
            f"{sent} {sender.pane.screen()}"
        )
    assert sender.prompts() == []


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_suggestion_in_dim_letters_is_no_draft(lab: Lab, agent: str) -> None:
    """What was queued leaves such words in the box of an agent at work; at rest it is empty again."""
    pane = lab.start(agent)
    sender = Sender(lab, pane)
    pane.type("think [[slow 8]]+[[text first]]")
    pane.until("esc to interrupt", SLOW)
    pane.type("and then [[text second]]")
    pane.until("Press up to edit", SLOW)
    detector = catalog.load(agent)
    seen = take_snapshot(tuple(pane.server_args), pane.pane_id)
    assert seen is not None
    assert input_box.read_input_box(detector, seen.rows).state == "empty"
    refused(sender, "it is at work")
