"""Anthropic's Messages: Claude Code."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from tests.lab.server import script
from tests.lab.server.dialect import Asked, Call, Dialect, Json, Plan, Refusal, frame, last_words, token

_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
}  # fmt: skip
_MESSAGES = {
    401: "invalid x-api-key",
    429: "This request would exceed your account's rate limit. Please try again later.",
    500: "Internal server error",
    529: "Overloaded",
}
_UNIFIED = "anthropic-ratelimit-unified"


class Anthropic(Dialect):
    name = "anthropic"
    keep_alive = frame({"type": "ping"}, "ping")

    def __init__(self, body: Json, path: str) -> None:
        super().__init__(body, path)
        self._content: list[Json] = []
        self._open = False

    def read(self) -> Asked:
        prompt, step = "", 0
        for message in self.body.get("messages") or []:
            if message.get("role") == "user":
                words, result = _spoken(message.get("content"))
                step += result
                # Words beside a tool result are a new prompt only when they carry a script: reminders come there too.
                if words.strip() and (not result or script.scripted(words)):
                    prompt, step = words, 0
        tools = tuple(str(tool.get("name")) for tool in self.body.get("tools") or [])
        return Asked(prompt, step, tools, bool(self.body.get("stream")), str(self.body.get("model")))

    def aside(self) -> str:
        if "json" in json.dumps(self.body).lower():
            return json.dumps({"title": "Fake session title", "isNewTopic": True, "branch": "claude/fake"})
        return "Fake aux reply"

    def begin(self) -> bytes:
        message = self._message() | {"content": [], "stop_reason": None}
        return frame({"type": "message_start", "message": message}, "message_start") + self.keep_alive

    def think(self, words: str) -> bytes:
        opening = self._block({"type": "thinking", "thinking": "", "signature": ""})
        self._content[-1]["thinking"] += words
        return opening + self._delta({"type": "thinking_delta", "thinking": words})

    def text(self, words: str) -> bytes:
        opening = self._block({"type": "text", "text": ""})
        self._content[-1]["text"] += words
        return opening + self._delta({"type": "text_delta", "text": words})

    def call(self, call: Call) -> bytes:
        block = {"type": "tool_use", "id": token("toolu_"), "name": call.name, "input": {}}
        opening = self._close() + self._block(block)
        self._content[-1]["input"] = call.arguments
        return opening + self._delta({"type": "input_json_delta", "partial_json": json.dumps(call.arguments)})

    def fail(self, kind: str) -> bytes:
        return frame({"type": "error", "error": {"type": kind, "message": "fake in-stream error"}}, "error")

    def end(self) -> bytes:
        delta = {"stop_reason": self._message()["stop_reason"], "stop_sequence": None}
        said = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 42}}
        return self._close() + frame(said, "message_delta") + frame({"type": "message_stop"}, "message_stop")

    def whole(self) -> Json:
        return self._message()

    def _message(self) -> Json:
        calls = any(block["type"] == "tool_use" for block in self._content)
        return {
            "id": token("msg_"), "type": "message", "role": "assistant", "model": self.asked.model,
            "content": self._content, "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
            "usage": {
                "input_tokens": 1000, "cache_creation_input_tokens": 2000, "cache_read_input_tokens": 17000,
                "output_tokens": 42,
            },
        }  # fmt: skip

    def _block(self, block: Json) -> bytes:
        if self._open and self._content[-1]["type"] == block["type"]:
            return b""
        closing = self._close()
        self._open = True
        self._content.append(dict(block))
        start = {"type": "content_block_start", "index": len(self._content) - 1, "content_block": block}
        return closing + frame(start, "content_block_start")

    def _delta(self, delta: Json) -> bytes:
        said = {"type": "content_block_delta", "index": len(self._content) - 1, "delta": delta}
        return frame(said, "content_block_delta")

    def _close(self) -> bytes:
        if not self._open:
            return b""
        self._open = False
        signature = b""
        if self._content[-1]["type"] == "thinking":
            self._content[-1]["signature"] = "ZmFrZQ=="
            signature = self._delta({"type": "signature_delta", "signature": "ZmFrZQ=="})
        stop = {"type": "content_block_stop", "index": len(self._content) - 1}
        return signature + frame(stop, "content_block_stop")

    def refusal(self, status: int, retry_after: int | None = None) -> Refusal:
        error = {"type": _TYPES.get(status, "api_error"), "message": _MESSAGES.get(status, f"fake error {status}")}
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        return Refusal(status, {"type": "error", "error": error, "request_id": "req_fake"}, headers)

    def rate_limit(self, seconds: int, now: float) -> Refusal:
        plain = self.refusal(429, seconds)
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + seconds))
        kind = "anthropic-ratelimit-requests"
        headers = {f"{kind}-limit": "50", f"{kind}-remaining": "0", f"{kind}-reset": ends}
        return plain._replace(headers=plain.headers | headers)

    def limit(self, plan: Plan, now: float) -> Refusal:
        plain = self.refusal(429, int(plan.resets_at - now))
        over = {
            f"{_UNIFIED}-overage-status": "rejected", f"{_UNIFIED}-overage-disabled-reason": "org_level_disabled",
            "x-should-retry": "false",
        }  # fmt: skip
        return plain._replace(headers=plain.headers | self.plan_headers(plan) | over)

    def plan_headers(self, plan: Plan) -> dict[str, str]:
        """The plan has two windows; the one that is not spoken of is at 40 percent."""
        full = plan.percent >= 100
        status = "rejected" if full else "allowed"
        spoken, silent = ("7d", "5h") if plan.weekly else ("5h", "7d")
        headers = {
            "-status": "rejected" if full else "allowed_warning" if plan.percent >= 80 else "allowed",
            "-reset": str(plan.resets_at),
            "-representative-claim": "seven_day" if plan.weekly else "five_hour",
            f"-{spoken}-status": status,
            f"-{spoken}-reset": str(plan.resets_at),
            f"-{spoken}-utilization": str(plan.percent / 100),
            f"-{silent}-status": "allowed",
            f"-{silent}-reset": str(plan.resets_at + (-3600 if plan.weekly else 86400)),
            f"-{silent}-utilization": "0.4",
        }
        if 90 <= plan.percent < 100:
            headers[f"-{spoken}-surpassed-threshold"] = "0.9"
        return {_UNIFIED + key: value for key, value in headers.items()}

    def shell(self, command: str, *, escalated: bool) -> Call:  # noqa: ARG002
        return Call("Bash", {"command": command, "description": "Run a test command"})

    def write(self, path: str, content: str) -> Call:
        return Call("Write", {"file_path": path, "content": content})

    def ask(self, question: str, options: Sequence[str]) -> Call:
        choices = [{"label": option, "description": f"Choose {option}"} for option in options]
        asked = {"question": question, "header": "Choice", "options": choices, "multiSelect": False}
        return Call("AskUserQuestion", {"questions": [asked]})


def _spoken(content: Any) -> tuple[str, bool]:
    """The last words of a user message, and whether it carries a tool's result."""
    blocks = content if isinstance(content, list) else []
    texts = [block for block in blocks if block.get("type") == "text"]
    spoken = content if isinstance(content, str) else last_words(texts)
    return spoken, any(block.get("type") == "tool_result" for block in blocks)
