"""OpenAI's Responses: Codex."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.lab.server.dialect import Asked, Call, Dialect, Json, Plan, Refusal, frame, text_of, token

_TYPES = {400: "invalid_request_error", 401: "invalid_api_key", 429: "rate_limit_exceeded"}
_HEADING = "**Pondering the question**\n\n"


class Responses(Dialect):
    name = "responses"

    def __init__(self, body: Json, path: str) -> None:
        super().__init__(body, path)
        self._id = token("resp_")
        self._output: list[Json] = []
        self._open: Json | None = None
        self._number = 0

    def read(self) -> Asked:
        prompt, step = "", 0
        for item in self.body.get("input") or []:
            kind = str(item.get("type", "message"))
            if kind == "message" and item.get("role") == "user":
                words = text_of(item.get("content"))
                # What Codex tells of itself comes as user messages too, within tags; ours have marks of three.
                tagged = words.lstrip().startswith("<") and not words.lstrip().startswith("<<<")
                if not tagged and "AGENTS.md" not in words[:60]:
                    prompt, step = words, 0
            elif kind.endswith("_output"):
                step += 1
        tools = tuple(str(tool.get("name") or tool.get("type")) for tool in self.body.get("tools") or [])
        return Asked(prompt, step, tools, bool(self.body.get("stream")), str(self.body.get("model")))

    def begin(self) -> bytes:
        return self._event("response.created", response=self._response("in_progress"))

    def think(self, words: str) -> bytes:
        opening = b""
        if self._open is None or self._open["type"] != "reasoning":
            item: Json = {"id": token("rs_"), "type": "reasoning", "summary": []}
            opening = self._start(item) + self._event(
                "response.reasoning_summary_part.added", item_id=item["id"], output_index=len(self._output),
                summary_index=0, part={"type": "summary_text", "text": ""},
            )  # fmt: skip
            item["summary"] = [{"type": "summary_text", "text": ""}]
            words = _HEADING + words
        assert self._open is not None
        self._open["summary"][0]["text"] += words
        return opening + self._event(
            "response.reasoning_summary_text.delta", item_id=self._open["id"], output_index=len(self._output),
            summary_index=0, delta=words,
        )  # fmt: skip

    def text(self, words: str) -> bytes:
        opening = b""
        if self._open is None or self._open["type"] != "message":
            item: Json = {"id": token("msg_"), "type": "message", "role": "assistant", "content": []}
            item["status"] = "in_progress"
            opening = self._start(item) + self._event(
                "response.content_part.added", item_id=item["id"], output_index=len(self._output), content_index=0,
                part={"type": "output_text", "text": ""},
            )  # fmt: skip
            item["content"] = [{"type": "output_text", "text": "", "annotations": []}]
        assert self._open is not None
        self._open["content"][0]["text"] += words
        return opening + self._event(
            "response.output_text.delta", item_id=self._open["id"], output_index=len(self._output), content_index=0,
            delta=words,
        )  # fmt: skip

    def call(self, call: Call) -> bytes:
        common = {"name": call.name, "call_id": token("call_"), "status": "completed"}
        item: Json
        if isinstance(call.arguments, str):
            item = {"id": token("ctc_"), "type": "custom_tool_call", "input": call.arguments} | common
        else:
            item = {"id": token("fc_"), "type": "function_call", "arguments": json.dumps(call.arguments)} | common
        return self._start(item) + self._close()

    def fail(self, kind: str) -> bytes:
        error = {"code": kind, "message": "fake in-stream error"}
        return self._event("response.failed", response=self._response("failed") | {"error": error})

    def end(self) -> bytes:
        return self._close() + self._event("response.completed", response=self._response("completed"))

    def whole(self) -> Json:
        self._close()
        return self._response("completed")

    def _response(self, status: str) -> Json:
        tokens = {
            "input_tokens": 20000, "input_tokens_details": {"cached_tokens": 15000}, "output_tokens": 42,
            "output_tokens_details": {"reasoning_tokens": 7}, "total_tokens": 20042,
        }  # fmt: skip
        usage = tokens if status == "completed" else None
        return {"id": self._id, "object": "response", "status": status, "output": self._output, "usage": usage}

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        return frame({"type": kind, "sequence_number": self._number} | fields, kind)

    def _start(self, item: Json) -> bytes:
        closing = self._close()
        self._open = item
        return closing + self._event("response.output_item.added", output_index=len(self._output), item=item)

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        item, self._open = self._open, None
        if "status" in item:
            item["status"] = "completed"
        said = self._event("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        return said

    def refusal(self, status: int, retry_after: int | None = None) -> Refusal:
        kind = _TYPES.get(status, "server_error")
        message = f"fake error {status}" + (": rate limit reached" if status == 429 else "")
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        return Refusal(status, {"error": {"message": message, "type": kind, "code": kind}}, headers)

    def rate_limit(self, seconds: int, now: float) -> Refusal:  # noqa: ARG002
        plain = self.refusal(429, seconds)
        ends = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": f"{seconds}s"}
        return plain._replace(headers=plain.headers | ends)

    def limit(self, plan: Plan, now: float) -> Refusal:
        error = {
            "type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
            "resets_at": plan.resets_at, "resets_in_seconds": int(plan.resets_at - now),
        }  # fmt: skip
        return Refusal(429, {"error": error}, self.plan_headers(plan))

    def plan_headers(self, plan: Plan) -> dict[str, str]:
        spoken, silent = ("secondary", "primary") if plan.weekly else ("primary", "secondary")
        return {
            f"x-codex-{spoken}-used-percent": str(plan.percent),
            f"x-codex-{spoken}-reset-at": str(plan.resets_at),
            f"x-codex-{silent}-used-percent": "40.0",
            f"x-codex-{silent}-reset-at": str(plan.resets_at + (-3600 if plan.weekly else 86400)),
            "x-codex-primary-window-minutes": "300",
            "x-codex-secondary-window-minutes": "10080",
        }

    def shell(self, command: str, *, escalated: bool) -> Call:
        """Codex offers its shell under a name that depends on the model."""
        leave: Json = {}
        if escalated:
            why = "Need to run this outside the sandbox"
            leave = {"sandbox_permissions": "require_escalated", "justification": why}
        execute = {"cmd": command, "yield_time_ms": 30000} | leave
        if "exec_command" in self.asked.tools:
            return Call("exec_command", execute)
        if "shell_command" in self.asked.tools:
            return Call("shell_command", {"command": command} | leave)
        if "exec" in self.asked.tools:
            program = f"const r = await tools.exec_command({json.dumps(execute)}); text(JSON.stringify(r));"
            return Call("exec", program)
        return Call("shell", {"command": ["bash", "-lc", command]} | leave)

    def write(self, path: str, content: str) -> Call:
        """A patch: as a tool of its own where it is offered, else through the shell, where Codex sees it too."""
        added = "".join(f"+{line}\n" for line in content.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
        if "apply_patch" in self.asked.tools:
            return Call("apply_patch", patch)
        return self.shell(f"apply_patch <<'EOF'\n{patch}EOF", escalated=False)

    def ask(self, question: str, options: Sequence[str]) -> Call:
        choices = [{"label": option, "description": f"Choose {option}"} for option in options]
        asked = {"id": "choice", "header": "Choice", "question": question, "options": choices}
        return Call("request_user_input", {"questions": [asked]})
