"""The program `story-automator`: its commands, each in a module of its own that is loaded when it is called."""

import os
import sys
from io import TextIOWrapper

COMMANDS = {
    "tmux-wrapper": "tmux_wrapper",
    "monitor-session": "monitor_session",
    "tmux-status-check": "status_check",
    "codex-status-check": "status_check",
    "heartbeat-check": "heartbeat_check",
    "orchestrator-helper": "orchestrator_helper",
    "validate-story-creation": "story_creation",
}
USAGE = f"""story-automator <command> [args]

Commands:
  {chr(10).join(f"  {command}" for command in COMMANDS).strip()}

Each says more with --help. What differs from the published programs: docs/reference/story-automator.md."""


def main() -> int:
    words = sys.argv[1:]
    from midwatch.cli import safe_output

    safe_output.guard_output("stderr")
    if words[:1] in (["--help"], ["-h"], ["help"]):
        print(USAGE)
        return 0
    if words[:1] in (["--version"], ["-V"]):
        from midwatch import __version__

        print(f"story-automator of midwatch {__version__}")
        return 0
    if not words or words[0] not in COMMANDS:
        unknown = f"Unknown command: {words[0]!r}\n" if words else ""
        print(f"{unknown}{USAGE}", file=sys.stderr)
        return 1
    if isinstance(sys.stdout, TextIOWrapper):  # a command line that was built goes out as its words came in
        sys.stdout.reconfigure(errors="surrogateescape")
    return _run_command(words[0], words[1:])


def _run_command(command: str, words: list[str]) -> int:
    """Run a command. Its documented exit code for all that is wrong is 1."""
    from midwatch.core.errors import MidwatchError
    from midwatch.integrations.mqtt import broker_settings

    broker_settings.withhold_password_variables()
    module = __import__(f"midwatch.compat.story_automator.{COMMANDS[command]}", fromlist=["main"])
    _send_unsent(words)
    try:
        return int(module.main(words))
    except MidwatchError as error:
        print(f"story-automator {command}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read us has gone; Python must not complain of it at exit
        sys.stderr.close()
        return 141
    except KeyboardInterrupt:
        return 130


def _send_unsent(words: list[str]) -> None:
    """Have sent what nobody could send before, of the project that is meant."""
    from midwatch.compat.story_automator.arguments import Arguments
    from midwatch.core.errors import UsageError
    from midwatch.notifications import send_pending

    try:
        root = Arguments(words, ("--project-root",)).text("--project-root") or os.environ.get("PROJECT_ROOT") or ""
    except UsageError:
        return  # the command itself says so
    send_pending.start_sender_if_due(start=root)
