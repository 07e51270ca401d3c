"""The settings files: the user's own and the project's. Where there is none, nothing is imported and nothing paid."""

from __future__ import annotations

import os

from midwatch.config import paths
from midwatch.config.model import PreflightCheck, Settings
from midwatch.core.errors import FormatError
from midwatch.system.atomic_files import read_plain

LARGEST = 1 << 18

_held: dict[str, bytes] = {}
"""What was last read from each file: whether it is trusted is asked of these bytes, not of what stands there next."""


def user_file() -> str:
    return f"{paths.configuration_directory()}/config.toml"


def project_file(project: str) -> str:
    return f"{project}/midwatch.toml"


def load(project: str) -> Settings:
    """The settings that hold in a project. FormatError with file and line when one of its two files is wrong."""
    user, own = load_layer(user_file()), load_layer(project_file(project))
    if user is None and own is None:
        return Settings()
    from midwatch.config.codec import settings_file  # noqa: PLC0415  # TOML is paid for only where there is a file

    found = settings_file.merge_layers(user, own)
    return found._replace(checks=tuple(_place_check(check, project) for check in found.checks))


def load_layer(path: str) -> dict[str, object] | None:
    """What one file gives; None when there is none."""
    data = read_file(path)
    if data is None:
        return None
    from midwatch.config.codec import settings_file  # noqa: PLC0415  # as above

    return settings_file.parse_layer(settings_file.decode_text(data, path), path)


def read_file(path: str) -> bytes | None:
    """The bytes of a settings file, which are held for the question whether they are trusted."""
    _held.pop(os.path.abspath(path), None)
    if paths.is_planted(path):
        return None
    try:
        data = read_plain(path, LARGEST, follow=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FormatError(f"{path}:1: cannot be read: {error.strerror}; mend that, or put it away") from error
    _held[os.path.abspath(path)] = data
    return data


def last_bytes_read(path: str) -> bytes | None:
    """The bytes that the last settings came from; read now if none did. None when there is no such file."""
    data = _held.get(os.path.abspath(path))
    return read_file(path) if data is None else data


def _place_check(check: PreflightCheck, project: str) -> PreflightCheck:
    """The same check; its environment is meant from the project's root on, whichever file it comes from."""
    if check.kind == "venv":
        return check._replace(target=os.path.join(project, os.path.expanduser(check.target)))
    return check._replace(venv=os.path.join(project, os.path.expanduser(check.venv))) if check.venv else check
