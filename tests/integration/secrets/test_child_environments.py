"""No program of others gets our secrets with its environment; who logs in at the broker still has them."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, Box, until
from tests.integration.mqtt.test_mqtt_secrets import SECRET
from tests.integration.spawn.office import Office
from tests.lab.mosquitto import Listener, Mosquitto

PASSWORD = "MIDWATCH_MQTT_PASSWORD"
OWN = "BROKER_WORD"
SECRETS = {PASSWORD: "planted-1", OWN: "planted-2"}
"""The usual variable, and one that the settings file names."""


def settings(box: Box, text: str = "") -> None:
    config = Path(box.env["HOME"]) / ".config" / "midwatch" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    broker = f'[mqtt]\nurl = "mqtt://127.0.0.1:9"\nusername = "ann"\npassword_env = "{OWN}"\n'
    config.write_text(broker + text)
    (box.cwd / ".git").mkdir(exist_ok=True)


def dump(box: Box, name: str = "env.txt") -> str:
    """A shell command that adds its environment to a file and says that it did."""
    return f"env >> '{box.cwd}/{name}'; echo got >> '{box.cwd}/{name}'"


def check(box: Box, name: str = "env.txt") -> None:
    """Somebody ran and wrote its environment down, which holds none of the secrets."""
    text = (box.cwd / name).read_text()
    assert "PATH=" in text
    assert not [secret for secret in SECRETS if secret + "=" in text]
    assert "planted" not in text


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("where", [(), ("-d",)], ids=["foreground", "detached"])
def test_a_job_and_its_next_attempt(box: Box, where: tuple[str, ...]) -> None:
    settings(box)
    again = ("--retries", "1", "--backoff", "0s")
    box("run", "--name", "job", *where, *again, "--", "sh", "-c", f"{dump(box)}; exit 1", **SECRETS)
    box("wait", "job")
    assert (box.cwd / "env.txt").read_text().count("got\n") == 2
    check(box)


def test_a_job_that_retry_starts(box: Box) -> None:
    settings(box)
    box("run", "--name", "job", "--", "sh", "-c", dump(box))
    (box.cwd / "env.txt").unlink()
    assert box("retry", "job", **SECRETS).code == 0
    assert box("wait", "job").code == 0
    check(box)


def test_a_job_started_by_the_api(box: Box) -> None:
    settings(box)
    code = f"import midwatch; midwatch.run(['sh', '-c', {dump(box)!r}], name='job')"
    subprocess.run([sys.executable, "-c", code], env=box.env | SECRETS, cwd=box.cwd, check=True, timeout=PATIENCE)
    box("wait", "job")
    check(box)


def test_a_variable_that_is_asked_for_by_name_is_given(box: Box) -> None:
    settings(box)
    box("run", "--name", "job", "--env", f"{PASSWORD}=mine", "--", "sh", "-c", dump(box), **SECRETS)
    assert f"{PASSWORD}=mine" in (box.cwd / "env.txt").read_text()


def test_an_agent_and_the_tmux_server_that_is_started_for_it(office: Office) -> None:
    settings(office.box)
    office.box.env |= SECRETS
    office.spawned()
    assert "planted" not in (office.notes / "starts").read_text()
    for pid in (office.box.pids("api")[1], int(office.pane("#{pid}"))):
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"PATH=" in environment
        assert b"planted" not in environment
    assert "planted" not in office.tmux("show-environment", "-g")


def test_an_agent_that_is_resumed(office: Office) -> None:
    settings(office.box)
    office.spawned(prompt="work")
    office.box("stop", "api")
    office.box.env |= SECRETS
    assert office.box("resume", "api").code == 0
    office.start(2)
    assert b"planted" not in Path(f"/proc/{office.box.pids('api')[1]}/environ").read_bytes()


def test_a_notification_command(box: Box) -> None:
    settings(box, f'[notify]\ncommand = ["sh", "-c", "{dump(box)}"]\n')
    box("run", "--name", "job", "--", "false", **SECRETS)
    until(lambda: (box.cwd / "env.txt").exists() and "got" in (box.cwd / "env.txt").read_text(), box.cwd)
    check(box)


def test_a_verifier(box: Box) -> None:
    settings(box)
    box("run", "--name", "job", "--", "true")
    assert box("wait", "job", "--verify", dump(box), **SECRETS).code == 0
    assert box("verify", dump(box), **SECRETS).code == 0
    assert (box.cwd / "env.txt").read_text().count("got\n") == 2
    check(box)


def test_checks_and_their_fixes(box: Box) -> None:
    settings(box, f'[[check]]\nrun = "{dump(box)}; false"\nfix = "{dump(box, "fix.txt")}"\n')
    box("preflight", "--fix", **SECRETS)
    check(box)
    check(box, "fix.txt")


def test_what_reads_a_log(box: Box) -> None:
    settings(box, f'[parse]\ncommand = "{dump(box)}"\n')
    (box.cwd / "log").write_text("done\n")
    box("parse", "log", "--step", "dev", **SECRETS)
    check(box)


def test_a_tracker(box: Box) -> None:
    settings(box)
    (box.cwd / ".beads").mkdir()
    tracker = script(box.cwd / "br", dump(box))
    box("task", "ready", MIDWATCH_BR=str(tracker), **SECRETS)
    check(box)


def test_ends_are_published_with_the_password_that_the_work_did_not_get(guarded: Mosquitto, box: Box) -> None:
    (box.cwd / ".git").mkdir()
    env = {"MIDWATCH_MQTT_URL": guarded.url, "MIDWATCH_MQTT_USERNAME": "ann", PASSWORD: SECRET}
    listener = Listener(guarded, "midwatch/#", "-u", "ann", "-P", SECRET)
    try:
        assert box("run", "-d", "--name", "kept", "--", "sh", "-c", dump(box), **env).code == 0
        [line] = listener.until(1)
    finally:
        listener.close()
    assert "/kept/event " in line
    text = (box.cwd / "env.txt").read_text()
    assert "MIDWATCH_MQTT_URL=" in text
    assert SECRET not in text
    assert PASSWORD + "=" not in text


# Where the password may come from


def broker_of(guarded: Mosquitto, box: Box, line: str) -> Path:
    (box.cwd / ".git").mkdir()
    config = box.cwd / ".config" / "midwatch"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(f'[mqtt]\nurl = "{guarded.url}"\nusername = "ann"\n{line}\n')
    return config


def test_a_password_from_a_command(guarded: Mosquitto, box: Box) -> None:
    config = broker_of(guarded, box, 'password_command = "cat word; echo more"')
    (config / "word").write_text(SECRET + "\n")
    done = box("notify", "--test", "hello")
    assert done.code == 0, done


@pytest.mark.parametrize(
    ("command", "why"), [("exit 3", "ended with 3"), ("true", "printed no password"), ("echo", "printed no password")]
)
def test_a_command_that_gives_none_is_told(guarded: Mosquitto, box: Box, command: str, why: str) -> None:
    broker_of(guarded, box, f'password_command = "{command}"')
    done = box("notify", "--test", "hello")
    assert done.code == 1
    assert f"password_command {why}" in done.out


def test_a_password_file_that_others_may_read_is_refused(guarded: Mosquitto, box: Box) -> None:
    config = broker_of(guarded, box, 'password_file = "word"')
    (config / "word").write_text(SECRET + "\n")
    (config / "word").chmod(stat.S_IRUSR | stat.S_IROTH)
    done = box("notify", "--test", "hello")
    assert done.code == 1
    assert "others may read the password file" in done.out
    assert "chmod 600" in done.out
    (config / "word").chmod(stat.S_IRUSR)
    assert box("notify", "--test", "hello").code == 0


def test_a_projects_password_command_is_not_run_without_trust(guarded: Mosquitto, box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text(
        f'[mqtt]\nurl = "{guarded.url}"\nusername = "ann"\npassword_command = "touch {box.cwd}/ran; echo x"\n'
    )
    done = box("notify", "--test", "hello")
    assert "not trusted" in done.out
    assert not (box.cwd / "ran").exists()
    assert "touch" in box("trust", "--yes").out
