"""A settings file: what it may say, the line of what it may not, and how two of them become one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from midwatch.config.codec import notify_table, settings_file, swarm_table
from midwatch.config.model import CHECKS, PreflightCheck, Settings
from midwatch.core import durations
from midwatch.core.errors import FormatError
from midwatch.core.policy import PATIENT, POLICIES

DOCS = (Path(__file__).parents[3] / "docs" / "reference" / "configuration.md").read_text()
GOOD = """\
[policy]
name = "strict"
stale = "10m"

[run]
retries = 2
backoff = 1.5

[breaker]
threshold = 3

[[check]]
module = "yaml"
venv = ".venv"

[[check]]
tcp = "localhost:5432"

[[check]]
run = "scripts/healthy"
timeout = "10s"
"""


def read(text: str) -> Settings:
    return settings_file.read(text, "d.toml")


def wrong(text: str) -> tuple[int, str]:
    """The line and the words of the error that a text gives."""
    with pytest.raises(FormatError) as error:
        read(text)
    found = re.fullmatch(r"d\.toml:(\d+): (.*)", str(error.value), re.DOTALL)
    assert found is not None, error.value
    return int(found[1]), found[2]


def test_an_empty_file_leaves_everything_to_us() -> None:
    assert read("") == Settings(files=("d.toml",))


def test_only_what_is_given_of_a_policy_is_there_and_in_its_own_units() -> None:
    assert read(GOOD).policy == {"name": "strict", "stale_s": 600.0}
    assert read('policy = {grace = 0, progress = ["beat", "output"]}').policy == {
        "grace_s": 0.0, "progress": ("output", "beat"),
    }  # fmt: skip


def test_numbers_of_run_and_breaker_are_read() -> None:
    found = read(GOOD)
    assert (found.retries, found.backoff_s, found.breaker_threshold, found.breaker_cooldown_s) == (2, 1.5, 3, 900.0)


def test_checks_come_in_their_order_with_the_line_they_stand_on() -> None:
    first, second, third = read(GOOD).checks
    assert first == PreflightCheck("module", "yaml", "module yaml", venv=".venv", source="d.toml:12")
    assert second == PreflightCheck("tcp", "localhost:5432", "tcp localhost:5432", source="d.toml:16")
    assert third == PreflightCheck("run", "scripts/healthy", "run scripts/healthy", timeout_s=10.0, source="d.toml:19")


@pytest.mark.parametrize("kind", CHECKS)
def test_every_kind_of_check_can_be_written(kind: str) -> None:
    target = {"tcp": "[::1]:80", "disk": "1GiB"}.get(kind, "x")
    check = read(f'[[check]]\n{kind} = "{target}"\nfix = "mend"\n').checks[0]
    assert (check.kind, check.target, check.fix, check.venv) == (kind, target, "mend", "")


def test_a_name_made_from_a_command_of_several_lines_is_one_line() -> None:
    check = read('[[check]]\nrun = """\ntrue\nfalse\u001b"""\n'.replace("\u001b", "\\u001b")).checks[0]
    assert check.target == "true\nfalse\x1b"
    assert check.name == "run true\\nfalse\\e"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("stale = ", "stael = ", 3, "unknown key 'stael'; did you mean stale?"),
        ("[run]", "[runs]", 5, "unknown key 'runs'; did you mean run?"),
        ("retries", "trust", 6, "unknown key 'trust'; known are backoff, preflight, retries"),
        ('"strict"', '"harsh"', 2, "name 'harsh' is none of patient, strict"),
        ('"strict"', "3", 2, "name must be text in quotes"),
        ('"10m"', '"10 parsecs"', 3, "'10 parsecs' is not a duration; say seconds, or 90s, 15m, 2h"),
        ('"10m"', "true", 3, "stale must be a number of seconds"),
        ('"10m"', "[600]", 3, "stale must be a number of seconds"),
        ('"10m"', "0", 3, "stale must be above 0"),
        ('"10m"', '"0s"', 3, "stale must be above 0"),
        ('"10m"', "-1", 3, "no time that can be waited for"),
        ('"10m"', "nan", 3, "no time that can be waited for"),
        ('"10m"', "inf", 3, "no time that can be waited for"),
        ('"10m"', "0x" + "f" * 9999, 3, "no time that can be waited for"),
        ('"10m"', "1" * 9999, 3, "has no end"),
        ('stale = "10m"', "timeout = 0", 3, "timeout must be above 0"),
        ('stale = "10m"', 'on_stuck = "kill"', 3, "on_stuck 'kill' is none of report, stop"),
        ('stale = "10m"', 'progress = ["output", "luck"]', 3, "not 'luck'"),
        ('stale = "10m"', "progress = []", 3, "at least one"),
        ('stale = "10m"', 'progress = "output"', 3, "progress must be a list of texts"),
        ('stale = "10m"', 'stale = "1m"\nheartbeat = 30', 4, "below half of stale, which is 60s"),
        ('stale = "10m"', "heartbeat = 30", 3, "below half of stale, which is 60s"),
        ("retries = 2", "retries = -1", 6, "whole number from 0 to 1000"),
        ("retries = 2", "retries = 1.5", 6, "whole number from 0 to 1000"),
        ("retries = 2", "retries = true", 6, "whole number from 0 to 1000"),
        ("retries = 2", "retries = 0x" + "f" * 9999, 6, "whole number from 0 to 1000"),
        ("retries = 2", "preflight = 1", 6, "preflight must be true or false"),
        ("threshold = 3", "threshold = 0", 10, "whole number from 1 to 1000"),
        ("threshold = 3", "cooldown = -5", 10, "no time that can be waited for"),
        ("[breaker]", "[[breaker]]", 9, "breaker must be a table"),
        ('tcp = "localhost:5432"', 'tcp = "localhost"', 17, "'localhost' is not an address"),
        ('tcp = "localhost:5432"', 'tcp = "localhost:' + "9" * 9999 + '"', 17, "is not an address"),
        ('tcp = "localhost:5432"', 'disk = "much"', 17, "'much' is not a size"),
        ('tcp = "localhost:5432"', "tcp = 5432", 17, "tcp must be text in quotes"),
        ('tcp = "localhost:5432"', 'tcp = " "', 17, "tcp must hold text"),
        ('tcp = "localhost:5432"', "", 16, "a check needs what it looks at: one of module"),
        ('tcp = "localhost:5432"', 'tcp = "a:1"\nhttp = "b"', 18, "tcp and http are two checks"),
        ('tcp = "localhost:5432"', 'tcp = "a:1"\nvenv = "b"', 18, "venv goes only with module or package"),
        ('tcp = "localhost:5432"', 'tpc = "a:1"', 17, "did you mean tcp?"),
        ('module = "yaml"', 'package = "y"\nmodule = "yaml"', 14, "package and module are two checks"),
        ('timeout = "10s"', 'timeout = "0"', 21, "timeout must be above 0"),
        ('timeout = "10s"', "timeout = false", 21, "timeout must be a number of seconds"),
        ('timeout = "10s"', 'fix = "a\\u0000b"', 21, "fix must hold no NUL"),
        ('timeout = "10s"', 'name = "two\\nlines"', 21, "one line of plain text"),
        ('timeout = "10s"', "name = 'a\u202eb'", 21, "one line of plain text"),
        ("retries = 2", "retries = = 2", 6, "not TOML"),
        ("retries = 2", "retries = 2\nretries = 3", 7, "not TOML"),
        ('timeout = "10s"', "timeout = ", 21, "not TOML"),
        ('timeout = "10s"\n', 'fix = """', 21, "not TOML"),
        ("retries = 2", "retries = " + "[" * 9999, 6, "has no end"),
    ],
)  # fmt: skip
def test_an_error_names_the_line_and_what_to_do(old: str, new: str, line: int, says: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    at, words = wrong(text)
    assert (at, says in words) == (line, True), (at, words)


def test_a_single_bracket_for_a_check_is_an_error() -> None:
    assert wrong('[check]\nrun = "x"\n') == (1, "write [[check]], with two brackets")


LOOKALIKES = '''\
# [[check]]
# timeout = "x"
policy.stale = 60                 # dotted
"policy" . 'grace' = """
[[check]]
timeout = 0
run = 'no'
"""
'''


def test_lookalikes_in_comments_and_texts_do_not_mislead() -> None:
    line, words = wrong(LOOKALIKES)
    assert (line, words.startswith("grace: ")) == (4, True), words


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[[check]]\nrun = "a"\n' * 3 + 'fix = """\ntimeout = 1\n"""\ntimeout = 0', 10),
        ('check = [\n  {run = "a"},\n  # timeout = 0\n  {run = "b"}, {run = "c", timeout = 0},\n]', 4),
        ('[[check]]\r\nrun = "a"\r\n\r\n[[check]]\r\nrun = "b"\r\n"timeout" = 0\r\n', 6),
        ('[[check]]\nrun = "a\\"] #"\n"time\\u006fut" = 0\n', 3),
        ("[[check]]\nrun = 'a\\'\n'timeout'=0", 3),
        ('[[check]]\nrun = """a\\"""b"""""\ntimeout=0', 3),
        ("[[check]]\nrun = '''\n'a''\n'''''\ntimeout=0", 5),
        ('[policy]\nprogress = [ # ]\n"output", # "]"\n"cpu"]\nstale = 0', 5),
        ('[run]\n[[check]]\nrun = "timeout = 0"\n[policy]\ntimeout = 0', 5),
        ('[ "policy" ] # x\n\n\ntimeout = 0', 4),
        ("policy = { grace = 1, timeout = 0 }", 1),
        ("[policy]\ngrace = 1\x0b\ntimeout = 0", 2),
        ('[[check]]\nrun = "a\u2028\u0085b"\ntimeout = 0', 3),
    ],
)  # fmt: skip
def test_the_line_is_right_however_it_is_written(text: str, line: int) -> None:
    at, words = wrong(text)
    assert at == line, words


