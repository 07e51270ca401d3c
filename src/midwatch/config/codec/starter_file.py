"""The midwatch.toml that `midwatch init` writes: comments that become settings when their `#` is removed."""

from __future__ import annotations

from midwatch.core.value import Value

CONFIGURATION = "docs/reference/configuration.md"


class ProjectFindings(Value):
    """What was found in a project."""

    agents: tuple[str, ...] = ()
    """Names and versions, for people."""
    agent: str = ""
    """The name of the first."""
    tests: str = ""
    """The command that runs the tests."""
    tracker: str = ""
    """Who keeps the tasks, where that is not Midwatch itself."""


def format_starter(found: ProjectFindings) -> str:
    tests, agent = found.tests or "make test", found.agent or "AGENT"
    return f"""\
# Settings of Midwatch for this project. Each line is a comment until you remove its "#".
# {CONFIGURATION} explains every key. `midwatch doctor` reports mistakes with their line.
#
# Agents found here: {", ".join(found.agents) or "none"}
# Command that runs the tests: {found.tests or "none found"}
# Tasks are kept in: {found.tracker or "midwatch-tasks.jsonl (made by `midwatch task add`)"}
#
# Leave an agent running, and hear of it:
#   midwatch spawn api --agent {agent} --prompt-file task.md --verify '{tests}'
#   midwatch ls

# Jobs: when silence counts as stuck, and what is done then.
#[policy]
#stale = "10m"                # suspect a job after this long without any progress
#grace = "30s"                # call it stuck after this long more
#on_stuck = "report"          # or "stop"
#timeout = "2h"               # end a job after this long (default: never)

#[run]
#retries = 2                  # run failed jobs again
#preflight = true             # make the checks below before each start

# Who is told that work has ended, is stuck, or waits for you. Run `midwatch trust` after a change here.
# Keep what is secret in your own ~/.config/midwatch/config.toml instead.
#[notify]
#urls = ["ntfy://a-topic-that-nobody-guesses"]
#command = "notify-send {{text}}"

# Where tasks are kept, if Midwatch should not find out by itself.
#[tracker]
#kind = "{found.tracker or "tasks"}"

# What a long run needs; `midwatch preflight` makes these checks.
#[[check]]
#disk = "2GB"

#[[check]]
#command = "{tests.split()[0]}"
"""
