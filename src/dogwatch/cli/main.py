"""The way in. Nothing is imported here that the fastest verb does not need."""

import sys


def main() -> int:
    arguments = sys.argv[1:]
    verb = arguments[0] if arguments else "--help"
    if verb == "beat" and "--help" not in arguments and "-h" not in arguments:
        from dogwatch.cli.beat import main as beat

        return beat(arguments[1:])
    return _slow_main(verb, arguments[1:])


def _slow_main(verb: str, rest: list[str]) -> int:
    try:
        code = _called(verb, rest)
        print(end="", flush=True)  # no sooner is it known whether it was read; there may be no standard output at all
    except BrokenPipeError:  # whoever read us has gone; Python must not complain of it at exit
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    return code


def _called(verb: str, rest: list[str]) -> int:
    from dogwatch.cli.options import parse, usage, usage_of
    from dogwatch.cli.verbs import VERBS
    from dogwatch.model.errors import DogwatchError, UsageError

    if verb in ("--help", "-h", "help"):
        print(usage_of(rest[0]) if rest and rest[0] in VERBS else usage())
        return 0
    if verb in ("--version", "-V", "version"):
        from dogwatch import __version__

        print(f"dogwatch {__version__}")
        return 0
    try:
        if verb not in VERBS:
            from dogwatch.cli.options import _meant

            raise UsageError(f"there is no verb {verb!r}{_meant(verb, list(VERBS))}")  # noqa: TRY301
        before_command = rest[: rest.index("--")] if "--" in rest else rest
        if "--help" in before_command or "-h" in before_command:
            print(usage_of(verb))
            return 0
        options = parse(verb, rest)
        if not verb.startswith("_") and verb != "notify":  # which sends by itself
            _send_unsent(options.text("--dir"))
        module = __import__(f"dogwatch.cli.{verb.lstrip('_')}", fromlist=["main"])
        return int(module.main(options))
    except UsageError as error:
        help_for = f"dogwatch {verb} --help" if verb in VERBS else "dogwatch --help"
        print(f"dogwatch: {error}\ntry `{help_for}`", file=sys.stderr)
        return 2
    except DogwatchError as error:
        print(f"dogwatch: {error}", file=sys.stderr)
        return 125 if verb == "run" else 12
    except OSError as error:
        import errno

        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        print(f"dogwatch: {error.strerror}; raise the limit (`ulimit -n 1024`) and try again", file=sys.stderr)
        return 125 if verb == "run" else 12
    except KeyboardInterrupt:
        return 130


def _send_unsent(given: str | None) -> None:
    from dogwatch.loops import unsent
    from dogwatch.store import places

    try:
        unsent.send(places.directory(given))
    except OSError:
        pass  # there is no current directory, or no /proc: the verb itself says so
