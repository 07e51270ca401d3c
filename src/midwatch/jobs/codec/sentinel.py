"""The files of a sentinel directory: record, seen, beat, pid, result (``docs/reference/files.md``)."""

from __future__ import annotations

from midwatch.core import json_text
from midwatch.core.causes import Cause
from midwatch.core.errors import FormatError
from midwatch.core.foreign_text import ForeignText, escape_text
from midwatch.core.job_model import (
    Adopted,
    Attempt,
    Beat,
    Breaker,
    End,
    Identity,
    PaneRef,
    ProgressSnapshot,
    ProgressSource,
    Record,
    WorkResult,
)
from midwatch.core.numbers import parse_whole_number
from midwatch.core.policy import PROGRESS_SOURCES, Policy
from midwatch.core.redaction import redact
from midwatch.core.verdict import FINAL

SCHEMA = 1
SUFFIXES = (
    "json", "pid", "heartbeat", "log", "log.1", "result", "status", "seen", "beat", "conversation", "watch", "plan",
    "limit", "ending", "output",
)  # fmt: skip
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST_PID = 1 << 22
LARGEST_NUMBER = 1e18
ENDS = (*FINAL, "stuck", "unknown")


class _Fields:
    """A JSON object whose fields are what they should be, or ValueError: a directory may be another's."""

    def __init__(self, found: object) -> None:
        if not isinstance(found, dict):
            raise ValueError(f"{found!r:.20} is not an object")  # noqa: TRY004  # one error for all that is wrong
        self.found = found

    def get(self, key: str, *kinds: type) -> object:
        value = self.found.get(key)
        if key not in self.found or not isinstance(value, kinds) or (bool not in kinds and isinstance(value, bool)):
            raise ValueError(f"{key} is {'missing' if key not in self.found else format(repr(value), '.20')}")
        return value

    def text(self, key: str) -> str:
        return str(self.get(key, str))

    def number(self, key: str) -> float:
        value = self.get(key, int, float)
        if not abs(value) <= LARGEST_NUMBER:  # type: ignore[arg-type]  # nor is that so of what is not a number
            raise ValueError(f"{key} is {value if isinstance(value, float) else 'too large'}")
        return float(value)  # type: ignore[arg-type]

    def optional(self, key: str) -> float | None:
        return None if self.found.get(key, 0) is None else self.number(key)

    def whole(self, key: str) -> int | None:
        value = self.found.get(key, "")
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or abs(value) > 1 << 16):
            raise ValueError(f"{key} is {value!r:.20}")
        return value

    def inner(self, key: str) -> _Fields:
        return _Fields(self.get(key, dict))

    def perhaps(self, key: str) -> _Fields | None:
        return None if self.get(key, dict, type(None)) is None else self.inner(key)

    def strings(self) -> dict[str, str]:
        if not all(isinstance(value, str) for value in self.found.values()):
            raise ValueError("a variable is no text")
        return self.found

    def each(self, key: str) -> list[object]:
        found = self.get(key, list)
        assert isinstance(found, list)
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        found = self.each(key)
        if not all(isinstance(item, str) for item in found):
            raise ValueError(f"{key} holds what is no text")
        return tuple(map(str, found))


def decode_record(text: str) -> Record:
    """Read ``<name>.json``. Fields that a later version added are passed over."""
    try:
        found = _load_fields(text)
        place = {key: found.text(key) for key in ("host", "boot", "pidns")}
        place["timens"] = found.text("timens") if "timens" in found.found else ""
        return Record(
            name=found.text("name"),
            run=found.text("run"),
            command=found.texts("command"),
            cwd=found.text("cwd"),
            policy=_policy_from_fields(found.inner("policy")),
            started=found.number("started"),
            started_mono=found.number("started_mono"),
            shim=_decode_identity(place, found.inner("shim")),
            work=_decode_identity(place, found.inner("work")),
            notes=tuple([ForeignText(redact(note)) for note in found.texts("notes")]),
            end=None if found.get("end", dict, type(None)) is None else _end_from_fields(found.inner("end")),
            env=found.inner("env").strings(),
            withheld=found.texts("withheld") if "withheld" in found.found else (),
            notify=found.text("notify") if "notify" in found.found else "",
            drop=found.found.get("drop") is True,
            **_later_fields(found),
        )
    except (ValueError, RecursionError) as error:
        raise FormatError(f"its record cannot be read: {_shorten_error(error)}") from error


