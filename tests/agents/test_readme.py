"""The README's first screen as a script, with the real Claude Code: typed as it stands, a night's wait in between."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.agents.conftest import need
from tests.documents import ROOT, blocks
from tests.lab.homes import Wish
from tests.lab.lab import Lab

SLOW = 180.0


@pytest.mark.claude
def test_the_first_commands_of_the_readme_do_what_it_says(lab: Lab) -> None:
    need("claude")
    place, _, env = lab.settle("claude", Wish(), lab.root / "home")
    (sockets := lab.root / "sockets").mkdir(mode=0o700)
    env |= {"TMUX_TMPDIR": str(sockets), "PATH": f"{Path(sys.executable).parent}:{env['PATH']}"}
    (place.cwd / "midwatch.toml").touch()  # a project of its own
    (place.cwd / "task.md").write_text("go [[bash touch made]] [[text done]]\n")
    (place.cwd / "Makefile").write_text("test:\n\t@test -e made\n")
    block = next(found for found in blocks() if found.page == ROOT / "README.md" and found.needs == "agent")
    evening, morning = block.text.split("midwatch ls", 1)

    def typed(script: str) -> str:
        done = lab.run(["bash", "-ec", f"cd {place.cwd}; {script}"], timeout=SLOW, **env)
        assert done.returncode == 0, (script, done.stdout, done.stderr)
        return done.stdout

    allowed = '{"permissions": {"allow": ["Bash(touch made)"]}}'
    (place.cwd / ".claude").mkdir()
    (place.cwd / ".claude" / "settings.json").write_text(allowed)
    assert "api\n" in typed(evening)
    typed("midwatch wait api.monitor --timeout 2m")
    seen = typed(f"midwatch ls{morning}")
    typed("tmux kill-server")
    assert [line.split()[:2] for line in seen.splitlines() if line.startswith("api")] == [
        ["api", "idle"], ["api.monitor", "completed"]
    ], seen  # fmt: skip
    assert "Nothing needs you." in seen
    assert "api (claude): idle, verified" in seen
