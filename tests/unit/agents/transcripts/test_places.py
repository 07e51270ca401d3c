"""Where agents put their files. Keys were checked against the JavaScript rule, run in Node."""

from __future__ import annotations

import pytest

from midwatch.agents import file_locations

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
    key = file_locations.claude_keys(path)[0]
    assert key.endswith(ends)
    assert len(key) == length


def test_a_decomposed_path_has_a_second_key() -> None:
    assert file_locations.claude_keys("/p/u\u0308") == ("-p-u-", "-p--")
    assert file_locations.claude_keys("/p/ü") == ("-p--",)


def test_a_path_that_is_no_utf8_has_a_key() -> None:
    path = b"/p/\xff\xfe".decode("utf-8", "surrogateescape")
    assert file_locations.claude_keys(path) == ("-p---",)
    assert file_locations.qwen_key(path) == "-p---"
    assert len(file_locations.digest(path)) == 64


def test_homes_follow_their_variables() -> None:
    assert file_locations.claude_home(HOME) == "/home/developer/.claude"
    assert file_locations.claude_home({**HOME, "CLAUDE_CONFIG_DIR": "/c"}) == "/c"
    assert file_locations.codex_home({**HOME, "CODEX_HOME": ""}) == "/home/developer/.codex"
    assert file_locations.codex_home({**HOME, "CODEX_HOME": "/x"}) == "/x"
    assert file_locations.gemini_home(HOME) == "/home/developer/.gemini"
    assert file_locations.gemini_home({**HOME, "GEMINI_CLI_HOME": "/g"}) == "/g/.gemini"
    assert file_locations.qwen_home({**HOME, "QWEN_HOME": "/q", "QWEN_RUNTIME_DIR": "/r"}) == "/r"
    assert file_locations.agy_home(HOME) == "/home/developer/.gemini/antigravity-cli"
    assert file_locations.opencode_database(HOME) == "/home/developer/.local/share/opencode/opencode.db"
    assert (
        file_locations.opencode_database({**HOME, "XDG_DATA_HOME": "/d", "OPENCODE_DB": "b.db"}) == "/d/opencode/b.db"
    )
    assert file_locations.opencode_database({"OPENCODE_DB": "/x/y.db"}) == "/x/y.db"


def test_without_a_home_nothing_is_guessed() -> None:
    homes = (
        file_locations.claude_home,
        file_locations.codex_home,
        file_locations.gemini_home,
        file_locations.qwen_home,
        file_locations.agy_home,
    )
    assert [home({}) for home in (*homes, file_locations.opencode_database)] == [""] * 6


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
    assert file_locations.asked_for(args) == named


def test_names_of_rollouts() -> None:
    assert file_locations.rollout_id(f"rollout-2026-11-15T20-11-16-{UUID}.jsonl") == UUID
    assert file_locations.rollout_id(f"rollout-2026-11-15T20-11-16-{UUID}_{UUID}.jsonl") == UUID
    assert file_locations.rollout_id(f"rollout-2026-11-15T20-11-16-{UUID}.jsonl.zst") == ""
    assert file_locations.rollout_id(f"rollout-2026-11-15T20-11-16-{UUID}.jsonl (deleted)") == ""
    assert file_locations.rollout_id("history.jsonl") == ""


def test_names_of_gemini_projects() -> None:
    digest = file_locations.digest("/p")
    assert digest == "00d74baf14ea415c6164614838c91f834c38c3e564444dfa5bc3aa0d2809e265"
    assert file_locations.gemini_names("/p", {"projects": {"/p": "proj"}}) == ["proj", digest]
    assert file_locations.gemini_names("/p", {"projects": {"/p": "../x"}}) == [digest]
    assert file_locations.gemini_names("/p", {"projects": {"/p": 3}}) == [digest]
    assert file_locations.gemini_names("/p", "garbage") == [digest]
