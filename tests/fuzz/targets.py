"""Every reader of foreign bytes: how it is called, what it may raise, and examples of what it reads."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from midwatch.agents import catalog, definition_file, exit_message
from midwatch.agents import evidence as agents_evidence
from midwatch.agents.agy.transcript import Agy
from midwatch.agents.claude import state_file
from midwatch.agents.claude.transcript import Claude
from midwatch.agents.codex.transcript import Codex
from midwatch.agents.gemini.transcript import Gemini
from midwatch.agents.hooks import events as hooks_events
from midwatch.agents.hooks.turns import derive_turn
from midwatch.agents.opencode.transcript import OpenCode
from midwatch.agents.program_status import codec as program_status_codec
from midwatch.agents.qwen.transcript import Qwen
from midwatch.agents.source_checks import codec as source_checks_codec
from midwatch.agents.statusline_clock import find_clock
from midwatch.agents.transcripts.transcript_state import TranscriptState, find_limit_end
from midwatch.agents.turn_model import SessionMemory
from midwatch.breaker import codec as breaker_codec
from midwatch.config.codec import command_template, settings_file
from midwatch.core import check_targets, durations
from midwatch.core.errors import FormatError, MidwatchError
from midwatch.core.pane_model import Observation, Pane, RunningAgent
from midwatch.integrations.mqtt.codec import messages
from midwatch.jobs.codec import monitor_state_file, sentinel
from midwatch.jobs.monitor_state import MonitorState
from midwatch.journal import codec as journal_codec
from midwatch.mail import codec as mail_codec
from midwatch.notifications.codec import outbox_file
from midwatch.preflight.codec import dependencies, virtualenv
from midwatch.registry.codec import reconcile_state, registry_file
from midwatch.registry.model import AddRow, RemoveRow, SetFields
from midwatch.replay.codec import event_evidence, screen_case
from midwatch.sessions.codec import limit_time, recording
from midwatch.sessions.prompting import input_box
from midwatch.sessions.prompting.codec import text as sessions_text
from midwatch.stories.codec import log_patterns, model_answer, story_file
from midwatch.swarm.codec import watchdog_state
from midwatch.taskdir import codec as taskdir_codec
from midwatch.terminal.program_status import StatusStream
from midwatch.terminal.transcript import ScreenTranscript
from midwatch.tmux.codec import commands, guarded_input, sgr
from midwatch.tmux.codec.control_mode import ControlModeParser
from midwatch.trackers.codec import beads, bmad
from midwatch.trackers.model import TrackerError
from midwatch.verification import codec as verification_codec

GOLDENS = Path(__file__).parents[1] / "goldens"
CORPUS = Path(__file__).with_name("corpus")
WORD = "qwertyuiop"
UTC = dt.UTC
RUNNING = RunningAgent("claude", 4711, 100, 1.0, "/p", ("claude",), {})
PANE = Pane((), "%1", "s", 1, "t", "claude", "/p", 80, 24, 0, 0, True, False, False, "", 0)


class Target(NamedTuple):
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    raises: tuple[type[Exception], ...] = ()


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def of_text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(text(data))


def goldens(pattern: str, most: int = 6, size: int = 20_000) -> tuple[bytes, ...]:
    found = sorted(path for path in GOLDENS.glob(pattern) if path.is_file() and path.stat().st_size <= size)
    return tuple(path.read_bytes() for path in found[:: max(1, len(found) // most)][:most])


def agent_files() -> tuple[bytes, ...]:
    return tuple(Path(path).read_bytes() for path in sorted(catalog.definition_paths().values()))


known_agents = cache(catalog.load_all)


def screen(data: bytes) -> None:
    """A screen with colours: regions, rules, input box, farewell and text for people, by every agent's file."""
    rows, styles = sgr.split_styles(tuple(text(data).split("\n")[:200]))
    sgr.blank_dim_text(tuple(text(data).split("\n")[:200]))
    for detector in known_agents():
        seen = Observation(detector.agent, PANE, rows, (), styles=styles)
        agents_evidence.read_sources(detector, seen)
        input_box.read_input_box(detector, rows)
        exit_message.has_exit_message(detector, rows, (0, 0))
    find_clock(rows)


