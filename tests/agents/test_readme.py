"""The README's first screen as a script, with the real Claude Code, and a night's wait in between.

It is typed as it stands but for the topic of ntfy, which is on a server of the test.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.agents.conftest import need
from tests.conftest import until
from tests.documents import ROOT, blocks
from tests.lab.homes import Wish
from tests.lab.lab import REPOSITORY, Lab

SLOW = 180.0
PORT = 8767
TOPIC = "a-topic-that-nobody-guesses"


@pytest.mark.claude
def test_the_first_commands_of_the_readme_do_what_it_says(lab: Lab) -> None:
    need("claude")
    (phone := lab.root / "phone").touch()
    place, _, env = lab.settle("claude", Wish(), lab.root / "home")
    (sockets := lab.root / "sockets").mkdir(mode=0o700)
    env |= {"TMUX_TMPDIR": str(sockets), "PATH": f"{Path(sys.executable).parent}:{env['PATH']}"}
    (place.cwd / "midwatch.toml").touch()  # a project of its own
    (place.cwd / "task.md").write_text("go [[bash touch made]] [[text done]]\n")
    (place.cwd / "Makefile").write_text("test:\n\t@test -e made\n")
    block = next(found for found in blocks() if found.page == ROOT / "README.md" and found.needs == "agent")
    server = lab.begin([sys.executable, "-m", "tests.lab.ntfy", str(PORT), str(phone)], PYTHONPATH=str(REPOSITORY))
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    before = {*lab.alive()}
    evening, morning = block.text.replace(TOPIC, f"127.0.0.1:{PORT}/night").split("midwatch ls", 1)
    assert str(PORT) in evening

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
    typed("midwatch stop api; tmux kill-server")
    assert [line.split()[:2] for line in seen.splitlines() if line.startswith("api")] == [
        ["api", "idle"], ["api.monitor", "completed"]
    ], seen  # fmt: skip
    assert "Nothing needs you." in seen
    assert "api (claude): idle, verified" in seen
    until(lambda: before.issuperset(lab.alive()))
    assert [json.loads(line)["title"] for line in phone.read_text().splitlines()] == ["midwatch: api completed"]
