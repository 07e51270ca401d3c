"""Which agent does a step, how it is started, and how it knows a workflow of BMAD in this project."""

from __future__ import annotations

import os
import re
import shlex

from midwatch.compat.story_automator import project
from midwatch.core.errors import UsageError
from midwatch.core.value import Value

DEFAULT = "claude"
CLI = {"claude": "claude --dangerously-skip-permissions", "codex": "codex exec"}
"""What each is started with, before its own settings and the prompt."""
UNATTENDED = """ -s workspace-write -c 'approval_policy="never"'"""
"""Codex writes in the project and asks nobody; what it may do beyond is for its own configuration to say."""
SKILLS = (".claude/skills", ".agents/skills")
COMMANDS = ".claude/commands"
FLOWS = "_bmad/bmm/workflows/4-implementation"
SKILL, COMMAND = "bmad-", "/bmad-bmm-"


class WorkflowNames(Value):
    """Under which names a workflow may be there: as a skill, as a slash command, as a directory; the best first."""

    skills: tuple[str, ...]
    commands: tuple[str, ...]
    directories: tuple[str, ...]


NAMES = {
    "create": WorkflowNames(("bmad-create-story",), ("bmad-bmm-create-story",), ("create-story",)),
    "dev": WorkflowNames(("bmad-dev-story",), ("bmad-bmm-dev-story",), ("dev-story",)),
    "auto": WorkflowNames(
        ("bmad-qa-generate-e2e-tests", "bmad-testarch-automate"),
        ("bmad-tea-testarch-automate", "bmad-bmm-qa-generate-e2e-tests"),
        ("qa-generate-e2e-tests",),
    ),
    "review": WorkflowNames(
        ("bmad-story-automator-review", "bmad-code-review"),
        ("bmad-bmm-story-automator-review", "bmad-bmm-code-review"),
        ("story-automator-review", "code-review"),
    ),
    "retro": WorkflowNames(("bmad-retrospective",), ("bmad-bmm-retrospective",), ("retrospective",)),
}


class WorkflowLocation(Value):
    """How a project has a workflow: a slash command, or a file to read; neither where it has none."""

    slash: str = ""
    file: str = ""


def selected_agent(given: str | None) -> str:
    """The agent meant: as it was said, else AI_AGENT, else Claude Code. It need not be one that we can build for."""
    wanted = given or os.environ.get("AI_AGENT") or DEFAULT
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", wanted):
        raise UsageError(f"{project.shorten_word(wanted)} is no agent's name; say claude or codex")
    return DEFAULT if wanted == "auto" else wanted


def agent_program(given: str | None) -> str:
    """What it is started with. AI_COMMAND stands in for an agent that nobody named."""
    own = os.environ.get("AI_COMMAND", "").strip()
    if own and not given and not os.environ.get("AI_AGENT"):
        return own
    wanted = selected_agent(given)
    if wanted not in CLI:
        raise UsageError(f"no command is known for the agent {wanted}; say claude or codex, or set AI_COMMAND alone")
    return CLI[wanted]


def shell_command(given: str | None, prompt: str) -> str:
    """A shell's command line for a prompt."""
    start = agent_program(given)
    if start == CLI["codex"]:
        return f"{start}{UNATTENDED} {shlex.quote(prompt)}"
    return f"unset CLAUDECODE && {start} {shlex.quote(prompt)}"


def knows_slash_commands(given: str | None) -> bool:
    """Whether the slash commands of Claude Code mean something to it."""
    return os.path.basename(agent_program(given).split()[0]) == "claude"


def find_workflow(root: str, step: str, *, slash: bool) -> WorkflowLocation:
    """How the project has a step's workflow. ``slash``: whether the agent knows the slash commands of Claude Code."""
    names = NAMES[step]
    for place in _skill_places(slash=slash):
        for name in names.skills:
            if os.path.isfile(os.path.join(root, place, name, "SKILL.md")):
                return WorkflowLocation(file=f"{place}/{name}/SKILL.md")
    for name in names.commands:
        if slash and os.path.isfile(f"{root}/{COMMANDS}/{name}.md"):
            return WorkflowLocation(slash=f"/{name}")
    for name in names.directories:
        for file in ("workflow.md", "workflow.yaml"):
            if os.path.isfile(f"{root}/{FLOWS}/{name}/{file}"):
                return WorkflowLocation(file=f"{FLOWS}/{name}/{file}")
    return WorkflowLocation()


def workflow_prefix(root: str, wanted: str) -> str:
    """How the project's workflows begin, for the agent meant: skills, or slash commands where there are only those."""
    if wanted != "claude":
        return "none"
    found = [find_workflow(root, step, slash=True) for step in NAMES]
    return COMMAND if any(each.slash for each in found) else SKILL


def _skill_places(*, slash: bool) -> tuple[str, ...]:
    own = os.environ.get("BMAD_SKILLS_ROOT")
    return (*((own,) if own else ()), *(SKILLS if slash else reversed(SKILLS)))
