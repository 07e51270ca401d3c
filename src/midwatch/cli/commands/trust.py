"""`midwatch trust`: let a project's settings act, or its registry name tmux servers, once a person has read it."""

import os
import shlex
import sys

from midwatch.cli.parser import Options
from midwatch.config import load, paths, trust
from midwatch.config.codec import settings_file as formats
from midwatch.config.model import Channel, Command, MqttSettings, PreflightCheck, Settings
from midwatch.core.errors import MidwatchError, RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.registry import socket_trust
from midwatch.registry.store import RegistryFile

SHOWN = (
    "username", "password_env", "password_file", "password_command", "ca", "cert", "key", "prefix", "client_id",
    "accept_unsigned",
)  # fmt: skip
"""What is shown of a broker beside its address."""
NOT_COVERED = "what these call in turn, other files, words with no path or with `$` or `*`, Python's libraries"


def main(options: Options) -> int:
    if len(options.names) > 1:
        raise UsageError("trust takes one file at a time, so that each is read")
    if options.flag("--list"):
        if options.names or options.flag("--remove"):
            raise UsageError("--list shows all trusted files; it takes no file and no --remove")
        return _print_trusted(as_json=options.flag("--json"))
    path = options.names[0] if options.names else load.project_file(paths.project_root(os.getcwd()))
    if options.flag("--remove"):
        return _remove(path, as_json=options.flag("--json"))
    return _add(path, yes=options.flag("--yes"), as_json=options.flag("--json"))


def _print_trusted(*, as_json: bool) -> int:
    found = trust.list_entries()
    for each in found:
        state = _format_state(each)
        if as_json:
            _print_json(path=each.path, state=state, sha256=each.digest, at=each.at)
        else:
            print(f"{state:<8} {trust.format_day(each)}  {visible(each.path)}")
    if not found and not as_json:
        print("no file is trusted; `midwatch trust` asks for the project's own", file=sys.stderr)
    return 0


def _format_state(each: trust.TrustEntry) -> str:
    if _is_registry(each.path):
        return _format_registry_state(each)
    if not os.path.lexists(each.path):
        return "gone"
    if trust.find_exposure(each.path):
        return "unsafe"
    return "trusted" if trust.file_digest(each.path) == each.digest else "changed"


def _is_registry(path: str) -> bool:
    return path.endswith((".yaml", ".yml"))


def _format_registry_state(each: trust.TrustEntry) -> str:
    try:
        named = socket_trust.named_sockets(RegistryFile(each.path).read().rows)
    except MidwatchError:
        return "changed" if os.path.exists(each.path) else "gone"
    if trust.find_exposure(each.path):
        return "unsafe"
    return "trusted" if socket_trust.digest_sockets(named) == each.digest else "changed"


def _remove(path: str, *, as_json: bool) -> int:
    if not trust.revoke_trust(path):
        raise RefusedError(f"{visible(path)} is not trusted anyway; `midwatch trust --list` shows what is")
    if as_json:
        _print_json(path=os.path.realpath(path), state="removed")
    else:
        print(f"{visible(path)} is trusted no longer")
    return 0


def _add(path: str, *, yes: bool, as_json: bool) -> int:
    if os.path.abspath(path) == load.user_file():
        raise RefusedError(f"{visible(path)} is your own file, which needs no trust; name a project's")
    if _is_registry(path):
        return _add_registry(path, yes=yes, as_json=as_json)
    given = load.load_layer(path)
    if given is None:
        raise RefusedError(f"there is no {visible(path)}; name the settings file that is meant")
    if unsafe := trust.find_exposure(path):
        raise RefusedError(unsafe)
    found = formats.merge_layers(None, given)
    commands = [check for check in found.checks if trust.needs_trust(check)]
    told = {"parse": found.parse, "handoff": found.handoff, "prompt": found.watchdog_prompt, **_plain_commands(found)}
    _show(path, commands, as_json=as_json, more=bool(found.channels or found.mqtt or any(told.values())))
    _show_channels(found.channels, as_json=as_json)
    for kind, command in told.items():
        if command:
            _show_command(kind, command, as_json=as_json)
    if found.mqtt:
        _show_broker(found.mqtt, as_json=as_json)
    named = trust.script_digests(path)
    _show_files(named, as_json=as_json)
    if trust.find_problem(path):
        if not yes and not _ask_for_agreement(path):
            raise RefusedError(f"{visible(path)} was not trusted")
        trust.trust_file(path, named)
    if as_json:
        _print_json(path=os.path.realpath(path), state="trusted")
    else:
        print(f"{visible(path)} is trusted until it changes{', or a file that it names' if named else ''}")
    return 0


