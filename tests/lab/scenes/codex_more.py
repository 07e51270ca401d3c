"""Codex: long turns, compaction, conversations that were left and taken up again, menus over work."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes import codex_common as do


def minute(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[bash echo hi]] [[slow 62]]+[[text That took long.]]")
    do.passed(pane, since, 62)
    do.finish(pane, since, 2)
    shots.take(pane, "ended-after-a-minute", "idle", "turn-ended")


def paragraphs(pane: AgentPane, shots: Shots) -> None:
    do.reply(pane, "two", "The first paragraph.\n\nThe second one.\n\n")
    since = do.send(pane, "tell me [[say two]]+[[hang]]")
    pane.until_model("hang", after=since)
    pane.until("The first paragraph")
    do.passed(pane, since, 5)
    shots.take(pane, "noanim-paragraphs-hang", "working", "model")


def compacted(pane: AgentPane, shots: Shots) -> None:
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    pane.type("/compact")
    pane.until("(?i)context compacted", do.LONG)
    do.rest(pane)
    shots.take(pane, "compacted", "idle")


def resumed(pane: AgentPane, shots: Shots) -> None:
    do.reply(pane, "status", f"It says:\n\n{do.STATUS}\n")
    do.finish(pane, do.send(pane, "what does it say? [[say status]]"))
    pane.keys("C-d")
    do.shell(pane)
    pane.type(f"{do.command(pane)} resume --last")
    do.started(pane)
    pane.until("It says", do.LONG)
    do.rest(pane, 2.5)
    shots.take(pane, "resumed-words-status", "idle")
    since = do.send(pane, "go on [[slow 30]]")
    do.passed(pane, since, 3)
    shots.take(pane, "resumed-busy", "working", "model")
    pane.type("/model")
    pane.until("enter select|esc (?:to )?(?:go )?back")
    do.passed(pane, since, 9)
    shots.take(pane, "menu-model-busy", "working", "model")


def leave(pane: AgentPane, shots: Shots) -> None:
    """A daemon works on when nobody looks; the pane is a shell all the same."""
    since = do.send(pane, "go [[slow 60]]")
    do.passed(pane, since, 3)
    pane.keys("C-d")
    do.shell(pane)
    shots.take(pane, "left-busy", "exited")


SCENES = [
    Scene("minute", minute, {"size": (80, 24)}),
    Scene("paragraphs", paragraphs, {"size": (80, 24), "settings": {"tui.animations": False}}),
    Scene("compacted", compacted, {"size": (80, 24)}),
    Scene("resumed", resumed, {"size": (100, 30)}),
    Scene("leave-busy", leave, {"size": (100, 30)}),
]
