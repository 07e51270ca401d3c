"""Midwatch's entries in settings files of agents: put in, found and taken out, whatever else stands there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.agents.hooks import codec
from midwatch.agents.hooks.model import HookRules
from midwatch.core.errors import FormatError

RULES = HookRules(file="settings.json", events=("Stop", "PreToolUse"), timeout=10)
SCRIPT, SPOOL = "/opt/midwatch/agents/hooks/hook.sh", "/home/ann/state/hooks"
THEIRS = {"type": "command", "command": "say done", "timeout": 3}

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
hook = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=12)})
entry = st.fixed_dictionaries({"hooks": st.lists(hook, max_size=3)}, optional={"matcher": st.text(max_size=4)})
oddities = scalars | st.lists(scalars, min_size=1, max_size=2)
events = st.dictionaries(st.sampled_from(["Stop", "SessionStart"]), st.lists(entry | oddities, min_size=1, max_size=3))
others = st.dictionaries(st.text(max_size=6).filter(lambda key: key != "hooks"), scalars, max_size=3)


def added(settings: dict[str, Any], script: str = SCRIPT) -> dict[str, Any]:
    return codec.add_entries(settings, RULES, script, SPOOL, "claude")


@given(others=others, hooks=events)
def test_what_was_put_in_is_taken_out_and_nothing_else(others: dict[str, Any], hooks: dict[str, Any]) -> None:
    settings = others | ({"hooks": hooks} if hooks else {})
    made = added(settings)
    assert set(codec.list_commands(made)) == set(RULES.events)
    assert added(made) == made, "adding twice adds nothing"
    assert codec.remove_entries(made) == settings
    assert codec.remove_entries(settings) == settings


def test_an_entry_of_another_installation_is_replaced() -> None:
    older = added({"hooks": {"Stop": [{"hooks": [THEIRS]}]}}, "/old place/agents/hooks/hook.sh")
    found = codec.list_commands(added(older))
    assert {event: len(commands) for event, commands in found.items()} == {"Stop": 1, "PreToolUse": 1}
    assert not any("/old place/" in command for commands in found.values() for command in commands)


def test_a_hook_of_theirs_in_the_same_entry_stays() -> None:
    made = added({})
    made["hooks"]["Stop"][0]["hooks"].append(THEIRS)
    assert codec.remove_entries(made)["hooks"] == {"Stop": [{"matcher": "*", "hooks": [THEIRS]}]}


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_the_file_keeps_its_indentation_and_its_characters(indent: str) -> None:
    before = json.dumps({"name": "Ünal", "deep": {"er": 1}}, indent=indent, ensure_ascii=False) + "\n"
    assert codec.write_settings(codec.read_settings(before), before) == before


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"a": 1, "a": 2}', '{"deep": {"a": 1, "a": 1}}', '{"a": 1} // why', "[" * 100_000]
)
def test_what_could_not_be_written_again_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        codec.read_settings(text)


@pytest.mark.parametrize("settings", [{"hooks": []}, {"hooks": {"Stop": "say done"}}])
def test_hooks_in_another_form_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(FormatError):
        added(settings)