def test_bytes_that_are_not_utf_8_are_an_error_with_their_line() -> None:
    with pytest.raises(FormatError, match=r"^d\.toml:3: this is not UTF-8; "):
        settings_file.decode_text(b"# one\n# two\nname = '\xff'\n", "d.toml")


# Two files


def merged(user: str | None, project: str | None) -> Settings:
    given = [
        None if text is None else settings_file.parse_layer(text, f"{at}.toml")
        for at, text in enumerate((user, project))
    ]
    return settings_file.merge_layers(*given)


def test_the_projects_file_beats_the_users_key_by_key() -> None:
    user = (
        '[run]\nretries = 5\nbackoff = 1\npreflight = true\n[policy]\nstale = "5m"\ngrace = 7\n[breaker]\nthreshold = 9'
    )
    found = merged(user, '[run]\nretries = 0\npreflight = false\n[policy]\nstale = "20m"')
    assert (found.retries, found.backoff_s, found.preflight, found.breaker_threshold) == (0, 1.0, False, 9)
    assert found.policy == {"stale_s": 1200.0, "grace_s": 7.0}
    assert found.files == ("0.toml", "1.toml")


def test_a_silent_project_leaves_the_users_word_and_a_silent_user_leaves_ours() -> None:
    assert merged("[run]\nretries = 5", "").retries == 5
    assert merged("[run]\nretries = 5", None).retries == 5
    assert merged(None, "[run]\nbackoff = 5").retries == 0
    assert merged(None, None) == Settings()