def story(make: type[TranscriptState]) -> Callable[[bytes], object]:
    def read(data: bytes) -> object:
        told = make()
        for line in data.split(b"\n"):
            told.take(line)
        return told.words()

    return read


def control(data: bytes) -> None:
    stream = ControlModeParser()
    stream.expect(WORD)
    for at in range(0, len(data), 7):
        stream.feed(data[at : at + 7])


def terminal(data: bytes) -> None:
    written: list[str] = []
    model = ScreenTranscript(40, 6, written.append)
    StatusStream().feed(data)
    for at in range(0, len(data), 11):
        model.feed(data[at : at + 11], 0.0)
    model.resize(20, 3)
    model.finish()


def yaml_edits(data: bytes) -> None:
    found = registry_file.parse_registry(text(data))
    for row in found.rows[:2]:
        registry_file.apply_changes(
            text(data), [SetFields(row.at, {"status": "terminated", "pane.pid": 7, "note": "x: y"})]
        )
        registry_file.apply_changes(text(data), [RemoveRow(row.at)])
    registry_file.apply_changes(text(data), [AddRow("new", {"status": "active"})])


def hook_lines(data: bytes) -> None:
    found = []
    for line in text(data).split("\n"):
        try:
            event = hooks_events.parse_event(line)
        except FormatError:
            continue
        if event is not None:
            found.append(event)
    derive_turn(found)
    hooks_events.parse_payload(text(data)[:2000], text(data)[-500:])


