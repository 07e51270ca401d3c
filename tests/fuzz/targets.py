"""Every reader of foreign bytes: how it is called, what it may raise, and examples of what it reads."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dogwatch.agents import box, goodbye, reader, sight
from dogwatch.formats import (
    beads,
    breakers,
    case,
    colours,
    dependencies,
    durations,
    environment,
    events,
    evidence,
    hooks,
    mail,
    mqtt,
    outbox,
    program_status,
    registry,
    reported,
    sentinel,
    settings,
    source_records,
    sprint,
    step_lines,
    steps,
    story_file,
    targets,
    taskdir,
    templates,
    timeline,
    tmux,
    typing_text,
    typing_tmux,
    until,
    verifiers,
    watchdogs,
    watches,
)
from dogwatch.formats.control import ControlMode
from dogwatch.formats.hook_turns import turn
from dogwatch.formats.transcripts import statefile
from dogwatch.formats.transcripts.agy import Agy
from dogwatch.formats.transcripts.claude import Claude
from dogwatch.formats.transcripts.clock import clock
from dogwatch.formats.transcripts.codex import Codex
from dogwatch.formats.transcripts.gemini import Gemini
from dogwatch.formats.transcripts.opencode import OpenCode
from dogwatch.formats.transcripts.qwen import Qwen
from dogwatch.formats.transcripts.story import Story, until_in
from dogwatch.model.errors import DogwatchError, FormatError
from dogwatch.model.registry import Add, Remove, Set
from dogwatch.model.session import Pane, Running, Sighting
from dogwatch.model.tracking import TrackerError
from dogwatch.model.turns import SessionMemory
from dogwatch.model.watching import Watch
from dogwatch.store import detectors
from dogwatch.terminal.program_status import StatusStream
from dogwatch.terminal.transcript import Transcript

GOLDENS = Path(__file__).parents[1] / "goldens"
CORPUS = Path(__file__).with_name("corpus")
WORD = "qwertyuiop"
UTC = dt.UTC
RUNNING = Running("claude", 4711, 100, 1.0, "/p", ("claude",), {})
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
    return tuple(Path(path).read_bytes() for path in sorted(detectors.paths().values()))


known_agents = cache(detectors.load_all)


def screen(data: bytes) -> None:
    """A screen with colours: regions, rules, input box, farewell and text for people, by every agent's file."""
    rows, styles = colours.split(tuple(text(data).split("\n")[:200]))
    colours.undimmed(tuple(text(data).split("\n")[:200]))
    for detector in known_agents():
        seen = Sighting(detector.agent, PANE, rows, (), styles=styles)
        sight.ask(detector, seen)
        box.read(detector, rows)
        goodbye.is_said(detector, rows, (0, 0))
    clock(rows)


def story(make: type[Story]) -> Callable[[bytes], object]:
    def read(data: bytes) -> object:
        told = make()
        for line in data.split(b"\n"):
            told.take(line)
        return told.words()

    return read


def control(data: bytes) -> None:
    stream = ControlMode()
    stream.expect(WORD)
    for at in range(0, len(data), 7):
        stream.feed(data[at : at + 7])


def terminal(data: bytes) -> None:
    written: list[str] = []
    model = Transcript(40, 6, written.append)
    StatusStream().feed(data)
    for at in range(0, len(data), 11):
        model.feed(data[at : at + 11], 0.0)
    model.resize(20, 3)
    model.finish()


def yaml_edits(data: bytes) -> None:
    found = registry.read(text(data))
    for row in found.rows[:2]:
        registry.apply(text(data), [Set(row.at, {"status": "terminated", "pane.pid": 7, "note": "x: y"})])
        registry.apply(text(data), [Remove(row.at)])
    registry.apply(text(data), [Add("new", {"status": "active"})])


def hook_lines(data: bytes) -> None:
    found = []
    for line in text(data).split("\n"):
        try:
            event = hooks.event(line)
        except FormatError:
            continue
        if event is not None:
            found.append(event)
    turn(found)
    hooks.payload(text(data)[:2000], text(data)[-500:])


