import pytest

from midwatch.cli.parser import parse
from midwatch.core.errors import UsageError


def test_options_and_names_may_come_in_any_order() -> None:
    found = parse("wait", ["a", "--timeout", "5", "b", "--json", "--until=final"])
    assert (found.names, found.seconds("--timeout"), found.flag("--json"), found.text("--until")) == (
        ["a", "b"], 5.0, True, "final",
    )  # fmt: skip


def test_everything_after_the_dashes_is_the_command() -> None:
    found = parse("run", ["--name", "x", "--", "ls", "--json", "--", "y"])
    assert found.command == ["ls", "--json", "--", "y"]
    assert not found.flag("--json")


def test_a_command_may_follow_without_dashes() -> None:
    assert parse("run", ["-d", "make", "-d"]).command == ["make", "-d"]


def test_a_short_option_may_hold_its_value() -> None:
    assert parse("logs", ["x", "-n5"]).text("-n") == "5"


def test_a_value_may_look_like_an_option() -> None:
    found = parse("logs", ["x", "-n", "-5", "--dir=--json", "--dir", "--jsonl"])
    assert (found.text("-n"), found.each("--dir")) == ("-5", ["--json", "--jsonl"])


@pytest.mark.parametrize(
    ("verb", "arguments", "says"),
    [
        ("wait", ["--tiemout", "5"], "did you mean --timeout"),
        ("wait", ["a", "--timeout"], "needs a value"),
        ("wait", ["a", "--until", "--json"], "--until needs a value; if --json is meant as one, --until=--json"),
        ("wait", ["--json=yes"], "takes no value"),
        ("run", ["--nope", "--", "x"], "no option --nope"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(verb: str, arguments: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse(verb, arguments)


def test_a_wrong_duration_names_its_option() -> None:
    with pytest.raises(UsageError, match="--timeout: 'soon' is not a duration"):
        parse("wait", ["a", "--timeout", "soon"]).seconds("--timeout")
