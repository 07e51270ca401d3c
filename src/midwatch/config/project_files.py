"""All that a repository can bring and Midwatch looks at: what is done with it, and whether that needs trust.

One table, from which docs/reference/trust.md is checked; a test walks every key of a settings file. *Acts* means: runs
a program, connects to a host, types into a pane, or writes outside of Midwatch's own files.
"""

from __future__ import annotations

from midwatch.core.value import Value

NO, YES = "", "yes"
OUTSIDE = "if it leads out of the project"


class ProjectInput(Value):
    name: str
    """`table.key` of a settings file, or a path below the project."""
    use: str
    """What Midwatch does with it."""
    acts: str = NO
    """NO, YES, or the call of yours that makes it act."""
    trust: str = NO
    """NO, YES, or when it needs it."""


def _acting(name: str, use: str) -> ProjectInput:
    return ProjectInput(name, use, YES, YES)


SETTINGS = (
    ProjectInput("policy.name", "limits the jobs that you start in this project"),
    ProjectInput("policy.stale", "the same"),
    ProjectInput("policy.grace", "the same"),
    ProjectInput("policy.timeout", "the same; it ends them"),
    ProjectInput("policy.heartbeat", "the same"),
    ProjectInput("policy.on_stuck", "the same; `stop` ends them"),
    ProjectInput("policy.progress", "the same"),
    ProjectInput("policy.clock", "the same, for sessions"),
    ProjectInput("run.retries", "how often your own command is tried again"),
    ProjectInput("run.backoff", "how long to wait before that"),
    ProjectInput("run.preflight", "carries out the checks before each start, each with the trust that it needs"),
    ProjectInput("breaker.threshold", "when your own jobs are not started any more"),
    ProjectInput("breaker.cooldown", "for how long"),
    _acting("notify.command", "is run with each notification"),
    _acting("notify.urls", "are sent each notification"),
    ProjectInput("notify.on", "which states the channels of this file are told of"),
    ProjectInput("notify.level", "the same"),
    ProjectInput("notify.remind", "when the channels of this file are sent a reminder"),
    ProjectInput("notify.quiet", "when the channels of this file are sent nothing"),
    ProjectInput("notify.quiet_except", "what they are sent then"),
    _acting("parse.command", "is run and given the log of a step"),
    ProjectInput("registry.naming", "which tmux sessions `reconcile` registers"),
    ProjectInput("registry.keep", "how long a row stays"),
    ProjectInput("session.status_protocol", "whether agents are asked to report their state"),
    ProjectInput("terminal.program_status", "whether states are reported to your terminal"),
    _acting("mqtt.url", "the broker that ends are sent to"),
    _acting("mqtt.username", "is sent to that broker"),
    _acting("mqtt.password_env", "this variable's value is sent to that broker"),
    _acting("mqtt.password_file", "this file's first line is sent to that broker"),
    _acting("mqtt.password_command", "is run; what it prints is sent to that broker"),
    _acting("mqtt.ca", "decides which broker is believed"),
    _acting("mqtt.cert", "is sent to that broker"),
    _acting("mqtt.key", "proves who we are to that broker"),
    _acting("mqtt.prefix", "begins every topic"),
    _acting("mqtt.client_id", "is sent to that broker"),
    _acting("mqtt.accept_unsigned", "hosts whose reported ends are written into the registry"),
    _acting("watchdog.prompt", "is typed into the controller's pane"),
    ProjectInput("watchdog.ceiling", "how many messages an hour are typed at most"),
    _acting("watchdog.ensure_quality", "makes tasks in the tracker"),
    ProjectInput("tracker.kind", "which tracker `task` and the watchdog read, with your own `br`, `bd` or `hermes`"),
    ProjectInput("tracker.path", "where that is", "when you call `task`", OUTSIDE),
    _acting("handoff.command", "workers are told to run it"),
    _acting("send.via", "prompts are given to `ntm`, which types them"),
    _acting("check.module", "is imported by the project's Python"),
    _acting("check.package", "the same"),
    _acting("check.venv", "its Python is started"),
    ProjectInput("check.command", "is looked for in PATH, not run"),
    _acting("check.http", "is connected to"),
    _acting("check.tcp", "is connected to"),
    ProjectInput("check.disk", "free space is read"),
    ProjectInput("check.env", "is compared with your variable, and not shown"),
    ProjectInput("check.tmux", "your own tmux is asked for its version"),
    _acting("check.run", "is run"),
    ProjectInput("check.name", "is shown"),
    _acting("check.fix", "is run by `preflight --fix`"),
    ProjectInput("check.timeout", "how long a check may take"),
)
FILES = (
    ProjectInput("midwatch.toml", "settings: the table above"),
    ProjectInput("a script that a command of midwatch.toml names by its path", "is run by that command", YES,
          "with midwatch.toml, by its content"),
    ProjectInput("the file of [watchdog] prompt", "is typed into the controller's pane", YES, "the same"),
    ProjectInput(".venv, venv", "files are read; the Python in it is started only by checks", NO, "for its Python"),
    ProjectInput("pyproject.toml, uv.lock, requirements*.txt", "are read, for advice"),
    ProjectInput(".git", "tells where the project begins; `verify git:…` asks your own git", "when you call `verify`"),
    ProjectInput(".hermes/agent-sessions.yaml, midwatch-sessions.yaml",
          "the registry: rows name agents, directories and conversations",
          "when you call `session resume`, `session restore` or `reconcile`", "for `tmux_socket`"),
    ProjectInput(".beads", "tasks, read and written by your own `br` or `bd`",
          "when you call `task`, or a watchdog runs", OUTSIDE),
    ProjectInput("_bmad-output/…/sprint-status.yaml, story files", "stories and their states, read",
          "when you call `story-automator` or `task`", f"for `task`, {OUTSIDE}"),
    ProjectInput("_bmad, .claude/skills, .agents/skills, .claude/commands",
          "`story-automator build-cmd` names them to an agent", "when you call `story-automator`"),
    ProjectInput(".claude/.story-automator-active", "a mark of `story-automator`, read and written",
          "when you call `story-automator`"),
    ProjectInput("midwatch-tasks.jsonl", "tasks, read and written",
          "when you call `task`, or a watchdog runs", OUTSIDE),
    ProjectInput("a task directory", "its manifest, pid and log are read; its agent is resumed in its pane",
          "when you name it: `monitor --task-dir`"),
    ProjectInput("a directory of sentinel files", "is read; nothing in it is signalled if others may write it",
          "when you name it: `--dir`"),
)  # fmt: skip