def test_checks_of_both_count_and_the_users_come_first() -> None:
    found = merged('[[check]]\nenv = "A"', '[[check]]\nenv = "B"\n[[check]]\nenv = "A"')
    assert [(check.target, check.source) for check in found.checks] == [
        ("A", "0.toml:1"), ("B", "1.toml:1"), ("A", "1.toml:3"),
    ]  # fmt: skip


def test_a_policy_named_by_the_project_leaves_nothing_of_the_users_table() -> None:
    user = '[policy]\nname = "patient"\nstale = "5m"\non_stuck = "report"'
    assert merged(user, '[policy]\nname = "strict"\ngrace = 1').policy == {"name": "strict", "grace_s": 1.0}
    assert merged(user, "[policy]\ngrace = 1").policy == {
        "name": "patient", "stale_s": 300.0, "on_stuck": "report", "grace_s": 1.0,
    }  # fmt: skip


# What the documentation says


def documented(section: str) -> dict[str, list[str]]:
    """Rows of the tables below a heading, by their first cell."""
    text = DOCS.partition(f"\n## `{section}`\n")[2].partition("\n## ")[0]
    assert text, section
    rows = [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    return {row[0]: row[1:] for row in rows}


def test_the_example_of_the_documentation_can_be_read_and_shows_every_key() -> None:
    block = re.search(r"^```toml\n(.*?)^```", DOCS, re.DOTALL | re.MULTILINE)
    assert block is not None
    found = settings_file.parse_layer(block[1], "docs.toml")
    assert set(found) == set(Settings._fields)
    policy = found["policy"]
    assert isinstance(policy, dict)
    assert set(policy) == set(PATIENT._fields)
    checks = settings_file.read(block[1], "docs.toml").checks
    assert {check.kind for check in checks} == set(CHECKS)
    assert checks[0] == PreflightCheck("module", "yaml", "yaml is there", "uv sync", ".venv", 20.0, checks[0].source)


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("[policy]", settings_file.KEYS_OF_POLICY),
        ("[run]", settings_file.KEYS_OF_RUN),
        ("[breaker]", settings_file.KEYS_OF_BREAKER),
        ("[parse]", settings_file.KEYS_OF_PARSE),
        ("[[check]]", settings_file.KEYS_OF_CHECK),
        ("[notify]", notify_table.KEYS),
        *((f"[{name}]", keys) for name, keys in swarm_table.KEYS.items()),
    ],
)
def test_the_documentation_has_every_key_and_no_other(section: str, keys: tuple[str, ...]) -> None:
    assert set(documented(section)) - {"key", "---"} == set(keys)