def _add_registry(path: str, *, yes: bool, as_json: bool) -> int:
    """A list of sessions: it runs nothing, but names tmux servers."""
    rows = RegistryFile(path).read().rows
    named = socket_trust.named_sockets(rows)
    if unsafe := trust.find_exposure(path):
        raise RefusedError(unsafe)
    if not as_json:
        print(f"{visible(path)} names tmux servers:" if named else f"{visible(path)} names no tmux server by its path")
    for row in rows:
        if row.server is None or row.server[1] not in named:
            continue
        if as_json:
            _print_json(socket={"path": row.server[1], "session": row.name}, line=row.line)
        else:
            print(f"  line {row.line:<4} {'tmux':<8} {visible(row.server[1])}  for {visible(row.name)}")
    if socket_trust.find_problem(path, named):
        if not yes and not _ask_for_agreement(path):
            raise RefusedError(f"{visible(path)} was not trusted")
        socket_trust.trust_registry(path, named)
    if as_json:
        _print_json(path=os.path.realpath(path), state="trusted")
    else:
        print(f"{visible(path)} is trusted until it names other sockets")
    return 0


def _show(path: str, commands: list[PreflightCheck], *, as_json: bool, more: bool) -> None:
    """Everything that the file could run, nothing cut off: what is not shown cannot be agreed to."""
    if not as_json:
        print(f"{visible(path)} wants to run:" if commands or more else f"{visible(path)} runs no command")
    for check in commands:
        line = check.source.rpartition(":")[2]
        if as_json:
            told = {"kind": check.kind, "target": check.target, "venv": check.venv, "fix": check.fix}
            _print_json(command=told, line=int(line))
            continue
        whose = f"the Python of {visible(check.venv)}" if check.venv else "the project's own Python"
        where = f"  with {whose}" if check.kind in formats.WITH_VENV else ""
        print(f"  line {line:<4} {check.kind:<8} {visible(check.target)}{where}")
        if check.fix:
            print(f"            fix: {visible(check.fix)}")


def _show_channels(channels: tuple[Channel, ...], *, as_json: bool) -> None:
    """Whom it would tell what becomes of work: a command is run, and a URL may lead anywhere."""
    for channel in channels:
        line = channel.source.rpartition(":")[2]
        if as_json:
            told = {"kind": "notify", "target": " ".join(channel.target), "words": channel.target, "on": channel.on}
            _print_json(command=told, line=int(line))
        else:
            print(f"  line {line:<4} {'notify':<8} {visible(shlex.join(channel.target))}  on {', '.join(channel.on)}")


def _show_command(kind: str, command: Command, *, as_json: bool) -> None:
    """What it would ask a model with, have workers run, or say to a controller."""
    line = command.source.rpartition(":")[2]
    if as_json:
        _print_json(command={"kind": kind, "target": command.words}, line=int(line))
    else:
        print(f"  line {line:<4} {kind:<8} {visible(command.words)}")


def _plain_commands(found: Settings) -> dict[str, Command]:
    """Settings without words of their own that make us act, as what they would do."""
    shown = {"send": f"prompts go through {found.send_via}", "watchdog": "makes the companions that are missing",
             "tracker": f"tasks are those of {found.tracker_path}"}  # fmt: skip
    keys = {"send": "send_via", "watchdog": "ensure_quality", "tracker": "tracker_path"}
    return {kind: Command(shown[kind], found.sources[key]) for kind, key in keys.items() if key in found.sources}


def _show_files(named: dict[str, str], *, as_json: bool) -> None:
    """What is trusted with it, by content; and what is not."""
    if as_json:
        for place, now in named.items():
            _print_json(covers=place, sha256=now)
        _print_json(not_covered=NOT_COVERED)
        return
    print("Covered with it, by their content:" if named else "No script of the project is named by its path.")
    for place in named:
        print(f"  {visible(place)}")
    print(f"Not covered: {NOT_COVERED}.")


def _show_broker(broker: MqttSettings, *, as_json: bool) -> None:
    """Whom it would publish ends to, and which secrets of ours it would show there."""
    line = broker.source.rpartition(":")[2]
    target = f"mqtt{'s' * broker.tls}://{broker.host}:{broker.port}"
    given = {key: getattr(broker, key) for key in SHOWN if getattr(broker, key)}
    if as_json:
        _print_json(command={"kind": "mqtt", "target": target, **given}, line=int(line))
    else:
        words = {key: value if isinstance(value, str) else ", ".join(value) for key, value in given.items()}
        more = "".join([f"  {key} {visible(value)}" for key, value in words.items()])
        print(f"  line {line:<4} {'mqtt':<8} {visible(target)}{more}")


def _ask_for_agreement(path: str) -> bool:
    if not (os.isatty(0) and os.isatty(1)):
        raise RefusedError(f"nobody can be asked here: read {visible(path)}, then `midwatch trust --yes`")
    sys.stdout.flush()
    print("Trust it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print_json(**what: object) -> None:
    print(dump({"schema": 1, **what}, spaced=True))
