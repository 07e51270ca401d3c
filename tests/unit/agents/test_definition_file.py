"""An agent's file: what it may say, and the line of what it may not."""

from __future__ import annotations

import pytest

from midwatch.agents import catalog, definition_file
from midwatch.agents.definition import match_sources, parse_version
from midwatch.agents.dialog_lists import SIGN
from midwatch.core.errors import FormatError

GOOD = """\
agent = "sample"
title = "Sample"
tested = ["1.2.0"]

[process]
names = '^sample$'

[[region]]
name = "box"
match = '^> .*'

[[rule]]
name = "busy"
source = "screen"
turn = "working"
priority = 10
when.box = 'busy'
not.box = 'not busy'
versions = "1.0 - 2.0"
"""


def test_a_good_file_is_read() -> None:
    found = definition_file.read(GOOD, "sample.toml")
    assert (found.agent, found.tested, found.rules[0].name) == ("sample", ("1.2.0",), "busy")


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("title = ", "titel = ", 2, "unknown key 'titel'"),
        ("names = '^sample$'", "", 5, "names is missing"),
        ("match = '^> .*'", "match = '('", 10, "not a regular expression"),
        ('name = "box"', 'name = "box"\nin = "nowhere"', 10, "'nowhere' is not one of those before it"),
        ("match = '^> .*'", "", 8, "needs `match`"),
        ('source = "screen"', 'source = "dreams"', 14, "'dreams' is none of"),
        ('turn = "working"', 'turn = "asleep"', 15, "'asleep' is none of"),
        ("priority = 10", 'priority = "high"', 16, "must be a number"),
        ("when.box = 'busy'", "when.bux = 'busy'", 17, "there is no text 'bux'"),
        ("when.box = 'busy'", "when.box = 3", 17, "must be a regular expression"),
        ("when.box = 'busy'", "", 12, "needs `when`"),
        ('versions = "1.0 - 2.0"', 'versions = "1.0"', 19, "versions are written"),
        ("[[rule]]", "[rule]", 12, "two brackets"),
        ("priority = 10", "priority = = 10", 16, "Invalid value"),
    ],
)  # fmt: skip
def test_an_error_names_file_and_line(old: str, new: str, line: int, says: str) -> None:
    with pytest.raises(FormatError) as error:
        definition_file.read(GOOD.replace(old, new, 1), "sample.toml")
    assert str(error.value).startswith(f"sample.toml:{line}: ")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("version", "heard"), [("1.0", True), ("1.9.9", True), ("2.0", False), ("0.9", False), ("", True)]
)
def test_a_rule_holds_for_its_versions_and_where_none_is_known(version: str, *, heard: bool) -> None:
    found = definition_file.read(GOOD, "sample.toml")
    assert bool(match_sources(found, {"box": "> busy"}, version)) is heard


def test_a_rule_is_silent_when_its_not_condition_holds() -> None:
    found = definition_file.read(GOOD, "sample.toml")
    assert match_sources(found, {"box": "> not busy"}, "1.0") == ()


def test_a_rule_is_silent_about_a_text_that_is_not_there() -> None:
    assert match_sources(definition_file.read(GOOD, "sample.toml"), {}, "1.0") == ()


def test_versions_compare_as_numbers() -> None:
    assert parse_version("2.1.197") > parse_version("2.1.20")
    assert parse_version("0.153.4-alpha.7") == (0, 153, 4)


@pytest.mark.parametrize("agent", list(catalog.definition_paths()))
def test_every_file_of_ours_is_good_and_its_rules_have_names_of_their_own(agent: str) -> None:
    found = catalog.load(agent)
    names = [rule.name for rule in found.rules]
    assert found.tested or found.any or agent == "agy"  # which cannot be had
    expressions = [wanted for rule in found.rules for _, wanted in (*rule.when, *rule.unless)]
    expressions += [region.match for region in found.regions if region.match is not None]
    expressions += [wanted for _, wanted in found.typing.unless] if found.typing else []
    expressions += [wanted for _, wanted in found.limits.menu] if found.limits else []
    expressions += [each for dialog in found.dialogs for each in (dialog.words, dialog.several) if each is not None]
    for dialog in found.dialogs:
        assert {"label", *(["mark"] if dialog.marked_by == SIGN else [])} <= set(dialog.choice.pattern.groupindex)
    assert all(each.pattern for each in expressions), "each can be compiled, which is done when it is first asked"
    assert len(names) == len(set(names))


def test_a_rule_of_the_agents_own_stands_in_place_of_the_shared_one_of_that_name() -> None:
    rules = [rule for rule in catalog.load("gemini").rules if rule.name == "transcript-working"]
    assert len(rules) == 1
    assert not rules[0].when[0][1].pattern.search("text")