def drop_values(text: str) -> str | None:
    """The record of a job without the values of its variables, which earlier releases wrote; None if it has none.

    A record that cannot be read is nobody's to mend here.
    """
    if '"env": {}' in text:
        return None
    try:
        import json  # noqa: PLC0415  # few records are so old

        found = json.loads(text)
        env = dict.fromkeys(found["env"], "") if found["kind"] == "job" else found["env"]
        if env == found["env"]:
            return None
        return json.dumps({**found, "env": env, "withheld": list(env)}) + "\n"
    except (ValueError, RecursionError, KeyError, TypeError):
        return None


def _later_fields(found: _Fields) -> dict[str, Any]:
    """What records of the first release do not have."""
    if "attempts" not in found.found:
        return {}
    attempts = [_Fields(each) for each in found.each("attempts")]
    breaker, adopted = found.perhaps("breaker"), found.perhaps("adopted")
    return {
        "attempt": int(found.number("attempt")),
        "attempt_mono": found.number("attempt_mono"),
        "next_mono": found.optional("next_mono"),
        "retries": int(found.number("retries")),
        "backoff_s": found.number("backoff_s"),
        "attempts": tuple(Attempt(int(each.number("attempt")), _end_from_fields(each)) for each in attempts),
        "breaker": breaker and Breaker(
            breaker.text("key"), int(breaker.number("threshold")), breaker.number("cooldown_s")
        ),
        "adopted": adopted and Adopted(
            adopted.text("dir"), adopted.text("name"), bool(adopted.get("stop", bool)), adopted.text("log")
        ),
        **_session_fields(found),
    }  # fmt: skip


def _session_fields(found: _Fields) -> dict[str, Any]:
    """What only the records of agents have."""
    pane = found.perhaps("pane")
    return {
        "kind": found.text("kind"),
        "agent": found.text("agent") if found.found.get("agent") else "",
        "pane": pane and _decode_pane(pane),
        "conversation": found.text("conversation") if found.found.get("conversation") else "",
        "again": found.text("again") if found.found.get("again") else "",
        **{key: found.texts(key) for key in ("options", "spare") if key in found.found},
        "verify": found.text("verify") if found.found.get("verify") else "",
        "since": found.number("since") if "since" in found.found else None,
    }


def _decode_pane(found: _Fields) -> PaneRef:
    """Its words become arguments of tmux: none may mean anything else there."""
    seat = PaneRef(found.texts("server"), found.text("id"), found.text("session"), found.text("life"))
    reached = len(seat.server) == len(("-S", "path")) and seat.server[0] == "-S" and seat.server[1].startswith("/")
    if not reached or seat.id[:1] != "%" or not seat.id[1:].isdecimal():
        raise ValueError("its pane is named in a way that tmux would not understand")
    return seat


def _decode_identity(place: dict[str, str], found: _Fields) -> Identity:
    number, start = found.get("pid", int), found.get("start", int)
    assert isinstance(number, int)
    assert isinstance(start, int)
    if not 1 < number < LARGEST_PID or not 0 <= start < 1 << 62:
        raise ValueError(f"pid {number!r:.20} started at {start!r:.20}")
    return Identity(pid=number, start=start, **place)