def test_the_documentation_names_the_defaults_that_hold() -> None:
    for column, name in ((0, "patient"), (1, "strict")):
        rows, policy = documented("[policy]"), POLICIES[name]
        assert rows["name"][column] == name
        assert rows["on_stuck"][column] == policy.on_stuck
        for key in ("stale", "grace", "heartbeat"):
            assert durations.parse(rows[key][column]) == getattr(policy, f"{key}_s")
    assert documented("[policy]")["progress"][0].split(", ") == list(PATIENT.progress)
    assert (documented("[policy]")["timeout"][0], PATIENT.timeout_s) == ("none", None)
    assert durations.parse(documented("[policy]")["timeout"][1]) == POLICIES["strict"].timeout_s
    run, breaker, ours = documented("[run]"), documented("[breaker]"), Settings()
    assert (run["retries"][0], run["preflight"][0]) == (str(ours.retries), str(ours.preflight).lower())
    assert durations.parse(run["backoff"][0]) == ours.backoff_s
    assert breaker["threshold"][0] == str(ours.breaker_threshold)
    assert durations.parse(breaker["cooldown"][0]) == ours.breaker_cooldown_s
    assert (
        durations.parse(documented("[[check]]")["timeout"][0])
        == PreflightCheck("", "", "").timeout_s
        == settings_file.PATIENCE
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[watchdog]\nceiling = 0", "2: ceiling must be a whole number from 1 to 60"),
        ("[watchdog]\nceiling = true", "2: ceiling must be a whole number"),
        ("[watchdog]\nprompt = ''", "2: prompt must hold one line of text"),
        ("[watchdog]\nensure_quality = 1", "2: ensure_quality must be true or false"),
        ("[tracker]\nkind = 'jira'", "2: kind 'jira' is none of beads, sprint, kanban, tasks"),
        ("[handoff]\ncommand = 'a\\u0007'", "2: command "),
        ("[send]\nvia = 'screen'", "2: via 'screen' is none of tmux, ntm"),
        ("[send]\nvai = 'ntm'", "2: unknown key 'vai'; did you mean via?"),
    ],
)
def test_what_is_wrong_in_the_tables_of_a_swarm_is_told_with_its_line(text: str, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        settings_file.read(text.replace("'a\\u0007'", '"a\\u0007"'), "x.toml")
    assert words in str(caught.value)
