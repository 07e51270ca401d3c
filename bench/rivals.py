"""The published programs that `story-automator` is measured beside: installed with npm at pinned versions.

They come where the agents of the lab are, in the same way. Without them the bench goes on and measures less.
"""

import os
import platform
import subprocess
import sys

from tests.lab import installs
from tests.lab.installs import Install

PYTHON = Install("story-automator", "1.15.0", ("bmad-story-automator@1.15.0",), "bmad-story-automator")
GO = Install("story-automator-go", "0.1.4", ("bmad-story-automator-go@0.1.4",), "bmad-story-automator-go")
SKILLS = ("create-story", "dev-story", "qa-generate-e2e-tests", "retrospective")
"""What the Python program's installer wants to find in a project."""
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def python_in(project: str, env: dict[str, str]) -> str:
    """The Python program, put into a project by its own installer: bare, it verifies nothing. Empty without it."""
    if not PYTHON.here:
        return ""
    os.makedirs(f"{project}/_bmad")
    for name in SKILLS:
        os.makedirs(f"{project}/.claude/skills/bmad-{name}")
        with open(f"{project}/.claude/skills/bmad-{name}/SKILL.md", "w", encoding="ascii") as file:
            file.write(f"# {name}\n")
    subprocess.run([PYTHON.program, project], env=env, check=True, capture_output=True, timeout=60)
    return f"{project}/.claude/skills/bmad-story-automator/scripts/story-automator"


def go() -> str:
    """The Go program. Empty without it, also where none was published for a machine like this one."""
    name = f"linux-{MACHINES.get(platform.machine(), 'none')}"
    path = f"{GO.modules}/{GO.command}/artifacts/story-automator/bin/{name}/story-automator"
    return path if GO.here and os.path.exists(path) else ""


if __name__ == "__main__":
    try:
        installs.bring([PYTHON, GO], relock="--lock" in sys.argv)
    except SystemExit as error:
        print(f"{error}\nthe bench goes on; what needs them is not measured", flush=True)
