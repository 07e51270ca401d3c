"""Which screens of Codex show an empty conversation: after a start, `/clear` and Ctrl-L, and no other."""

from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.agents.definition import split_regions

SCREENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"
BLANK = {
    "codex": {
        "0.169.0-fresh-46x14", "cleared", "fresh-46x14", "hard-noanim-80x24-fresh", "hooks-start", "idle-fresh",
        "idle-nodaemon-alt", "killed-then-again", "previous-cleared", "previous-fresh-46x14",
        "previous-killed-then-again",
        "dialog-untrusted-later",  # the dialog lies over a Codex that was just started
        "previous-left-by-ctrl-d",  # it left nothing but its banner
    },
    "codex-nodaemon": {"idle-fresh", "inline-cleared", "noanim-fresh-46x14"},
}  # fmt: skip


@pytest.mark.parametrize("agent", BLANK)
def test_only_an_empty_conversation_is_blank(agent: str) -> None:
    codex = catalog.load("codex")
    screens = {path.parent.name: tuple(path.read_text().split("\n")) for path in SCREENS.glob(f"{agent}/*/screen.txt")}
    assert {name for name, rows in screens.items() if "blank" in split_regions(codex, rows)[0]} == BLANK[agent]


WIPED = "\n  >_ OpenAI Codex (v0.169.0)\n     ~/proj\n\n{}\n› Ask Codex to do anything\n\n  gpt-5 · ~/proj"  # noqa: RUF001


@pytest.mark.parametrize(
    ("between", "blank"),
    [
        ("", True),
        ("⣤⣤⣤⣤⣤⣤⡀\n", True),
        ("/status\n\n  >_ OpenAI Codex (v0.169.0)\n\n  Model: gpt-5\n", True),
        ("› go on\n", False),  # noqa: RUF001
        ("• Words of the model.\n", False),
        ("■ You have hit your usage limit.\n", False),
        ("› show me a banner\n\n• It is\n\n  >_ OpenAI Codex (v0.169.0)\n\n  Worked for 2s\n", False),  # noqa: RUF001
    ],
)
def test_what_stands_below_the_banner(between: str, *, blank: bool) -> None:
    rows = tuple(WIPED.format(between).split("\n"))
    assert ("blank" in split_regions(catalog.load("codex"), rows)[0]) == blank
