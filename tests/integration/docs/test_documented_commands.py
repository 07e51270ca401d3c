"""The commands in the README and in docs do what the pages say, in an empty home."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, Box, tool
from tests.documents import NEEDS, ROOT, Block, blocks, pages, summary

FILES = {
    "Makefile": "all lint test docs:\n\t@echo $@ is done\n",
    "task.md": "Mend the parser.\n",
    "step.sh": "#!/bin/sh\necho one step\n",
    "build.sh": "#!/bin/sh\necho building\n",
}
"""The project in which the commands run."""
MARK = "@@ended "


@pytest.fixture
def project(box: Box) -> Iterator[Box]:
    """A home, a small project in it, and a tmux server of its own."""
    box.cwd = box.cwd / "shop"
    box.cwd.mkdir()
    for name, text in FILES.items():
        (box.cwd / name).write_text(text)
        (box.cwd / name).chmod(0o755)
    home = box.env["HOME"]
    box.env |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "TMUX_TMPDIR": home}
    box.env |= {"MIDWATCH_WATCHDOG_LINKS": home}
    yield box
    socket = Path(home, f"tmux-{os.getuid()}", "default")
    if socket.exists():
        # Its last session may have ended the server; the socket stays.
        subprocess.run(
            ["tmux", "-S", socket, "kill-server"], env=box.env, capture_output=True, check=False, timeout=PATIENCE
        )


def play(project: Box, block: Block) -> None:
    """Run the commands of a block in one shell; each must end as the block shows."""
    commands = block.commands()
    script = "".join(f"{command.text}\nprintf '\\n{MARK}%s\\n' $?\n" for command in commands)
    done = subprocess.run(
        ["/bin/bash", "-c", f"exec 2>&1\n{script}"], env=project.env, cwd=project.cwd, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    ended = re.findall(rf"(.*?)\n{MARK}(\d+)\n", done.stdout, re.DOTALL)
    assert len(ended) == len(commands), f"{block.place}: the shell ended early:\n{done.stdout}"
    for command, (out, code) in zip(commands, ended, strict=True):
        wanted = ".*?".join(re.escape(" ".join(part.split())) for part in command.shown.split("…"))
        said = f"{block.place}: {command.text}\nexit {code}, not {command.code}, or not what the page shows:\n{out}"
        assert (code, bool(re.search(wanted, " ".join(out.split())))) == (command.code, True), said


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if any(block.runs and block.page == page for block in blocks())],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_commands_of_a_page_do_what_it_says(project: Box, page: Path) -> None:
    mine = [block for block in blocks() if block.page == page and block.runs]
    if any(block.needs == "tmux" for block in mine):
        tool("tmux")
    for block in mine:
        play(project, block)


def test_every_block_of_commands_says_what_it_needs() -> None:
    assert [block.place for block in blocks() if block.needs not in NEEDS] == []


def test_the_summary_counts_what_is_not_run() -> None:
    every = blocks()
    assert summary().startswith(f"{sum(block.runs for block in every)} of {len(every)} blocks")
    assert f"{sum(block.needs == 'agent' for block in every)} need agent" in summary()