def each_line(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: [read(line) for line in text(data).split("\n")]


def steps_of(data: bytes) -> None:
    rows = log_patterns.strip_ornaments(model_answer.last_log_lines(text(data)))
    for sign in (
        log_patterns.find_test_result, log_patterns.find_build_result, log_patterns.find_story_file,
        log_patterns.find_added_tests, log_patterns.find_coverage,
        log_patterns.count_issues, log_patterns.find_fixed, log_patterns.find_retrospective,
        log_patterns.find_break_off,
    ):  # fmt: skip
        sign(rows)


TEXTS = (FormatError,)
FACTS = {"pane_id": "%1", "tree": ["1 stat=S+ comm=sh args=sh", "  2 stat=R+ comm=claude args=claude"]}
REGISTRY = b"""# mine
version: 1
sessions:
  - name: lab-creator-claude   # first
    status: active
    tmux: {session: lab, pane: "%3"}
    agent: claude
    claude_session_id_own: 0b7f
  - name: other
    status: terminated
    note: |
      two
      lines
"""
ODD_REGISTRY = b"""x: &a {name: a, status: running, pane: {pid: !!int 7, cmd: !!str sh}}
'sessions':
  a: {<<: *a, host: h}
  ? "b"
  : {<<: [*a, {agent: claude}], terminated_at: 2026-06-20}
"""
SPRINT = b"development_status:\n  epic-1: in-progress\n  1-1-login: done\n  1-2-logout: ready-for-dev # soon\n"
ISSUE = (
    b'{"id":"bd-a","title":"Do it","status":"open","priority":1,"issue_type":"task",'
    b'"created_at":"2026-06-20T15:48:27Z","dependencies":[{"issue_id":"bd-a","depends_on_id":"bd-b","type":"blocks"}]}\n'
)
HOOK = b'1\tclaude\t%3\t/tmp/t/default,1,0\t77\tboot\t123.4\t\t{"hook_event_name":"Stop","session_id":"a","cwd":"/p"}\n'
SURVEY = (
    f"{WORD}S3.3a,1,2\n{WORD}P%1,@1,77,80,2,0,0,1,0,0,,,5,/dev/pts/1{WORD}title{WORD}sh{WORD}/p{WORD}s{WORD}.\n"
    f"{WORD}C1\nrow\nrow\n{WORD}E\n"
).encode()
TOML = b'[run]\nstale = "10m"\nretries = 2\n[notify]\ncommand = "say {text}"\nurls = ["ntfy://x"]\n'
CHECKS = b'[[check]]\ndisk = "1GB"\n[[check]]\ntcp = "localhost:80"\ntimeout = 2\n'
PYPROJECT = (
    b'[project]\ndependencies = ["a>=1; python_version>\'3\'", "b[c]"]\n'
    b'[dependency-groups]\ndev = ["d", {include-group = "e"}]\n'
)
CLAUDE = (
    b'{"type":"assistant","timestamp":"2026-06-20T15:48:27Z","message":{"id":"m","content":[{"type":"tool_use",'
    b'"id":"t","name":"Bash"}],"usage":{"output_tokens":3}}}\n{"type":"user","message":{"content":"go"}}'
)
MAIL = b"---\nid: abcdef\nfrom: a\nto: b\nsubject: s\nat: 2026-06-20T15:48:27Z\n---\n\nhi\n"
SPOOLED = tuple(line for spool in goldens("formats/v1/*.jsonl") for line in spool.split(b"\n")[:3])

TOOLS = (0.1, 2.0, 3.0, 4.0)
MEMORY = SessionMemory("working", "tool", 12.5, ("idle", 13.0), {"screen": ("working", 1.0)}, {}, TOOLS, 3.0)
WATCH = monitor_state_file.encode_state(
    MonitorState("1a", "boot", (7, 8), 1.5, 2.5, (60.0, 30.0), "final", 3, (9, 10), MEMORY)
).encode()
LISTS = {name: ["a"] for name in watchdog_state.LISTS}
WATCHDOG = json.dumps(
    {"told": LISTS, "at": 1.0, "sent": [0.5], "repeats": 1, "closed": 2, "unread": False, "process": "p"}
).encode()

TARGETS: dict[str, Target] = {
    "agent-file": Target(lambda data: definition_file.read(text(data), "x.toml"), agent_files(), TEXTS),
    "beads": Target(lambda data: beads.parse_work(text(data), "x", 1.0), (ISSUE, ISSUE * 2), (TrackerError,)),
    "beads-answer": Target(
        lambda data: beads.parse_answer(text(data), "", "br list"), (b"[" + ISSUE + b"]",), (TrackerError,)
    ),
    "beat": Target(of_text(sentinel.decode_beat), goldens("formats/v1/*.beat"), TEXTS),
    "breaker-lines": Target(
        breaker_codec.decode_lines, (b'{"schema":1,"at":1.5,"what":"start","run":"r","name":"n"}\n',)
    ),
    "breaker-bookmark": Target(of_text(breaker_codec.decode_bookmark), (b"{}",), TEXTS),
    "case": Target(
        lambda data: screen_case.read_observation("claude", "a\nb", text(data), "x"),
        (json.dumps(FACTS).encode(),),
        TEXTS,
    ),
    "control": Target(control, (b"%begin 1 2 0\n" + SURVEY + b"%end 1 2 0\n%exit\n" + WORD.encode() + b"=\n",)),
    "dependencies": Target(of_text(dependencies.parse_pyproject), (PYPROJECT,), TEXTS),
    "durations": Target(of_text(durations.parse), (b"10m", b"1h30m", b"2.5s"), (MidwatchError,)),
    "environment": Target(
        lambda data: (
            virtualenv.parse_config(text(data)),
            virtualenv.activated_directory(text(data)),
            virtualenv.parse_redirects(text(data)),
            virtualenv.editable_directory(text(data)),
            virtualenv.parse_search_paths(text(data)),
            virtualenv.script_interpreter(text(data), "/p"),
            virtualenv.called_module(text(data)),
        ),
        (
            b"home = /usr/bin\nversion = 3.11.7\n",
            b"#!/p/bin/python\n",
            b"MAPPING: dict = {'a': '/p/a'}\n",
            b'{"url": "file:///p", "dir_info": {"editable": true}}',
        ),
        TEXTS,
    ),
    "event": Target(journal_codec.split_line, SPOOLED),
    "evidence": Target(event_evidence.decode_line, SPOOLED, TEXTS),
    "hooks": Target(hook_lines, (HOOK, HOOK * 2)),
    "mail": Target(of_text(mail_codec.decode_mail), (MAIL,), TEXTS),
    "mqtt": Target(
        lambda data: messages.decode_event("midwatch/h/p/n/events", data, "midwatch"),
        (b'{"schema":1,"host":"h","project":"p","name":"n","run":"r","event":"ended","at":1.0,"state":"completed"}',),
    ),
    "outbox-change": Target(of_text(outbox_file.decode_change), (b'{"schema":1}',), TEXTS),
    "outbox-notice": Target(of_text(outbox_file.decode_notification), (b'{"schema":1}',), TEXTS),
    "outbox-told": Target(of_text(outbox_file.decode_state), (b'{"schema":1}',), TEXTS),
    "pid": Target(of_text(sentinel.decode_pid), (b"4711\n", b" 1"), TEXTS),
    "program-status": Target(
        lambda data: program_status_codec.combine_reports(program_status_codec.read(text(data)), 0.0),
        (b'{"at":1,"up":2,"schema":1,"reader":[1,2],"boot":"b"}\n{"at":1,"up":2,"state":"working","id":"x"}\n',),
        TEXTS,
    ),
    "record": Target(of_text(sentinel.decode_record), goldens("formats/v1/*.json"), TEXTS),
    "registry": Target(yaml_edits, (REGISTRY, ODD_REGISTRY), (MidwatchError,)),
    "reported": Target(of_text(reconcile_state.decode_state), (b"{}", b'{"schema":1,"drifts":{"a":"b"}}'), TEXTS),
    "requirements": Target(of_text(dependencies.parse_requirements), (b"a>=1\n-r other.txt\nb[c]==2 ; x # y\n",)),
    "result": Target(of_text(sentinel.decode_result), (b'{"a": [1, null]}',), TEXTS),
    "screen": Target(
        screen, (*goldens("agents/screens/*/*/screen.ansi.txt", 12), *goldens("agents/screens/*/*/screen.txt", 12))
    ),
    "seen": Target(of_text(sentinel.decode_progress), goldens("formats/v1/*.seen"), TEXTS),
    "size": Target(
        lambda data: (
            check_targets.parse_disk(text(data)),
            check_targets.format_bytes(check_targets.parse_size(text(data))),
        ),
        (b"500MB", b"1.5 GiB at /var"),
        (MidwatchError,),
    ),
    "address": Target(of_text(check_targets.parse_address), (b"localhost:5432", b"[::1]:80"), (MidwatchError,)),
    "settings": Target(
        lambda data: settings_file.parse_layer(settings_file.decode_text(data, "x"), "x"), (TOML, CHECKS), TEXTS
    ),
    "source-records": Target(of_text(source_checks_codec.decode), (b'{"schema":1,"releases":[]}',), (MidwatchError,)),
    "sprint": Target(
        lambda data: (
            bmad.find_story(text(data), "1.1"),
            bmad.story_rows(text(data)),
            bmad.stories_of_epic(text(data), "1"),
        ),
        (SPRINT,),
    ),
    "statefile": Target(
        lambda data: state_file.read(data, RUNNING),
        (b'{"pid":4711,"procStart":"100","status":"busy","sessionId":"a"}',),
        TEXTS,
    ),
    "step-answer": Target(
        lambda data: [model_answer.parse_answer(text(data), step) for step in ("dev", "create", "review")],
        (b'```json\n{"status": "SUCCESS", "summary": "x", "next_action": "proceed"}\n```',),
        TEXTS,
    ),
    "step-log": Target(steps_of, (b"12 passed, 1 failed in 3s\n\x1b[1mBuild succeeded\x1b[0m\ncoverage: 81%\n",)),
    "story-file": Target(of_text(story_file.find_status), (b"# Story\nStatus: **Done** (today)\n",)),
    "task-manifest": Target(
        lambda data: (
            taskdir_codec.parse_manifest("t", text(data)),
            taskdir_codec.merge_fields("t", text(data), {"a": 1, "b": None}),
        ),
        (b'{"task_name":"t","started_at":"2026-06-20T15:48:27Z","retry_count":1}',),
        TEXTS,
    ),
    "task-notes": Target(lambda data: taskdir_codec.decode_notes(text(data), "t"), (b"{}",), TEXTS),
    "task-files": Target(
        lambda data: (taskdir_codec.parse_exit_code(text(data)), taskdir_codec.parse_time(text(data))),
        (b"0\n", b"2026-06-20T15:48:27Z"),
    ),
    "template": Target(of_text(command_template.parse_template), (b"say {text} '{name}'",), (MidwatchError,)),
    "terminal": Target(
        terminal, (b"\x1b[2J\x1b[Hhello\r\n\x1b[1;31mx\x1b[0m\x1b[?1049h\x1b]7501;state=working\x07\x1b[5;9r",)
    ),
    "timeline": Target(
        lambda data: list(recording.read_recording(text(data).split("\n"), "x")),
        goldens("agents/timelines/*.jsonl", 4, 60_000),
        TEXTS,
    ),
    "tmux": Target(lambda data: commands.read_reply(data, WORD), (SURVEY,)),
    "tmux-snapshot": Target(lambda data: guarded_input.parse_snapshot(data, WORD), (SURVEY,)),
    "typed-text": Target(
        lambda data: (sessions_text.clean_prompt(text(data)), sessions_text.is_only_in_box(text(data), "go on", None)),
        (b"go on\n",),
        (MidwatchError,),
    ),
    "until": Target(
        lambda data: (find_limit_end(text(data)), limit_time.parse_limit_end(text(data), 1e9, UTC, lambda _: UTC)),
        (b"resets 10:29pm (UTC)", b"try again in 3h12m", b"Nov 20th, 2026 10:33 PM", b"limit reached|1750000000"),
    ),
    "verifier": Target(
        of_text(verification_codec.parse_check), (b"file:a", b"git:commit-since-start", b"make test"), (MidwatchError,)
    ),
    "watch": Target(of_text(monitor_state_file.decode_state), (b'{"schema":1}', WATCH)),
    "watchdog": Target(
        lambda data: watchdog_state.decode_memory(json.loads(data), now=1.0, wall=1.0),
        (WATCHDOG,),
        (ValueError, RecursionError),
    ),
    **{
        f"transcript-{make.__name__.lower()}": Target(story(make), seeds)
        for make, seeds in (
            (Agy, (b'{"type":"user","content":"x"}',)),
            (Claude, (CLAUDE,)),
            (Codex, (b'{"timestamp":"2026-06-20T15:48:27Z","type":"event_msg","payload":{"type":"task_complete"}}',)),
            (Gemini, (b'{"type":"user","timestamp":"2026-06-20T15:48:27Z","content":"x"}',)),
            (OpenCode, (b'{"id":"m","role":"assistant","time":{"created":1}}',)),
            (Qwen, (b'{"type":"assistant","timestamp":"2026-06-20T15:48:27Z","message":{"parts":[{"text":"x"}]}}',)),
        )
    },
}


def kept(name: str) -> Iterator[bytes]:
    """Inputs that once broke a reader."""
    for path in sorted((CORPUS / name).glob("*")):
        yield path.read_bytes()


def play(name: str, data: bytes) -> None:
    """Give bytes to a reader. What it may raise is passed over; anything else comes out."""
    target = TARGETS[name]
    try:
        target.read(data)
    except target.raises:
        pass
