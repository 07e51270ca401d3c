"""Which conversation is whose."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from midwatch.agents import file_locations, parts
from midwatch.agents.claude import files as claude_files
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.transcript_follower import TranscriptFollower
from midwatch.core.pane_model import SourceReport
from midwatch.system import procfs
from tests.integration.transcripts.conftest import CWD, STARTED, Home

ONE = "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"
TWO = "01a1e0d5-e3d0-71c1-a6b2-364982b59228"
WHEN = "2026-11-15T20:05:05.000Z"


def claude(cwd: str = CWD, **more: object) -> str:
    line = {"type": "user", "timestamp": WHEN, "cwd": cwd, "message": {"content": "go"}, **more}
    first = {"type": "file-history-snapshot", "messageId": "x"}
    return f"{json.dumps(first)}\n{json.dumps(line)}\n"


def rollout(number: str, cwd: str = CWD, **more: object) -> str:
    meta = {"timestamp": WHEN, "type": "session_meta", "payload": {"id": number, "cwd": cwd, **more}}
    begun = {"timestamp": WHEN, "type": "event_msg", "payload": {"type": "task_started"}}
    return f"{json.dumps(meta)}\n{json.dumps(begun)}\n"


def gemini(number: str, cwd: str = CWD, **more: object) -> str:
    header = {
        "sessionId": number,
        "projectHash": file_locations.directory_digest(cwd),
        "startTime": WHEN,
        "lastUpdated": WHEN,
        **more,
    }
    return f"{json.dumps(header)}\n"


def found(report: SourceReport | None) -> str:
    """The conversation that was found, "none", or why it is not clear."""
    return "none" if report is None else report.trouble or report.words["conversation"]


def test_claude_by_directory(home: Home) -> None:
    home.write(f".claude/projects/-home-developer-proj/{ONE}.jsonl", claude())
    home.write(f".claude/projects/-home-developer-proj/{TWO}.jsonl", claude(), at=STARTED - 60)
    home.write(".claude/projects/-home-developer-proj/agent-abc.jsonl", claude())
    home.write(".claude/projects/-home-developer-proj/notes.txt", "x")
    assert found(TranscriptFollower().read(home.running("claude"))) == ONE


def test_nothing_yet(home: Home) -> None:
    assert [
        TranscriptFollower().read(home.running(agent)) for agent in ("claude", "codex", "gemini", "qwen", "agy")
    ] == [None] * 5
    home.write(f".claude/projects/-home-developer-proj/{ONE}.jsonl", claude(), at=STARTED - 60)
    assert TranscriptFollower().read(home.running("claude")) is None
    assert TranscriptFollower().read(home.running("claude"), TWO) is None


def test_an_unknown_agent_or_home_has_none(home: Home) -> None:
    assert TranscriptFollower().read(home.running("vim")) is None
    assert TranscriptFollower().read(home.running("claude", environment={})) is None
    assert TranscriptFollower().read(home.running("claude"), "../../secret") is None


def test_two_conversations_in_one_directory_are_not_guessed_between(home: Home) -> None:
    sense = TranscriptFollower()
    for number in (ONE, TWO):
        home.write(f".claude/projects/-home-developer-proj/{number}.jsonl", claude())
    assert found(sense.read(home.running("claude"))).startswith("two conversations")
    assert found(sense.read(home.running("claude"), ONE)) == ONE
    assert found(sense.read(home.running("claude", "--resume", TWO))) == TWO
    os.utime(home.top / f".claude/projects/-home-developer-proj/{ONE}.jsonl", (STARTED - 9, STARTED - 9))
    assert found(sense.read(home.running("claude"))) == TWO


def test_another_directory_with_the_same_key_is_another(home: Home) -> None:
    home.write(f".claude/projects/-home-developer-proj/{ONE}.jsonl", claude("/home/developer-proj"))
    home.write(f".claude/projects/-home-developer-proj/{TWO}.jsonl", claude())
    assert found(TranscriptFollower().read(home.running("claude"))) == TWO


def test_the_first_directory_counts_not_where_a_shell_went_later(home: Home) -> None:
    home.write(f".claude/projects/-home-developer-proj/{ONE}.jsonl", claude() + claude(f"{CWD}/sub"))
    report = TranscriptFollower().read(home.running("claude"))
    assert found(report) == ONE
    assert report is not None
    assert report.words["cwd"] == f"{CWD}/sub"


@pytest.mark.parametrize("cwd", ["/home/developer/Größe (ü)", "/home/developer/😀", "/home/developer/" + "x_" * 150])
def test_odd_and_long_paths(cwd: str, home: Home) -> None:
    home.write(f".claude/projects/{claude_files.keys(cwd)[0]}/{ONE}.jsonl", claude(cwd))
    assert found(TranscriptFollower().read(home.running("claude", cwd=cwd))) == ONE


def test_a_long_path_hashed_in_another_way(home: Home) -> None:
    cwd = "/home/developer/" + "x_" * 150
    key = claude_files.keys(cwd)[0][:200]
    home.write(f".claude/projects/{key}-1y2z3/{ONE}.jsonl", claude(cwd))
    home.write(f".claude/projects/{key}-9a8b7/{TWO}.jsonl", claude(cwd + "other"))
    assert found(TranscriptFollower().read(home.running("claude", cwd=cwd))) == ONE


def test_a_known_id_is_found_under_another_directorys_key(home: Home) -> None:
    sense = TranscriptFollower()
    assert sense.read(home.running("claude"), ONE) is None
    home.write(f".claude/projects/-home-developer-other/{ONE}.jsonl", claude("/home/developer/other"))
    assert found(sense.read(home.running("claude"), ONE)) == ONE


def test_claude_elsewhere(home: Home) -> None:
    home.environment["CLAUDE_CONFIG_DIR"] = str(home.top / "config")
    home.write(f"config/projects/-home-developer-proj/{ONE}.jsonl", claude())
    assert found(TranscriptFollower().read(home.running("claude"))) == ONE


# Codex ----------------------------------------------------------------------------------------------------------


def day(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y/%m/%d")  # noqa: DTZ006  # Codex names days in local time


def rollout_path(number: str, at: float = STARTED) -> str:
    return f".codex/sessions/{day(at)}/rollout-2026-11-15T20-11-16-{number}.jsonl"


def test_codex_by_directory(home: Home) -> None:
    home.write(rollout_path(ONE), rollout(ONE))
    home.write(rollout_path(TWO), rollout(TWO, "/elsewhere"))
    assert found(TranscriptFollower().read(home.running("codex"))) == ONE


def test_codex_threads_of_helpers_are_left_out(home: Home) -> None:
    home.write(rollout_path(ONE), rollout(ONE, thread_source="user"))
    home.write(rollout_path(TWO), rollout(TWO, thread_source="subagent"))
    assert found(TranscriptFollower().read(home.running("codex"))) == ONE


def test_codex_two_in_one_directory(home: Home) -> None:
    sense = TranscriptFollower()
    home.write(rollout_path(ONE), rollout(ONE))
    home.write(rollout_path(TWO, STARTED + 86400), rollout(TWO))
    assert found(sense.read(home.running("codex"))).startswith("two conversations")
    assert found(sense.read(home.running("codex", "resume", ONE))) == ONE
    assert found(sense.read(home.running("codex"), TWO)) == TWO


def test_codex_resumes_what_is_old(home: Home) -> None:
    sense = TranscriptFollower()
    home.write(rollout_path(ONE, STARTED - 40 * 86400), rollout(ONE))
    assert sense.read(home.running("codex")) is None
    assert found(sense.read(home.running("codex", "resume", ONE))) == ONE
    assert sense.read(home.running("codex", "resume", TWO)) is None
    home.write(rollout_path(TWO), rollout(TWO))
    assert found(sense.read(home.running("codex", "resume", TWO))) == TWO


@pytest.fixture
def holder() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """A process that keeps files open, started with given words on its command line."""
    running: list[subprocess.Popen[str]] = []

    def start(*paths: Path, words: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        code = "import sys; kept = [open(p) for p in sys.argv[1].split(':')]; print(flush=True); sys.stdin.read()"
        command = [sys.executable, "-c", code, ":".join(map(str, paths)), *words]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "\n"
        return process

    yield start
    for process in running:
        process.communicate("")


def test_codex_holds_its_rollout_open(home: Home, holder: Callable[..., subprocess.Popen[str]]) -> None:
    one = home.write(rollout_path(ONE), rollout(ONE))
    home.write(rollout_path(TWO), rollout(TWO))
    pid = holder(one).pid
    own = home.running("codex", pid=pid, start=procfs.start_time(pid))
    assert found(TranscriptFollower().read(own)) == ONE
    another = own._replace(start=own.start - 1)
    assert found(TranscriptFollower().read(another)).startswith("two conversations"), (
        "a recycled pid's files are not its own"
    )


def test_codex_of_several_open_ones_the_last_written(home: Home, holder: Callable[..., subprocess.Popen[str]]) -> None:
    one = home.write(rollout_path(ONE), rollout(ONE), at=STARTED + 10)
    two = home.write(rollout_path(TWO), rollout(TWO), at=STARTED + 20)
    helper = home.write(rollout_path(TWO[:-1] + "9"), rollout("t", thread_source="subagent"), at=STARTED + 30)
    pid = holder(one, two, helper).pid
    assert found(TranscriptFollower().read(home.running("codex", pid=pid, start=procfs.start_time(pid)))) == TWO


def test_a_daemon_holds_the_rollouts_of_all(home: Home, holder: Callable[..., subprocess.Popen[str]]) -> None:
    one = home.write(rollout_path(ONE), rollout(ONE))
    home.write(rollout_path(TWO), rollout(TWO))
    pid = holder(one, words=("app-server", "--listen", "unix://")).pid
    report = TranscriptFollower().read(home.running("codex", pid=pid, start=procfs.start_time(pid)))
    assert found(report).startswith("two conversations")


def test_the_child_of_a_wrapper_is_the_agent(home: Home, holder: Callable[..., subprocess.Popen[str]]) -> None:
    one = home.write(rollout_path(ONE), rollout(ONE))
    home.write(rollout_path(TWO), rollout(TWO))
    holder(one)
    assert found(TranscriptFollower().read(home.running("codex"))) == ONE


# Gemini, Qwen, agy ----------------------------------------------------------------------------------------------


def test_gemini_by_registry_by_marker_and_by_digest(home: Home) -> None:
    name = f"session-2026-11-15T20-26-{ONE[:8]}.jsonl"
    home.write(".gemini/projects.json", {"projects": {CWD: "proj-1"}})
    file = home.write(f".gemini/tmp/proj-1/chats/{name}", gemini(ONE))
    assert found(TranscriptFollower().read(home.running("gemini"))) == ONE
    home.write(".gemini/projects.json", "{")
    assert TranscriptFollower().read(home.running("gemini")) is None
    home.write(".gemini/tmp/proj-1/.project_root", CWD)
    assert found(TranscriptFollower().read(home.running("gemini"))) == ONE
    file.unlink()
    home.write(f".gemini/tmp/{file_locations.directory_digest(CWD)}/chats/{name.removesuffix('l')}", gemini(ONE))
    assert found(TranscriptFollower().read(home.running("gemini"))) == ONE


def test_gemini_resumed_is_the_same_conversation_in_a_second_file(home: Home) -> None:
    home.write(".gemini/projects.json", {"projects": {CWD: "proj"}})
    home.write(f".gemini/tmp/proj/chats/session-2026-11-15T20-26-{ONE[:8]}.jsonl", gemini(ONE), at=STARTED + 5)
    newer = home.write(f".gemini/tmp/proj/chats/session-2026-11-15T20-30-{ONE[:8]}.jsonl", gemini(ONE), at=STARTED + 9)
    report = TranscriptFollower().read(home.running("gemini"))
    assert found(report) == ONE
    assert report is not None
    assert report.words["path"] == str(newer)
    home.write(f".gemini/tmp/proj/chats/session-2026-11-15T20-40-{TWO[:8]}.jsonl", gemini(TWO))
    assert found(TranscriptFollower().read(home.running("gemini"))).startswith("two conversations")
    assert found(TranscriptFollower().read(home.running("gemini", "--resume", ONE))) == ONE


def test_qwen_by_directory_by_signature_and_by_name(home: Home, sample: Callable[[str], bytes]) -> None:
    chats = ".qwen/projects/-home-developer-proj/chats"
    home.write(f"{chats}/{ONE}.jsonl", sample("qwen.jsonl"))
    assert found(TranscriptFollower().read(home.running("qwen"))) == ONE
    home.write(f"{chats}/{TWO}.jsonl", sample("qwen.jsonl"))
    assert found(TranscriptFollower().read(home.running("qwen"))).startswith("two conversations")
    assert found(TranscriptFollower().read(home.running("qwen", "--resume", TWO))) == TWO
    home.write(f"{chats}/{ONE}.runtime.json", {"schema_version": 1, "pid": os.getpid(), "session_id": ONE})
    home.write(f"{chats}/{TWO}.runtime.json", {"schema_version": 1, "pid": 1, "session_id": TWO})
    assert found(TranscriptFollower().read(home.running("qwen"))) == ONE


def test_agy_by_what_it_noted_last(home: Home) -> None:
    top = ".gemini/antigravity-cli"
    step = {"step_index": 0, "type": "USER_INPUT", "created_at": WHEN, "content": "go"}
    file = home.write(f"{top}/brain/{ONE}/.system_generated/logs/transcript.jsonl", json.dumps(step) + "\n")
    assert TranscriptFollower().read(home.running("agy")) is None
    home.write(f"{top}/cache/last_conversations.json", {CWD: ONE})
    report = TranscriptFollower().read(home.running("agy"))
    assert report is not None
    assert report.words["event"] == "prompt"
    os.utime(file, (STARTED - 60, STARTED - 60))
    assert TranscriptFollower().read(home.running("agy")) is None
    assert TranscriptFollower().read(home.running("agy", "--conversation", ONE)) is not None
    home.write(f"{top}/cache/last_conversations.json", {CWD: "../../x"})
    assert TranscriptFollower().read(home.running("agy")) is None


def test_only_what_began_since_then_in_that_directory_counts_as_begun(home: Home) -> None:
    """A conversation that was gone on with since then began earlier."""
    shelf, early = ".claude/projects/-home-developer-proj", "2026-11-15T19:00:00.000Z"
    home.write(f"{shelf}/{ONE}.jsonl", claude())
    home.write(f"{shelf}/{TWO}.jsonl", claude(timestamp=early))
    home.write(f"{shelf}/00000000-0000-4000-8000-000000000001.jsonl", claude("/home/developer.proj"))
    began = datetime.fromisoformat("2026-11-15T20:00:00Z").timestamp()
    running = home.running("claude", started=began)
    for path in (home.top / shelf).iterdir():
        os.utime(path, (began + 60, began + 60))
    begun = parts.files(running.agent).new_conversations
    assert list(begun(running, FileHeadCache())) == [ONE]
    assert sorted(begun(running._replace(started=0.0), FileHeadCache())) == [TWO, ONE]
    assert begun(running._replace(started=began + 3600), FileHeadCache()) == {}
