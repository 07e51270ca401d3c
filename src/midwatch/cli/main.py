"""The way in. Nothing is imported here that the fastest verb does not need."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.cli.parser import Options


def main() -> int:
    arguments = sys.argv[1:]
    verb = arguments[0] if arguments else "_overview" if _is_at_terminal() else "--help"
    if verb == "beat" and "--help" not in arguments and "-h" not in arguments:
        from midwatch.cli.commands.beat import main as beat

        return beat(arguments[1:])
    return _slow_main(verb, arguments[1:])


def _is_at_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _slow_main(verb: str, rest: list[str]) -> int:
    from midwatch.cli import safe_output

    safe_output.guard_output("stdout", "stderr")
    try:
        code = _run_verb(verb, rest)
        print(end="", flush=True)  # no sooner is it known whether it was read; there may be no standard output at all
    except BrokenPipeError:  # whoever read us has gone; Python must not complain of it at exit
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    return code


def _run_verb(verb: str, rest: list[str]) -> int:
    from midwatch.cli.command_table import ALIASES, find_verb
    from midwatch.core.errors import MidwatchError, UsageError

    if verb in ("--help", "-h", "help"):
        return _print_help(ALIASES.get(rest[0], (rest[0],))[0] if rest else "")
    if verb in ("--version", "-V", "version"):
        from midwatch import __version__

        print(f"midwatch {__version__}")
        return 0
    if verb in ALIASES:
        verb, *meant = ALIASES[verb]
        rest = [*meant, *rest]
    try:
        if find_verb(verb) is None:
            from midwatch.cli.command_table import VERBS
            from midwatch.cli.parser import suggest_word

            raise UsageError(f"there is no verb {verb!r}{suggest_word(verb, [*VERBS, *ALIASES])}")  # noqa: TRY301
        before_command = rest[: rest.index("--")] if "--" in rest else rest
        if "--help" in before_command or "-h" in before_command:
            return _print_help(verb)
        from midwatch.integrations.mqtt import broker_settings

        options = _parse_options(verb, rest)
        if not verb.startswith("_") and verb != "notify":  # which sends by itself
            from midwatch.notifications import send_pending

            send_pending.start_sender_if_due(options.text("--dir"))
        broker_settings.withhold_password_variables()
        module = __import__(f"midwatch.cli.commands.{verb.lstrip('_')}", fromlist=["main"])
        return int(module.main(options))
    except UsageError as error:
        help_for = f"midwatch {verb} --help" if find_verb(verb) else "midwatch --help"
        print(f"midwatch: {error}\ntry `{help_for}`", file=sys.stderr)
        return 2
    except MidwatchError as error:
        print(f"midwatch: {error}", file=sys.stderr)
        return 125 if verb == "run" else 12
    except OSError as error:
        if not (advice := _format_advice(error)):
            raise
        print(f"midwatch: {advice}", file=sys.stderr)
        return 125 if verb == "run" else 12
    except KeyboardInterrupt:
        return 130


def _print_help(verb: str) -> int:
    from midwatch.cli import help_text
    from midwatch.cli.command_table import VERBS

    width = help_text.help_width()
    print(help_text.verb_usage(verb, width) if verb in VERBS else help_text.usage(width))
    return 0


def _format_advice(error: OSError) -> str:
    """What can be done about an error that may come from anywhere; empty where that is not known."""
    import errno

    from midwatch.config import paths
    from midwatch.core.errors import RefusedError

    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{error.strerror}; raise the limit (`ulimit -n 1024`) and try again"
    if error.errno == errno.ENOENT and error.filename is None:  # as of a path that is made absolute
        try:
            paths.current_directory()
        except RefusedError as removed:
            return str(removed)
    return ""


def _parse_options(verb: str, rest: list[str]) -> "Options":
    from midwatch.cli.parser import parse
    from midwatch.core.errors import UsageError

    try:
        return parse(verb, rest)
    except UsageError as error:
        if verb == "reconcile":  # who reads its JSON gets an object whatever goes wrong
            from midwatch.cli.commands import reconcile

            reconcile.print_unparsed(rest, error)
        raise
