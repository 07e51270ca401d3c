"""What agents tell their hooks: lines of the spool that ``agents/hooks/hook.sh`` and OpenCode's plugin write.

Agents have their own names for the same moments; ``KINDS`` brings them together. Of a payload only some fields are
kept, and it may have lost its middle: a file that was read, a long answer.
"""

from __future__ import annotations

import json

from midwatch.core.errors import FormatError
from midwatch.core.numbers import parse_whole_number
from midwatch.core.value import Value

VERSION = "1"
FIELDS = 9
LONGEST_END = 4096
"""Characters of the end of an event; the hook keeps a thousand bytes of it."""
LONGEST = 300
"""Characters of a message that are kept."""
MOST_UP = 1e9
"""Seconds that no machine runs."""

START, PROMPT, CALL, RESULT = "start", "prompt", "call", "result"
REQUEST, ASK, ANSWER, END = "request", "ask", "answer", "end"
KINDS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT, "BeforeAgent": PROMPT,
    "PreToolUse": CALL, "BeforeTool": CALL, "tool.execute.before": CALL,
    "PostToolUse": RESULT, "PostToolUseFailure": RESULT, "PermissionDenied": RESULT, "AfterTool": RESULT,
    "tool.execute.after": RESULT,
    "PreModelRequest": REQUEST, "BeforeModel": REQUEST, "PreCompact": REQUEST, "PostCompact": REQUEST,
    "PermissionRequest": ASK, "Elicitation": ASK, "permission.asked": ASK, "question.asked": ASK,
    "ElicitationResult": ANSWER, "permission.replied": ANSWER, "question.replied": ANSWER, "question.rejected": ANSWER,
    "Stop": END, "StopFailure": END, "Interrupt": END, "AfterAgent": END, "SessionEnd": END, "session.idle": END,
    "agent-turn-complete": END,
}  # fmt: skip
"""Events that say something of the turn. Asking the model again means that every tool has been dealt with."""
STATUS = {"busy": REQUEST, "retry": REQUEST, "idle": END}
"""The same for `session.status`."""
NOTICES = {"permission_prompt", "elicitation_dialog", "ToolPermission"}
"""Notifications of a question that is open; others remind of what has been told, or tell nothing of the turn."""
LIMITS = {"quota_auto_resume_fired": PROMPT, "quota_auto_resume_stale": END}
"""Those of a plan's limit that has ended: Claude Code continues by itself, or a person must press Enter.

That it will not continue (`quota_auto_resume_disabled`) leaves the limit as it is."""
HIDDEN = "Generate a concise, single-line task title"
"""Codex has a second conversation beside the one on the screen, to find a title for it. Its prompt begins so."""

WORDS = {
    "tool": ("tool_name",),
    "tool_id": ("tool_use_id",),
    "notification": ("notification_type",),
    "reason": ("reason", "source", "trigger"),
    "error": ("error",),
    "permission_mode": ("permission_mode",),
    "transcript": ("transcript_path",),
    "cwd": ("cwd",),
    "status": ("status",),
    "retry_attempt": ("retry_attempt",),
    "retry_next": ("retry_next",),
    "message": ("message",),
}


class HookEvent(Value):
    """One call of a hook."""

    agent: str
    name: str
    """As the agent names it."""
    conversation: str
    child: str
    """The sub-agent that it happened in; empty for the conversation itself."""
    pane: str
    server: str
    """Path of the tmux server's socket."""
    pid: int
    """Who called the hook: the agent, a shell of its, or a daemon that serves several panes."""
    boot: str
    up: float
    """Seconds between boot and the call."""
    words: dict[str, str]

    @property
    def kind(self) -> str:
        """What it says of the turn; empty for nothing."""
        if self.name == "session.status":
            return STATUS.get(self.words.get("status", ""), "")
        if self.name == "Notification":
            notice = self.words.get("notification", "")
            return ASK if notice in NOTICES else LIMITS.get(notice, "")
        if self.name == "SessionStart" and self.words.get("reason") == "compact":
            return ""
        return KINDS.get(self.name, "")


