"""The small words of `tmux-wrapper`: how this project, a story and its agent are called."""

from __future__ import annotations

from midwatch.compat.story_automator import agent_command, project
from midwatch.core.errors import UsageError

WORDS = ("project-slug", "project-hash", "story-suffix", "agent-type", "agent-cli", "skill-prefix")


def main(words: list[str]) -> int:
    """``words[0]`` is one of WORDS."""
    match words[0]:
        case "project-slug":
            print(project.slug(project.root()))
        case "project-hash":
            print(project.digest(project.root()))
        case "story-suffix":
            if len(words) == 1:
                raise UsageError("story-suffix needs a story: story-suffix 5.3")
            print(project.suffix(project.check_story(words[1])))
        case "agent-type":
            print(agent_command.chosen(None))
        case "agent-cli":
            print(agent_command.cli(None))
        case _:
            print(agent_command.prefix(project.root(), agent_command.chosen(None)))
    return 0
