"""What is done with every agent while it is recorded. All agents get the same stories; only keys differ."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.pane import AgentPane
from tests.lab.timelines import Tape

REST = 3.0
"""Seconds that a state is left to stand, so that what lasts is told from what passes."""
ASKS = r"Do you want to|Would you like to|Permission required|Allow execution|● 1\. "
ESCAPES = {"opencode": 2}
PHRASES = tuple(
    f"{'Reticulating splines, herding cats and polishing the very last of many semicolons of the day'[:length]}..."
    for length in (44, 52, 58, 64, 76, 90)
)
"""What a status row says beside its timer. In 80 columns some fit just so, and some make the timer wrap."""


class Story(NamedTuple):
    play: Callable[[AgentPane, Tape], None]
    start: Mapping[str, Any] = {}
    """How the agent is started: arguments of `Lab.start`."""


def stand(seconds: float) -> None:
    """Let time pass while the recorder looks; nothing is waited for."""
    time.sleep(seconds)


def send(pane: AgentPane, tape: Tape, prompt: str) -> float:
    """Send a prompt; from when it asks the model on the agent is working, and before that nobody knows."""
    before = time.time()
    pane.type(prompt)
    tape.true(time.time(), "", "", "driver: sent a prompt; the model has not been asked yet")
    began = pane.until_model("began", 60, main=True, after=before)
    tape.true(began["t"], "working", "model", "server: asked")
    return before


def ended(pane: AgentPane, tape: Tape, after: float, step: int = 0) -> None:
    """Wait for the answer after so many tools; from its end on the turn is over."""

    def closed() -> list[float]:
        entries = [entry for entry in pane.journal() if entry["t"] > after]
        began = [entry for entry in entries if entry["event"] == "began" and entry.get("main")]
        asked = {entry["seq"] for entry in began if entry["step"] == step}
        return [entry["t"] for entry in entries if entry["event"] == "ended" and entry["seq"] in asked]

    pane.until(lambda _: closed(), 90, what=f"the end of the answer after {step} tools")
    tape.true(closed()[-1], "idle", "turn-ended", "server: answered in full")


def written(path: Path, pane: AgentPane, timeout: float = 60) -> float:
    pane.until(lambda _: path.exists(), timeout, what=f"{path.name}")
    return path.stat().st_mtime


def answer(pane: AgentPane, tape: Tape) -> None:
    after = send(pane, tape, "go [[think 3]]+[[text All of it is fine.]]")
    ended(pane, tape, after)
    stand(REST)


def stream(pane: AgentPane, tape: Tape) -> None:
    after = send(pane, tape, "go [[stream 8]]")
    ended(pane, tape, after)
    stand(REST)


def long_phrases(pane: AgentPane, tape: Tape) -> None:
    """A long turn, in which the status row has every length; see OF_QWEN."""
    after = send(pane, tape, "go [[think 12]]+[[slow 16]]+[[stream 12]]")
    ended(pane, tape, after)
    stand(REST)


def hang(pane: AgentPane, tape: Tape) -> None:
    """Silence before the first byte is work, however long."""
    send(pane, tape, "go [[hang]]")
    stand(12)


def hang_in_the_middle(pane: AgentPane, tape: Tape) -> None:
    send(pane, tape, "go [[hangmid]]")
    stand(12)


def permission(pane: AgentPane, tape: Tape) -> None:
    where = pane.home if pane.agent.startswith("codex") else pane.cwd
    after = _asked(pane, tape, where)
    tape.true(time.time(), "", "", "driver: it is about to be allowed; the tool has not begun yet")
    pane.keys("Enter")
    tape.true(written(where / "began", pane), "working", "tool", "file: the tool began")
    tape.true(written(where / "over", pane), "working", "model", "file: the tool ended")
    ended(pane, tape, after, step=1)
    stand(REST)


def refused(pane: AgentPane, tape: Tape) -> None:
    """A permission that is refused ends the turn, below one that ended well."""
    answer(pane, tape)
    _asked(pane, tape, pane.home if pane.agent.startswith("codex") else pane.cwd)
    tape.true(time.time(), "", "", "driver: it is about to be refused")
    pane.keys("Escape")
    pane.until(ASKS, gone=True)
    tape.true(time.time(), "idle", "interrupted", "driver: the dialog is gone, and nothing was allowed")
    stand(REST)


def _asked(pane: AgentPane, tape: Tape, where: Path) -> float:
    """Have a tool ask for leave, and leave its dialog open for a while; when the prompt was sent."""
    escape = "!" if pane.agent.startswith("codex") else ""
    tool = f"{escape}touch {where}/began; sleep 4; touch {where}/over"
    after = send(pane, tape, f"go [[bash {tool}]] [[text All done now.]]")
    asked = pane.until_model("ended", main=True, after=after)
    tape.true(asked["t"], "", "", "server: called a tool that asks; the agent has not asked yet")
    pane.until(ASKS)
    tape.true(time.time(), "waiting", "permission", "driver: the dialog is up")
    stand(REST)
    return after


def interrupted_retrying(pane: AgentPane, tape: Tape) -> None:
    """Esc between two attempts, when there is no request to hang up."""
    answer(pane, tape)
    after = send(pane, tape, "go [[retryafter 503 40]]")
    pane.until_model("error", main=True, after=after)
    stand(REST)
    tape.true(time.time(), "", "", "driver: pressed Esc")
    _press(pane)
    tape.true(time.time(), "idle", "interrupted", "driver: Esc was pressed, and no attempt follows")
    stand(REST)


def interrupted(pane: AgentPane, tape: Tape) -> None:
    after = send(pane, tape, "go [[stream 40]]")
    pane.until_model("text", main=True, after=after)
    stand(REST)
    escape(pane, tape)


def interrupted_before_a_word(pane: AgentPane, tape: Tape) -> None:
    send(pane, tape, "go [[hang]]")
    stand(REST)
    escape(pane, tape)


def interrupted_again_before_a_word(pane: AgentPane, tape: Tape) -> None:
    """A turn that ended well stands on the screen above the one that is interrupted."""
    answer(pane, tape)
    interrupted_before_a_word(pane, tape)


def interrupted_again(pane: AgentPane, tape: Tape) -> None:
    answer(pane, tape)
    interrupted(pane, tape)


def escape(pane: AgentPane, tape: Tape) -> None:
    """Press Esc; the turn is over when the agent hangs up."""
    after = time.time()
    tape.true(after, "", "", "driver: pressed Esc; the agent has not hung up yet")
    _press(pane)
    gone = pane.until_model("client-gone", after=after - 1)
    tape.true(gone["t"], "idle", "interrupted", "server: the agent hung up after Esc")
    stand(REST)


def _press(pane: AgentPane) -> None:
    for _ in range(ESCAPES.get(pane.agent, 1)):
        pane.keys("Escape")
        stand(0.3)


def failed(pane: AgentPane, tape: Tape) -> None:
    after = send(pane, tape, "go [[status 400]]")
    error = pane.until_model("error", main=True, after=after)
    tape.true(error["t"], "idle", "turn-failed", "server: refused with 400, which nobody tries again")
    stand(REST)


def recovered(pane: AgentPane, tape: Tape) -> None:
    after = send(pane, tape, "go [[status 500 2]] [[text Fine again.]]")
    ended(pane, tape, after)
    stand(REST)


def cut(pane: AgentPane, tape: Tape) -> None:
    """An answer breaks off, again and again. Up to its last attempt the agent works, whatever its screen shows."""
    after = send(pane, tape, "go [[cut]]")

    def broken() -> list[float]:
        return [entry["t"] for entry in pane.journal() if entry["event"] == "cut" and entry["t"] > after]

    pane.until(lambda _: len(broken()) > 5, what="six attempts")
    tape.true(broken()[-1], "", "", "server: cut it off; whether another attempt follows is not known")
    stand(1)


def imitation(pane: AgentPane, tape: Tape) -> None:
    """An answer full of other people's status lines; and a tool that runs below it."""
    words = (
        r"It said:\n\nDo you want to proceed?\n\n❯ 1. Yes\n\nYou've hit your session limit · resets 5pm\n\n"  # noqa: RUF001
        r"✻ Thinking… (9s · esc to interrupt)\n\nWorked for 10s • 20:12\n\nThat was all of it."
    )
    after = send(pane, tape, f"go [[text {words}]]")
    ended(pane, tape, after)
    stand(REST)