def each_line(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: [read(line) for line in text(data).split("\n")]


def steps_of(data: bytes) -> None:
    rows = step_lines.bare(steps.lines(text(data)))
    for sign in (
        step_lines.tests, step_lines.build, step_lines.story, step_lines.tests_added, step_lines.coverage,
        step_lines.issues, step_lines.fixed, step_lines.retrospective, step_lines.broke_off,
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
WATCH = watches.encode(Watch("1a", "boot", (7, 8), 1.5, 2.5, (60.0, 30.0), "final", 3, (9, 10), MEMORY)).encode()
LISTS = {name: ["a"] for name in watchdogs.LISTS}
WATCHDOG = json.dumps(
    {"told": LISTS, "at": 1.0, "sent": [0.5], "repeats": 1, "closed": 2, "unread": False, "process": "p"}
).encode()

TARGETS: dict[str, Target] = {
    "agent-file": Target(lambda data: reader.read(text(data), "x.toml"), agent_files(), TEXTS),
    "beads": Target(lambda data: beads.work(text(data), "x", 1.0), (ISSUE, ISSUE * 2), (TrackerError,)),
    "beads-answer": Target(
        lambda data: beads.answer(text(data), "", "br list"), (b"[" + ISSUE + b"]",), (TrackerError,)
    ),
    "beat": Target(of_text(sentinel.beat), goldens("formats/v1/*.beat"), TEXTS),
    "breaker-lines": Target(breakers.lines, (b'{"schema":1,"at":1.5,"what":"start","run":"r","name":"n"}\n',)),
    "breaker-bookmark": Target(of_text(breakers.bookmark), (b"{}",), TEXTS),
    "case": Target(lambda data: case.sighting("claude", "a\nb", text(data), "x"), (json.dumps(FACTS).encode(),), TEXTS),
    "control": Target(control, (b"%begin 1 2 0\n" + SURVEY + b"%end 1 2 0\n%exit\n" + WORD.encode() + b"=\n",)),
    "dependencies": Target(of_text(dependencies.declared), (PYPROJECT,), TEXTS),
    "durations": Target(of_text(durations.parse), (b"10m", b"1h30m", b"2.5s"), (DogwatchError,)),
    "environment": Target(
        lambda data: (
            environment.config(text(data)),
            environment.activates(text(data)),
            environment.redirects(text(data)),
            environment.editable(text(data)),
            environment.search_paths(text(data)),
            environment.interpreter(text(data), "/p"),
            environment.calls(text(data)),
        ),
        (
            b"home = /usr/bin\nversion = 3.11.7\n",
            b"#!/p/bin/python\n",
            b"MAPPING: dict = {'a': '/p/a'}\n",
            b'{"url": "file:///p", "dir_info": {"editable": true}}',
        ),
        TEXTS,
    ),
    "event": Target(events.parts, SPOOLED),
    "evidence": Target(evidence.line, SPOOLED, TEXTS),
    "hooks": Target(hook_lines, (HOOK, HOOK * 2)),
    "mail": Target(of_text(mail.decode), (MAIL,), TEXTS),
    "mqtt": Target(
        lambda data: mqtt.read("dogwatch/h/p/n/events", data, "dogwatch"),
        (b'{"schema":1,"host":"h","project":"p","name":"n","run":"r","event":"ended","at":1.0,"state":"completed"}',),
    ),
    "outbox-change": Target(of_text(outbox.change), (b'{"schema":1}',), TEXTS),
    "outbox-notice": Target(of_text(outbox.notice), (b'{"schema":1}',), TEXTS),
    "outbox-told": Target(of_text(outbox.told), (b'{"schema":1}',), TEXTS),
    "pid": Target(of_text(sentinel.pid), (b"4711\n", b" 1"), TEXTS),
    "program-status": Target(
        lambda data: program_status.fold(program_status.read(text(data)), 0.0),
        (b'{"at":1,"up":2,"schema":1,"reader":[1,2],"boot":"b"}\n{"at":1,"up":2,"state":"working","id":"x"}\n',),
        TEXTS,
    ),
    "record": Target(of_text(sentinel.record), goldens("formats/v1/*.json"), TEXTS),
    "registry": Target(yaml_edits, (REGISTRY,), (DogwatchError,)),
    "reported": Target(of_text(reported.read), (b"{}", b'{"schema":1,"drifts":{"a":"b"}}'), TEXTS),
    "requirements": Target(of_text(dependencies.required), (b"a>=1\n-r other.txt\nb[c]==2 ; x # y\n",)),
    "result": Target(of_text(sentinel.result), (b'{"a": [1, null]}',), TEXTS),
    "screen": Target(
        screen, (*goldens("agents/screens/*/*/screen.ansi.txt", 12), *goldens("agents/screens/*/*/screen.txt", 12))
    ),
    "seen": Target(of_text(sentinel.seen), goldens("formats/v1/*.seen"), TEXTS),
    "size": Target(
        lambda data: (targets.disk(text(data)), targets.in_bytes(targets.size(text(data)))),
        (b"500MB", b"1.5 GiB at /var"), (DogwatchError,),
    ),
    "address": Target(of_text(targets.address), (b"localhost:5432", b"[::1]:80"), (DogwatchError,)),
    "settings": Target(lambda data: settings.given(settings.decoded(data, "x"), "x"), (TOML, CHECKS), TEXTS),
    "source-records": Target(of_text(source_records.decode), (b'{"schema":1,"releases":[]}',), (DogwatchError,)),
    "sprint": Target(
        lambda data: (sprint.find(text(data), "1.1"), sprint.stories(text(data)), sprint.of_epic(text(data), "1")),
        (SPRINT,),
    ),
    "statefile": Target(
        lambda data: statefile.read(data, RUNNING),
        (b'{"pid":4711,"procStart":"100","status":"busy","sessionId":"a"}',),
        TEXTS,
    ),
    "step-answer": Target(
        lambda data: [steps.read(text(data), step) for step in ("dev", "create", "review")],
        (b'```json\n{"status": "SUCCESS", "summary": "x", "next_action": "proceed"}\n```',),
        TEXTS,
    ),
    "step-log": Target(steps_of, (b"12 passed, 1 failed in 3s\n\x1b[1mBuild succeeded\x1b[0m\ncoverage: 81%\n",)),
    "story-file": Target(of_text(story_file.status), (b"# Story\nStatus: **Done** (today)\n",)),
    "task-manifest": Target(
        lambda data: (taskdir.manifest("t", text(data)), taskdir.merged("t", text(data), {"a": 1, "b": None})),
        (b'{"task_name":"t","started_at":"2026-06-20T15:48:27Z","retry_count":1}',),
        TEXTS,
    ),
    "task-notes": Target(lambda data: taskdir.notes(text(data), "t"), (b"{}",), TEXTS),
    "task-files": Target(
        lambda data: (taskdir.exit_code(text(data)), taskdir.moment(text(data))), (b"0\n", b"2026-06-20T15:48:27Z")
    ),
    "template": Target(of_text(templates.template), (b"say {text} '{name}'",), (DogwatchError,)),
    "terminal": Target(
        terminal, (b"\x1b[2J\x1b[Hhello\r\n\x1b[1;31mx\x1b[0m\x1b[?1049h\x1b]7501;state=working\x07\x1b[5;9r",)
    ),
    "timeline": Target(
        lambda data: list(timeline.read(text(data).split("\n"), "x")),
        goldens("agents/timelines/*.jsonl", 4, 60_000),
        TEXTS,
    ),
    "tmux": Target(lambda data: tmux.read(data, WORD), (SURVEY,)),
    "tmux-glimpse": Target(lambda data: typing_tmux.read_glimpse(data, WORD), (SURVEY,)),
    "typed-text": Target(
        lambda data: (typing_text.clean(text(data)), typing_text.is_ours(text(data), "go on", None)),
        (b"go on\n",),
        (DogwatchError,),
    ),
    "until": Target(
        lambda data: (until_in(text(data)), until.moment(text(data), 1e9, UTC, lambda _: UTC)),
        (b"resets 10:29pm (UTC)", b"try again in 3h12m", b"Nov 20th, 2026 10:33 PM", b"limit reached|1750000000"),
    ),
    "verifier": Target(
        of_text(verifiers.parse), (b"file:a", b"git:commit-since-start", b"make test"), (DogwatchError,)
    ),
    "watch": Target(of_text(watches.decode), (b'{"schema":1}', WATCH)),
    "watchdog": Target(lambda data: watchdogs.read(json.loads(data), now=1.0, wall=1.0), (WATCHDOG,), (ValueError,)),
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