# Lines ----------------------------------------------------------------------------------------------------------


def parse_event(line: str) -> HookEvent | None:
    """Read a line of the spool; None for one of a conversation that nobody sees. Raises FormatError."""
    parts = line.split("\t", FIELDS - 1)
    if len(parts) != FIELDS or parts[0] != VERSION:
        raise FormatError(f"this is no line of a hook's spool: {line[:20]!r}")
    _, agent, pane, tmux, pid, boot, up, end, start = parts
    found = parse_payload(start, end)
    name = found.get("hook_event_name") or found.get("type")
    if not isinstance(name, str) or not agent or (caller := parse_whole_number(pid)) is None:
        raise FormatError(f"a hook of {agent[:20]!r} was called without saying for what")
    asked = found.get("input-messages")
    if isinstance(asked, list) and asked and str(asked[-1]).startswith(HIDDEN):
        return None
    return HookEvent(
        agent=agent,
        name=name,
        conversation=_to_text(found.get("session_id") or found.get("thread-id")),
        child=_to_text(found.get("agent_id")),
        pane=pane,
        server=tmux.rsplit(",", 2)[0],
        pid=caller,
        boot=boot,
        up=_to_number(up),
        words=_collect_texts(name, found),
    )


def parse_payload(start: str, end: str = "") -> dict[str, object]:
    """The fields of a JSON object that may have lost its middle, as far as they are whole."""
    try:
        found = json.loads(start)
    except (ValueError, RecursionError):
        return _leading_fields(start) | (_trailing_fields(end) if len(end) <= LONGEST_END else {})
    return found if isinstance(found, dict) else {}


def _leading_fields(text: str) -> dict[str, object]:
    decode = json.JSONDecoder().raw_decode
    found: dict[str, object] = {}
    at = text.find("{") + 1
    try:
        while True:
            key, at = decode(text, _skip_blanks(text, at))
            at = _skip_blanks(text, at)
            if text[at] != ":" or not isinstance(key, str):
                return found
            value, at = decode(text, _skip_blanks(text, at + 1))
            at = _skip_blanks(text, at) + 1  # an error at the end: a number there may have lost digits
            found[key] = value
    except (ValueError, IndexError, RecursionError):
        return found


def _trailing_fields(text: str) -> dict[str, object]:
    """From the first comma on behind which whole fields and the end of the object stand."""
    at = text.find(",")
    while at >= 0:
        try:
            found = json.loads("{" + text[at + 1 :])
        except (ValueError, RecursionError):
            at = text.find(",", at + 1)
            continue
        return found if isinstance(found, dict) else {}
    return {}


def _skip_blanks(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _collect_texts(name: str, found: dict[str, object]) -> dict[str, str]:
    words = {word: text for word, keys in WORDS.items() if (text := _first_text(found, keys))}
    if name == "StopFailure" and "message" not in words:
        words["message"] = _to_text(found.get("last_assistant_message"))
    if "message" in words:
        words["message"] = words["message"][:LONGEST]
    tasks = found.get("background_tasks")
    if isinstance(tasks, list):
        words["background"] = str(len(tasks))
    return words


def _first_text(found: dict[str, object], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := _to_text(found.get(key)))), "")


def _to_text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)


def _to_number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return 0.0
    return found if 0.0 <= found < MOST_UP else 0.0


def quote_word(text: str) -> str:
    """One word of a shell's command line."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def hook_command(script: str, spool: str, agent: str) -> str:
    """What to write into an agent's settings as the command of a hook.

    With `exec`, so that the shell which runs it becomes the hook, and the hook's parent is the agent.
    """
    return f"exec /bin/sh {quote_word(script)} {quote_word(spool)} {quote_word(agent)}"


def hook_arguments(script: str, spool: str, agent: str) -> list[str]:
    """The same for settings that want a list, to which the agent adds the payload (Codex: `notify`)."""
    return ["/bin/sh", script, spool, agent]


def plugin_source(source: str, spool: str) -> str:
    """The text of OpenCode's plugin for a spool."""
    return source.replace('"SPOOL"', json.dumps(spool))