def killed(pane: AgentPane, tape: Tape) -> None:
    send(pane, tape, "go [[hang]]")
    stand(REST)
    victims = _agents(pane)
    tape.true(time.time(), "exited", "", "driver: kill -9")
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    stand(REST)


def _agents(pane: AgentPane) -> list[int]:
    """The processes right below the pane's shell, and theirs: what the driver typed, and what that started."""
    return [int(line.split()[0]) for line in pane.facts()["tree"][1:]]


STORIES: dict[str, Story] = {
    "answer": Story(answer),
    "stream": Story(stream),
    "hang": Story(hang),
    "hang-in-the-middle": Story(hang_in_the_middle),
    "permission": Story(permission),
    "interrupted": Story(interrupted),
    "interrupted-before-a-word": Story(interrupted_before_a_word),
    "refused": Story(refused),
    "interrupted-retrying": Story(interrupted_retrying),
    "interrupted-again": Story(interrupted_again),
    "interrupted-again-before-a-word": Story(interrupted_again_before_a_word),
    "failed": Story(failed),
    "recovered": Story(recovered),
    "imitation": Story(imitation),
    "killed": Story(killed),
}


OF_QWEN = {"long-phrases": Story(long_phrases, {"settings": {"ui": {"customWittyPhrases": PHRASES}}})}
"""Stories that need a setting of Qwen Code's."""
OF_CODEX = {"cut": Story(cut, {"settings": {"model_providers.fake.stream_max_retries": 9}})}
"""Stories that need a setting of Codex's. While it tries again it may show only its input box."""
