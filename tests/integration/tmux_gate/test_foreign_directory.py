"""Another user has made the tmux directory of this one, and serves everybody there."""

from __future__ import annotations

import json

import pytest

from tests.integration.tmux_gate.conftest import NOTHING, Attacker, Victim

UNKNOWN, NOT_STARTED = 12, 125


def test_the_attack_works_on_a_client_that_checks_nothing(victim: Victim, attacker: Attacker) -> None:
    """Else nothing below would prove anything."""
    socket = attacker.listen(victim.directory)
    victim.run("tmux", "-S", str(socket), "list-panes", "-a")
    assert attacker.loot == {"written": True, "read": True, "environment": True}
    assert "sk-of-the-victim" in attacker.tmux("show-environment", "-t", "leak")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("ls", "--panes"), UNKNOWN), (("ls", "--panes", "--all"), UNKNOWN), (("doctor",), 0), (("doctor", "--all"), 0),
        (("why", "%0"), UNKNOWN), (("why", "=mine"), UNKNOWN), (("send", "%0", "hello"), UNKNOWN),
        (("send", "=mine", "hello"), UNKNOWN), (("monitor", "%0"), UNKNOWN), (("monitor", "=mine"), UNKNOWN),
        (("ready", "%0"), UNKNOWN), (("ready", "=mine"), UNKNOWN), (("ready", "--session", "mine"), UNKNOWN),
        (("record", "%0"), UNKNOWN), (("listen", "%0"), UNKNOWN), (("adopt", "%0", "--name", "x"), UNKNOWN),
        (("spawn", "x", "--agent", "program", "--", "cat"), NOT_STARTED),
        (("watchdog", "start", "--session", "mine"), UNKNOWN),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)  # fmt: skip
def test_no_verb_connects_and_each_says_why(
    victim: Victim, attacker: Attacker, command: tuple[str, ...], code: int
) -> None:
    attacker.listen(victim.directory)
    done = victim(*command)
    assert attacker.loot == NOTHING
    said = done.out + done.err
    assert f"{victim.directory} belongs to another user (uid {attacker.uid})" in said, done
    assert "is refused" in said
    assert done.code == code, done


def test_a_pane_there_is_unknown_and_not_gone(victim: Victim, attacker: Attacker) -> None:
    attacker.listen(victim.directory)
    told = json.loads(victim("why", "%0", "--json").out)
    assert (told["state"], told["final"], told["cause"], told["process"]) == ("unknown", False, "not-seen", "unknown")
    assert "belongs to another user" in told["reason"]
    told = json.loads(victim("ready", "%0", "--json").out)
    assert (told["ready"], told["outcome"] == "exited") == (False, False)


def test_story_automator_lists_nothing_and_says_why(victim: Victim, attacker: Attacker) -> None:
    attacker.listen(victim.directory)
    for words in (["list"], ["exists", "mine"], ["kill", "mine"], ["kill-all"]):
        done = victim.automator("tmux-wrapper", *words)
        assert (attacker.loot, done.code) == (NOTHING, 1), done
        assert "is refused" in done.err, done


def test_story_automator_calls_no_session_ended(victim: Victim, attacker: Attacker) -> None:
    attacker.listen(victim.directory)
    said = victim.automator("tmux-status-check", "mine").out
    assert said.startswith("error,"), said
    assert "is refused" in said
    assert victim.automator("heartbeat-check", "mine").out.startswith("error,")
    done = victim.automator("monitor-session", "mine", "--json")
    assert done.json["exit_reason"] == "monitor_failed_unknown", done
    assert attacker.loot == NOTHING


def test_completion_asks_nobody_and_offers_nothing_of_theirs(victim: Victim, attacker: Attacker) -> None:
    attacker.listen(victim.directory)
    for line in (["send", "%"], ["ls", "-L", ""], ["why", "%"]):
        done = victim("_complete", "--", *line)
        assert (attacker.loot, done.code) == (NOTHING, 0), done
        assert "default" not in done.out
        assert "%0" not in done.out


def test_who_we_are_is_not_asked_of_them(victim: Victim, attacker: Attacker) -> None:
    """`mail` and `handoff` ask the server that they were started in, by $TMUX."""
    socket = attacker.listen(victim.directory)
    inside = {"TMUX": f"{socket},1,0", "TMUX_PANE": "%0"}
    for command in (["mail", "list"], ["handoff", "--task", "t-1", "--status", "done"], ["ls", "--panes"]):
        victim(*command, **inside)
        assert attacker.loot == NOTHING, command


def test_a_directory_of_theirs_is_refused_before_there_is_a_socket(victim: Victim, attacker: Attacker) -> None:
    """A server of ours may have been there: that its socket is gone proves nothing, and none is started there."""
    attacker.run("mkdir", "-m", "777", str(victim.directory))
    for command in (("ls", "--panes"), ("ls", "--panes", "--all"), ("why", "%0"), ("spawn", "x", "--agent", "claude")):
        done = victim(*command)
        assert done.code == (NOT_STARTED if command[0] == "spawn" else UNKNOWN), done
        assert f"{victim.directory} belongs to another user" in done.err, done
    assert list(victim.directory.iterdir()) == []


def test_doctor_lists_all_that_is_refused(victim: Victim, attacker: Attacker) -> None:
    attacker.listen(victim.directory)
    done = victim("doctor")
    refused = [line for line in done.out.splitlines() if "is refused" in line]
    assert len(refused) == 1, done
    assert f"tmux server {victim.directory}/default is refused" in refused[0]
