"""Codex when the model refuses, breaks off, or the plan is used up."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes import codex_common as do

PATIENT = {"model_providers.fake.stream_max_retries": 9}
SILENT = {"model_providers.fake.request_max_retries": 9}


def failed(pane: AgentPane, since: float, event: str = "error") -> None:
    """Wait until the model refused, and until Codex has given up."""
    pane.until_model(event, after=since, main=True)
    pane.until(r"■|Approaching rate limits|Switch to ", do.LONG)
    pane.until(lambda seen: not seen.title().startswith(tuple("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")), do.LONG)
    do.rest(pane)


def errors(pane: AgentPane, shots: Shots) -> None:
    for code in (400, 401, 429, 529):
        failed(pane, do.send(pane, f"go [[status {code}]]"))
        shots.take(pane, f"failed-{code}", "idle", "turn-failed")
        pane.type("/clear")
        do.rest(pane)
    failed(pane, do.send(pane, "go [[bash echo hi]] [[streamerr server_error]]"), "stream-error")
    shots.take(pane, "failed-stream-error-after-tool", "idle", "turn-failed")
    since = do.send(pane, "again [[text All is well.]]")
    do.finish(pane, since)
    shots.take(pane, "failed-then-good", "idle", "turn-ended")


def retrying(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[status 500]]")
    pane.until("Reconnecting", do.LONG)
    do.passed(pane, since, 4)
    shots.take(pane, "reconnecting-46x14", "working", "retrying")
    pane.keys("Escape")
    pane.until("interrupted")
    do.rest(pane)
    shots.take(pane, "reconnecting-interrupted-46x14", "idle", "interrupted")


def cut(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[bash echo hi]] [[cut]]")
    pane.until_model("cut", after=since, main=True)
    do.passed(pane, since, 4)
    if "Reconnecting" in pane.screen():
        shots.take(pane, "cut-reconnecting", "working", "retrying")
    else:  # below an answer that has begun it shows nothing but its input box
        shots.undecided(pane, "cut-reconnecting-unsaid", "working", "retrying")


def hours(pane: AgentPane, shots: Shots) -> None:
    """How long it waits is not shown: for all that can be seen, it tries again."""
    since = do.send(pane, "go [[retryafter 429 5400]]")
    pane.until_model("error", after=since, main=True)
    pane.until("[Rr]econnecting|■", do.LONG)
    do.passed(pane, since, 5)
    if "■" in pane.screen():  # older versions give up at once
        shots.take(pane, "failed-429-retry-after", "idle", "turn-failed")
    else:
        shots.take(pane, "retry-after-hours-unsaid", "working", "retrying")


def unsaid(pane: AgentPane, shots: Shots) -> None:
    """Requests that are refused are sent again without a word."""
    since = do.send(pane, "go [[status 500]]")
    pane.until(lambda seen: len([e for e in seen.journal() if e["event"] == "error"]) > 3, do.LONG)
    do.passed(pane, since, 4)
    shots.take(pane, "retrying-unsaid", "working")


def limit(pane: AgentPane, shots: Shots) -> None:
    failed(pane, do.send(pane, "go [[bash echo hi]] [[limit 7200]]"))
    shots.take(pane, "limit-after-tool", "limited", "plan")
    pane.keys("Escape")
    do.rest(pane)
    shots.take(pane, "limit-after-tool-dismissed", "limited", "plan")
    pane.type("/status")
    pane.until("(?i)limit|session")
    do.rest(pane)
    shots.take(pane, "limit-then-status", "limited", "plan")
    pane.type("what now? 1. Yes 2. No", enter=False)
    shots.take(pane, "limit-draft", "limited", "plan")
    pane.keys("C-c")
    do.rest(pane)
    since = do.send(pane, "again [[text All is well again.]]")
    do.finish(pane, since)
    shots.take(pane, "limit-then-good", "idle", "turn-ended")
    since = do.send(pane, "go on [[hang]]")
    do.passed(pane, since, 3)
    shots.take(pane, "limit-then-busy", "working", "model")


def weekly(pane: AgentPane, shots: Shots) -> None:
    failed(pane, do.send(pane, "go [[limit 400000 weekly]]"))
    shots.take(pane, "limit-weekly-46x14", "limited", "plan")
    pane.keys("Escape")
    do.rest(pane)
    shots.take(pane, "limit-weekly-46x14-dismissed", "limited", "plan")


def warned(pane: AgentPane, shots: Shots) -> None:
    do.finish(pane, do.send(pane, "go [[util 93]]+[[text Nearly all is used.]]"))
    shots.take(pane, "warned-93", "waiting", "menu")
    pane.keys("Escape")
    do.rest(pane)
    shots.take(pane, "warned-93-dismissed", "idle", "turn-ended")
    since = do.send(pane, "go on [[util 95]]+[[text And]]+[[hang]]")
    pane.until_model("hang", after=since)
    do.passed(pane, since, 4)
    shots.take(pane, "warned-95-streaming", "working", "model")


def about(pane: AgentPane, shots: Shots) -> None:
    """Words about limits, at the very end of what was said."""
    do.reply(pane, "limit", f"The other pane says:\n\n{do.LIMIT}\n")
    do.finish(pane, do.send(pane, "what does it say? [[say limit]]"))
    shots.take(pane, "about-limit", "idle", "turn-ended")
    (pane.cwd / "log.txt").write_text(f"{do.LIMIT}\n■ Conversation interrupted\n{do.CLOSING}\n")
    do.send(pane, f"and [[bash cat log.txt]] [[bash {do.held('a')}]]")
    do.running(pane, "a")
    shots.take(pane, "about-limit-tool-runs", "working", "tool")


SCENES = [
    Scene("errors", errors, {"size": (100, 30)}),
    Scene("retrying", retrying, {"size": (46, 14), "settings": PATIENT}),
    Scene("cut", cut, {"size": (80, 24), "settings": PATIENT}),
    Scene("hours", hours, {"size": (80, 24), "settings": PATIENT}),
    Scene("unsaid", unsaid, {"size": (46, 14), "settings": SILENT}),
    Scene("limit-in-turn", limit, {"size": (100, 30)}),
    Scene("weekly", weekly, {"size": (46, 14)}),
    Scene("warned", warned, {"size": (80, 24)}),
    Scene("about-limit", about, {"size": (80, 24)}),
]
