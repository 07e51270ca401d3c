"""Whether agents call Midwatch's hook, and writing that into their settings files or out of them.

The agent's own file is changed only at a person's command. What was there stays beside it as ``.midwatch.bak``, a link
is followed, and the file keeps its mode. A file that holds nothing but Midwatch's own is removed with it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable

from midwatch.agents import parts
from midwatch.agents.catalog import OURS
from midwatch.agents.definition import Detector
from midwatch.agents.hooks import codec
from midwatch.agents.hooks.events import hook_command, plugin_source
from midwatch.agents.hooks.model import HookRules
from midwatch.config import paths
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.value import Value
from midwatch.system.atomic_files import open_plain, read_all, write_atomic

BACKUP = ".midwatch.bak"
LARGEST = 4 << 20
SCRIPT = f"{OURS}/hooks/hook.sh"
MARK = "// Notes in Midwatch's spool"
"""How Midwatch's plugin begins, of whichever release."""


class HookRegistration(Value):
    """Whether one agent calls the hook."""

    agent: str
    title: str
    state: str
    """`registered`, `absent`, `outdated` (of another installation, or not for all events) or `unreadable`."""
    path: str
    problem: str = ""
    note: str = ""
    """What a person must do besides."""


def list_registrations(detectors: tuple[Detector, ...]) -> list[HookRegistration]:
    return [read_registration(detector, detector.hooks) for detector in detectors if detector.hooks]


def read_registration(detector: Detector, rules: HookRules) -> HookRegistration:
    path = settings_path(detector, rules)
    made = HookRegistration(detector.agent, detector.title, "absent", path, note=rules.note)
    try:
        text = _read(path)
        if rules.plugin:
            wanted = text == _plugin_text(detector, rules)
            return made._replace(state="registered" if wanted else "outdated" if text else "absent")
        found = codec.list_commands(codec.read_settings(text))
    except (OSError, FormatError, UnicodeDecodeError) as error:
        return made._replace(state="unreadable", problem=_say(error))
    command = hook_command(SCRIPT, paths.hook_spool(), detector.agent)
    if not found:
        return made
    complete = all(found.get(event) == [command] for event in rules.events)
    return made._replace(state="registered" if complete and len(found) == len(rules.events) else "outdated")


def register_hook(detector: Detector, rules: HookRules) -> HookRegistration:
    """Have the agent call the hook from its next start on. RefusedError where its file cannot be changed."""
    path = settings_path(detector, rules)
    os.makedirs(paths.hook_spool(), 0o700, exist_ok=True)
    if rules.plugin:
        _change(path, lambda text: _plugin_text(detector, rules) if not text else _renewed(text, detector, rules))
    else:
        _change(path, lambda text: _added(text, detector, rules))
    return read_registration(detector, rules)


def unregister_hook(detector: Detector, rules: HookRules) -> HookRegistration:
    """Take out of the agent's file exactly what was put in. RefusedError where it cannot be changed."""
    path = settings_path(detector, rules)
    if rules.plugin:
        _change(path, _removed_plugin)
    else:
        _change(path, _removed)
    return read_registration(detector, rules)


def settings_path(detector: Detector, rules: HookRules) -> str:
    home = parts.files(detector.agent).settings_home(dict(os.environ))
    return f"{home or os.path.expanduser('~')}/{rules.file}"


def _plugin_text(detector: Detector, rules: HookRules) -> str:
    with open(f"{OURS}/{detector.agent}/{rules.plugin}", encoding="utf-8") as source:
        return plugin_source(source.read(), paths.hook_spool())


def _renewed(text: str, detector: Detector, rules: HookRules) -> str:
    _removed_plugin(text)
    return _plugin_text(detector, rules)


def _removed_plugin(text: str) -> str:
    if text and not text.startswith(MARK):
        raise FormatError("it is not Midwatch's plugin")
    return ""


def _added(text: str, detector: Detector, rules: HookRules) -> str:
    settings = codec.read_settings(text)
    made = codec.add_entries(settings, rules, SCRIPT, paths.hook_spool(), detector.agent)
    return text if made == settings else codec.write_settings(made, text)


def _removed(text: str) -> str:
    settings = codec.read_settings(text)
    made = codec.remove_entries(settings)
    return text if made == settings else codec.write_settings(made, text) if made else ""


def _read(path: str) -> str:
    """The text of a settings file; empty where there is none."""
    try:
        fd = open_plain(path, follow=True)
    except FileNotFoundError:
        return ""
    try:
        return read_all(fd, LARGEST).decode()
    finally:
        os.close(fd)


def _change(path: str, edit: Callable[[str], str]) -> None:
    """Write the file as ``edit`` has it, or remove it where nothing is left of it."""
    try:
        before = _read(path)
        after = edit(before)
        if after == before:
            return
        real = os.path.realpath(path)
        os.makedirs(os.path.dirname(real), 0o700, exist_ok=True)
        mode = stat.S_IMODE(os.stat(real).st_mode) if before else 0o600
        if before and after:
            _write(f"{real}{BACKUP}", before, mode)
        if _read(path) != before:
            raise RefusedError(f"{path} was changed by another program at this moment; try again")
        if after:
            _write(real, after, mode)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(real)
    except (OSError, FormatError, UnicodeDecodeError) as error:
        raise RefusedError(f"{path} was not changed: {_say(error)}") from error


def _write(path: str, text: str, mode: int) -> None:
    write_atomic(path, text)
    os.chmod(path, mode)


def _say(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
