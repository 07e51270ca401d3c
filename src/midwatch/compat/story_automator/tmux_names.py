"""The small words of `tmux-wrapper`: how this project, a story and its agent are called."""

from __future__ import annotations

from midwatch.compat.story_automator import agent_command, project
from midwatch.core.errors import UsageError

WORDS = ("project-slug", "project-hash", "story-suffix", "agent-type", "agent-cli", "skill-prefix")


def main(words: list[str]) -> int:
    """``words[0]`` is one of WORDS."""
    match words[0]:
        case "project-slug":
            print(project.project_slug(project.project_root()))
        case "project-hash":
            print(project.path_digest(project.project_root()))
        case "story-suffix":
            if len(words) == 1:
                raise UsageError("story-suffix needs a story: story-suffix 5.3")
            print(project.story_suffix(project.check_story(words[1])))
        case "agent-type":
            print(agent_command.selected_agent(None))
        case "agent-cli":
            print(agent_command.agent_program(None))
        case _:
            print(agent_command.workflow_prefix(project.project_root(), agent_command.selected_agent(None)))
    return 0
