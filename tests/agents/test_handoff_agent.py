"""Two real agents: one gives work with `send --task`, the other hands it over by the line that it was given."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.test_send import Sender
from tests.agents.test_smoke import SLOW
from tests.lab import installs
from tests.lab.lab import Lab
from tests.lab.pane import AgentPane

PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
REPORT = "What was done: all of it.\n---\nQuotes ' \" and `backticks`, $HOME and \\ stay as they are."


class Pair:
    """A controller and a worker in two windows of one session, and what a person at a shell can ask."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        program = installs.find("claude").program
        self.env = {"XDG_STATE_HOME": str(lab.root / "state"), "PATH": f"{program.parent}:{PATH}"}
        wish: dict[str, Any] = {"env": self.env, "settings": {"permissions": {"allow": ["Bash"]}}}
        self.controller = lab.start("claude", **wish)
        self.worker = lab.start("claude", **wish)
        lab.tmux("move-window", "-d", "-s", f"{self.worker.session}:", "-t", f"{self.controller.session}:7")

    def midwatch(self, *words: str, pane: AgentPane | None = None) -> dict[str, Any]:
        where = {"TMUX": f"{self.lab.root}/tmux,1,0", "TMUX_PANE": pane.pane_id} if pane else {}
        mine = {"HOME": str(self.lab.root), "MIDWATCH_HOME": str(self.lab.root / "jobs")}
        done = self.lab.run([sys.executable, "-m", "midwatch", *words], timeout=2 * SLOW, **self.env | mine | where)
        assert (done.returncode, done.stderr) == (0, ""), (done.stdout, done.stderr)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
        return found

    def prompts(self, pane: AgentPane) -> list[str]:
        began = [entry for entry in pane.journal() if entry["event"] == "began" and entry.get("main")]
        return [entry["prompt"].strip() for entry in began if not entry["step"]]


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_work_is_given_and_handed_over_by_the_line_that_came_with_it(lab: Lab, agent: str) -> None:
    assert agent == "claude"
    pair = Pair(lab)
    for pane in (pair.controller, pair.worker):
        Sender(lab, pane).idle()
    sent = pair.midwatch(
        "send", pair.worker.pane_id, "Do it, [[text yes]]", "--task", "bd-q2.3", "--json", pane=pair.controller
    )
    assert (sent["outcome"], sent["proof"]) == ("delivered", "transcript")
    Sender(lab, pair.worker).idle()

    (told,) = pair.prompts(pair.worker)
    line = told[told.index("midwatch handoff") :].partition("\n\n")[0]
    assert f"--controller {pair.controller.pane_id} " in line
    script = pair.worker.cwd / "handover.sh"
    script.write_text(line.replace("<short status>", "done, 3 tests").replace("<report>", REPORT))
    pair.worker.type("hand over [[bash sh ./handover.sh]] [[text handed over]]")

    ping = "<<<CHECK MAIL>>> pane7.0 bd-q2.3 done, 3 tests <<<END CHECK MAIL>>>"
    pair.controller.until(lambda _: pair.prompts(pair.controller) == [ping], SLOW, what="the ping at its model")
    pair.worker.until("handed over", SLOW)
    found = pair.midwatch("mail", "inbox", "--unread", "--to", "controller", "--json")
    assert (found["from"], found["task"], found["subject"]) == ("pane7.0", "bd-q2.3", "bd-q2.3: done, 3 tests")
    assert pair.midwatch("mail", "show", found["id"], "--json")["text"] == f"{REPORT}\n"
    Sender(lab, pair.controller).idle()
    assert pair.prompts(pair.controller) == [ping]


def dialog(pane: AgentPane) -> list[str]:
    """What stands below the last line across the pane. Above it banners move, and hints come and go."""
    rows = pane.screen().splitlines()
    last = max(number for number, row in enumerate(rows) if row.startswith("────────"))
    return rows[last:]


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_controller_at_work_or_at_a_question_is_not_disturbed(lab: Lab, agent: str) -> None:
    assert agent == "claude"
    controller = lab.start("claude")
    sender = Sender(lab, controller)
    sender.idle()
    controller.type("act [[bash touch made]] [[text done]]")
    controller.until(lambda _: sender.turn() == "waiting", SLOW, what="the question")
    controller.until("Esc to cancel")  # it says that it waits before it has drawn its question
    before = dialog(controller)
    assert any("touch made" in row for row in before)
    done = lab.run(
        [
            *(sys.executable, "-m", "midwatch", "handoff", "--task", "bd-1", "--status", "done", "--json"),
            *("--controller", controller.pane_id, *controller.server_args, "--dir", str(lab.root / "jobs")),
        ],
        HOME=str(lab.root), PATH=PATH, timeout=2 * SLOW,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert (done.returncode, found["ping"]) == (0, "waiting"), done
    assert "The report is in the mail" in done.stderr
    assert dialog(controller) == before
    assert len(list((lab.root / "jobs" / "mail").glob("*.md"))) == 1
