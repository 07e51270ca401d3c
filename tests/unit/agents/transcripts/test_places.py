"""Where agents put their files. Keys were checked against the JavaScript rule, run in Node."""

from __future__ import annotations

import pytest

from midwatch.agents import file_locations, parts
from midwatch.agents.claude import files as claude_files
from midwatch.agents.codex.files import rollout_id
from midwatch.agents.gemini import files as gemini_files
from midwatch.agents.opencode.files import database_path

HOME = {"HOME": "/home/developer"}
UUID = "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"


@pytest.mark.parametrize(
    ("path", "ends", "length"),
    [
        ("/home/developer/My Proj_1.x (ü)", "-home-developer-My-Proj-1-x----", 31),
        ("/home/developer/😀/x", "-home-developer----x", 20),
        ("/" + "a" * 199, "a" * 30, 200),
        ("/" + "a" * 200, "aaaaaaaaaaaaaaaaaaaaaaa-b6ymvl", 207),
        ("/home/developer/" + "abc_" * 50, "bc-abc-abc-abc-abc-abc--ohb4fk", 207),
        ("/home/developer/" + "é😀" * 70, "------------------------esokau", 207),
        ("/home/developer/" + "z" * 400, "zzzzzzzzzzzzzzzzzzzzzzz-cmyfju", 207),
    ],
)
def test_claude_keys(path: str, ends: str, length: int) -> None:
    key = claude_files.keys(path)[0]
    assert key.endswith(ends)
    assert len(key) == length


def test_a_decomposed_path_has_a_second_key() -> None:
    assert claude_files.keys("/p/u\u0308") == ("-p-u-", "-p--")
    assert claude_files.keys("/p/ü") == ("-p--",)


def test_a_path_that_is_no_utf8_has_a_key() -> None:
    path = b"/p/\xff\xfe".decode("utf-8", "surrogateescape")
    assert claude_files.keys(path) == ("-p---",)
    assert file_locations.dashed_path(path) == "-p---"
    assert len(file_locations.directory_digest(path)) == 64


def home(agent: str, **variables: str) -> str:
    return parts.files(agent).home(HOME | variables)


def test_homes_follow_their_variables() -> None:
    assert home("claude") == "/home/developer/.claude"
    assert home("claude", CLAUDE_CONFIG_DIR="/c") == "/c"
    assert home("codex", CODEX_HOME="") == "/home/developer/.codex"
    assert home("codex", CODEX_HOME="/x") == "/x"
    assert home("gemini") == "/home/developer/.gemini"
    assert home("gemini", GEMINI_CLI_HOME="/g") == "/g/.gemini"
    assert home("qwen", QWEN_HOME="/q", QWEN_RUNTIME_DIR="/r") == "/r"
    assert home("agy") == "/home/developer/.gemini/antigravity-cli"
    assert home("opencode") == "/home/developer/.local/share/opencode"
    assert database_path(HOME) == "/home/developer/.local/share/opencode/opencode.db"
    assert database_path({**HOME, "XDG_DATA_HOME": "/d", "OPENCODE_DB": "b.db"}) == "/d/opencode/b.db"
    assert database_path({"OPENCODE_DB": "/x/y.db"}) == "/x/y.db"


AGENTS = ("claude", "codex", "gemini", "qwen", "agy", "opencode")


@pytest.mark.parametrize("agent", AGENTS)
def test_without_a_home_nothing_is_guessed(agent: str) -> None:
    assert parts.files(agent).home({}) == ""
    assert parts.files(agent).arrivals({}, "2026/01/31") == []


@pytest.mark.parametrize("agent", AGENTS)
def test_the_first_conversation_shows_below_the_home(agent: str) -> None:
    found = parts.files(agent).arrivals(HOME, "2026/01/31")
    assert found
    assert all(each.startswith(home(agent)) for each in found)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("claude", "--resume", UUID), UUID),
        (("claude", f"--session-id={UUID}", "-p", "x"), UUID),
        (("claude", "-r", UUID), UUID),
        (("claude", "--resume", UUID, "--fork-session"), ""),
        (("claude", "--resume"), ""),
        (("claude", "--resume", "my title"), ""),
        (("claude", "--continue"), ""),
        (("node", "/usr/bin/codex", "resume", UUID), UUID),
        (("codex", "exec", "resume", UUID, "go on"), UUID),
        (("codex", "fork", UUID), ""),
        (("codex", "please resume"), ""),
        (("gemini", "--resume", "latest"), ""),
        (("opencode", "-s", "ses_e1f1fc584ffeAiouImLiL66hpn"), "ses_e1f1fc584ffeAiouImLiL66hpn"),
        (("agy", "--conversation", UUID), UUID),
        (("claude", "--resume", "../../etc/passwd"), ""),
        ((), ""),
    ],
)
def test_the_conversation_that_a_command_line_names(args: tuple[str, ...], named: str) -> None:
    assert file_locations.requested_conversation(args) == named


def test_names_of_rollouts() -> None:
    assert rollout_id(f"rollout-2026-11-15T20-11-16-{UUID}.jsonl") == UUID
    assert rollout_id(f"rollout-2026-11-15T20-11-16-{UUID}_{UUID}.jsonl") == UUID
    assert rollout_id(f"rollout-2026-11-15T20-11-16-{UUID}.jsonl.zst") == ""
    assert rollout_id(f"rollout-2026-11-15T20-11-16-{UUID}.jsonl (deleted)") == ""
    assert rollout_id("history.jsonl") == ""


def test_names_of_gemini_projects() -> None:
    digest = file_locations.directory_digest("/p")
    assert digest == "00d74baf14ea415c6164614838c91f834c38c3e564444dfa5bc3aa0d2809e265"
    assert gemini_files.names("/p", {"projects": {"/p": "proj"}}) == ["proj", digest]
    assert gemini_files.names("/p", {"projects": {"/p": "../x"}}) == [digest]
    assert gemini_files.names("/p", {"projects": {"/p": 3}}) == [digest]
    assert gemini_files.names("/p", "garbage") == [digest]