def _end_from_fields(found: _Fields) -> End:
    left = [_Fields(process) for process in found.each("left")]
    if found.text("state") not in ENDS:
        raise ValueError(f"it ended as {found.text('state')!r:.20}")
    return End(
        state=found.text("state"),  # type: ignore[arg-type]  # one of ENDS
        exit_code=found.whole("exit_code"),
        signal=found.whole("signal"),
        reason=escape_text(redact(found.text("reason"))),
        at=found.number("at"),
        elapsed_s=found.number("elapsed_s"),
        left=tuple((ForeignText(process.text("command")), int(process.number("pid"))) for process in left),
        cause=_find_cause(found),
        unsupervised=found.found.get("unsupervised") is True,
    )


def _find_cause(found: _Fields) -> Cause:
    """Why it ended. Records of earlier releases do not say so; what their other fields tell is enough."""
    if found.found.get("cause"):
        return found.text("cause")  # type: ignore[return-value]  # a word that a later version added is passed on
    if found.text("state") == "timeout":
        return "timeout"
    if found.text("state") == "stuck":
        return "no-progress"
    if found.text("state") == "stopped":
        return "stop-asked"
    if found.whole("signal"):
        return "signal"
    if found.whole("exit_code") is None:
        return "exit-unseen"
    return "not-started" if found.text("reason") and found.text("state") == "failed" else "exit"


def decode_policy(found: object) -> Policy:
    """A policy as records and events hold it. ValueError where it is none."""
    return _policy_from_fields(_Fields(found))


def decode_end(found: object) -> End:
    """An end as records and events hold it. ValueError where it is none."""
    return _end_from_fields(_Fields(found))


def _policy_from_fields(found: _Fields) -> Policy:
    return Policy(
        name=found.text("name"),
        stale_s=found.number("stale_s"),
        grace_s=found.number("grace_s"),
        timeout_s=found.optional("timeout_s"),
        heartbeat_s=found.number("heartbeat_s"),
        on_stuck=found.text("on_stuck"),
        progress=tuple(source for source in found.texts("progress") if source in PROGRESS_SOURCES),
        clock=found.text("clock") if "clock" in found.found else "life",
    )


def decode_progress(text: str) -> ProgressSnapshot:
    """Read ``<name>.seen``."""
    try:
        found = _load_fields(text)
        sources = {name: _Fields(source) for name, source in found.inner("sources").found.items()}
        return ProgressSnapshot(
            run=found.text("run"),
            boot=found.text("boot"),
            at=found.number("at"),
            stale_since=found.optional("stale_since"),
            stuck=bool(found.get("stuck", bool)),
            sources={
                k: ProgressSource(v.number("value"), v.number("at"), v.number("moved")) for k, v in sources.items()
            },
            helper=int(found.number("helper")),
            own_cpu_s=found.number("own_cpu_s"),
            own_io=found.number("own_io"),
            outlived=found.found.get("outlived") is True,
        )
    except (ValueError, RecursionError) as error:
        raise FormatError(f"its notes (.seen) cannot be read: {_shorten_error(error)}") from error


def decode_beat(text: str, run: str = "") -> Beat | None:
    """Read ``<name>.beat``; None if another run than the one meant has said it."""
    try:
        found = _load_fields(text)
        by = found.text("run") if found.found.get("run") else run  # a person may speak for the work
        note = ForeignText(redact(found.text("note")))
        return Beat(note, found.optional("progress")) if not run or by == run else None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"its last beat cannot be read: {_shorten_error(error)}") from error


def decode_pid(text: str) -> int:
    if (found := parse_whole_number(text.strip())) is None or not 1 < found < LARGEST_PID:
        raise FormatError(f"its pid file holds {text.strip()[:20]!r}, not a number that a job's process can have")
    return found


def decode_result(text: str) -> WorkResult:
    try:
        return WorkResult(valid=True, value=json_text.load_strict(text))
    except (ValueError, RecursionError):
        return WorkResult(valid=False, value=None)


def _load_fields(text: str) -> _Fields:
    found = _Fields(json_text.load(text))
    if found.number("schema") != SCHEMA:
        raise ValueError(f"schema {found.found['schema']} is not {SCHEMA}; was it written by a newer Midwatch?")
    return found


def _shorten_error(error: Exception) -> str:
    return f"{type(error).__name__} {error}"[:80]
