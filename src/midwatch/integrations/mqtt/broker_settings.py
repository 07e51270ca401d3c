"""The MQTT broker of a project, by its settings files and the environment, and the password for it.

A project's `[mqtt]` stands for the whole of the user's: else a password meant for one broker could go to another.
"""

from __future__ import annotations

import os

from midwatch.config import load, paths
from midwatch.config.model import MqttSettings
from midwatch.core.errors import FormatError, RefusedError
from midwatch.system.atomic_files import KIND, REGULAR
from midwatch.system.child_environment import SECRETS

URL, USERNAME = "MIDWATCH_MQTT_URL", "MIDWATCH_MQTT_USERNAME"
PASSWORD, PASSWORD_FILE = "MIDWATCH_MQTT_PASSWORD", "MIDWATCH_MQTT_PASSWORD_FILE"
NAMES = b"password_env"
LONGEST = 4096
OPEN = 0o077
"""Of a file's mode: others may do something with it."""
PATIENCE = 30.0
"""Seconds that a password command may take."""


def load_broker(project: str) -> MqttSettings | None:
    """The broker of a project, without its password; None where there is none. FormatError says what is wrong."""
    user, own = load.load_layer(load.user_file()), load.load_layer(load.project_file(project))
    found = (own or {}).get("mqtt") or (user or {}).get("mqtt")
    return with_environment(found)  # type: ignore[arg-type]


def is_configured(project: str) -> bool:
    """Whether a broker is named at all. A file that cannot be read names none; others tell that."""
    try:
        return load_broker(project) is not None
    except FormatError:
        return URL in os.environ


def withhold_password_variables() -> None:
    """Have programs of others not get the variable that a settings file names as the password's.

    A file that does not name one costs a look at its bytes; one that is broken is told of by whoever needs it.
    """
    try:
        for path in (load.user_file(), load.project_file(paths.project_root(os.getcwd()))):
            if NAMES in (load.read_file(path) or b""):
                where = (load.load_layer(path) or {}).get("mqtt")
                if (
                    isinstance(where, MqttSettings)
                    and where.password_env in os.environ
                    and not find_trust_problem(where)
                ):
                    SECRETS.add(where.password_env)
    except (FormatError, FileNotFoundError):
        pass


def with_environment(found: MqttSettings | None) -> MqttSettings | None:
    """The same with the variables on top. FormatError names the variable that is wrong."""
    if url := os.environ.get(URL):
        from midwatch.config.codec import mqtt_table  # noqa: PLC0415  # few have a broker

        try:
            host, port, tls = mqtt_table.parse_address(url)
        except (FormatError, ValueError) as error:
            raise FormatError(f"{URL}: {error}") from None
        found = (found or MqttSettings(host, port, source=URL))._replace(host=host, port=port, tls=tls)
    if found is None:
        return None
    if name := os.environ.get(USERNAME):
        found = found._replace(username=name)
    if os.environ.get(PASSWORD):
        found = found._replace(password_env=PASSWORD, password_file="", password_command="")
    elif file := os.environ.get(PASSWORD_FILE):
        found = found._replace(password_env="", password_file=os.path.abspath(file), password_command="")
    return found


def find_trust_problem(where: MqttSettings) -> str:
    """Why it may not be used: its table is a project's, and not trusted. Empty if it may."""
    if where.source == URL:
        return ""
    from midwatch.config import trust  # noqa: PLC0415  # whoever only asks whether there is a broker pays nothing

    return trust.find_problem(where.source.rpartition(":")[0])


def with_password(where: MqttSettings) -> MqttSettings:
    """The same with its password, and with files where they are. RefusedError when the password cannot be had."""
    home = os.path.dirname(os.path.abspath(where.source.rpartition(":")[0]))

    def placed(path: str) -> str:
        return os.path.join(home, os.path.expanduser(path)) if path else ""

    password = ""
    if where.password_env:
        password = os.environ.get(where.password_env, "")
        if not password:
            raise RefusedError(f"{where.password_env} is not set, which holds the broker's password. Jobs and agents "
                               "do not inherit it: use password_file or password_command in [mqtt]")  # fmt: skip
    elif where.password_file:
        password = _read(placed(where.password_file))
    elif where.password_command:
        password = _run_password_command(where.password_command, home)
    if password and not where.username:
        raise RefusedError("there is a password for the broker but no user; set username in [mqtt]")
    return where._replace(
        password=password, ca=placed(where.ca), cert=placed(where.cert), key=placed(where.key)
    )  # fmt: skip


def _read(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(fd)
            data = os.read(fd, LONGEST + 1) if found.st_mode & KIND == REGULAR else b""
        finally:
            os.close(fd)
    except OSError as error:
        raise RefusedError(f"the password file {path} cannot be read: {error.strerror}; mend that") from error
    if found.st_mode & OPEN and found.st_uid == os.geteuid():  # of a file of another's we could not say what to do
        raise RefusedError(f"others may read the password file {path}; make it yours alone: chmod 600 {path}")
    if not (word := _first_line(data)):
        raise RefusedError(f"{path} does not hold a password in its first line; write it there")
    return word


def _run_password_command(command: str, home: str) -> str:
    """What a shell command prints, run where its settings file is. What it says besides may hold the secret too."""
    from midwatch.system import run_program  # noqa: PLC0415  # few have a broker, and fewer a command

    limits = run_program.RunLimits(
        PATIENCE, run_program.OutputCap(LONGEST + 1), drop_errors=True, keeps_terminal=True
    )  # fmt: skip
    try:
        done = run_program.run_program(["/bin/sh", "-c", command], limits, cwd=home)
    except OSError as error:
        raise RefusedError(f"password_command cannot be run: {error.strerror}; try it in {home}") from error
    if not done.ended:
        raise RefusedError(f"password_command took longer than {PATIENCE:g} s; try it in {home}")
    if done.code or not (word := _first_line(done.output)):
        how = f"ended with {done.code}" if done.code else "printed no password in its first line"
        raise RefusedError(f"password_command {how}; try it in {home}")
    return word


def _first_line(data: bytes) -> str:
    """The password; empty where there is none."""
    word = data.partition(b"\n")[0].rstrip(b"\r")
    return word.decode("utf-8", "surrogateescape") if len(data) <= LONGEST else ""
