"""OpenAI's Chat Completions: OpenCode and Qwen Code."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.lab.server.dialect import Asked, Call, Dialect, Json, Refusal, frame, last_words, token

_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 429: "rate_limit_error",
}  # fmt: skip
_CODES = {400: "invalid_request", 401: "invalid_api_key", 429: "rate_limit_exceeded"}
_USAGE = {"prompt_tokens": 20000, "completion_tokens": 42, "total_tokens": 20042}


class Chat(Dialect):
    name = "chat"

    def __init__(self, body: Json, path: str) -> None:
        super().__init__(body, path)
        self._id = token("chatcmpl-")
        self._said = ""
        self._thought = ""
        self._calls: list[Json] = []

    def read(self) -> Asked:
        prompt, step = "", 0
        for message in self.body.get("messages") or []:
            if message.get("role") == "user" and (words := last_words(message.get("content"))).strip():
                prompt, step = words, 0
            elif message.get("role") == "tool":
                step += 1
        tools = tuple(str((tool.get("function") or {}).get("name")) for tool in self.body.get("tools") or [])
        return Asked(prompt, step, tools, bool(self.body.get("stream")), str(self.body.get("model")))

    def aside(self) -> str:
        return "Fake aux title"

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def think(self, words: str) -> bytes:
        self._thought += words
        return self._chunk({"reasoning_content": words})

    def text(self, words: str) -> bytes:
        self._said += words
        return self._chunk({"content": words})

    def call(self, call: Call) -> bytes:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        made = {"index": len(self._calls), "id": token("call_"), "type": "function", "function": function}
        self._calls.append(made)
        return self._chunk({"tool_calls": [made]})

    def fail(self, kind: str) -> bytes:
        return frame({"error": {"message": "fake in-stream error", "type": kind}})

    def end(self) -> bytes:
        return self._chunk({}, self._finish) + frame("[DONE]")

    def whole(self) -> Json:
        message: Json = {"role": "assistant", "content": self._said}
        if self._thought:
            message["reasoning_content"] = self._thought
        if self._calls:
            message["tool_calls"] = self._calls
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return self._head("chat.completion") | {"choices": [choice], "usage": _USAGE}

    @property
    def _finish(self) -> str:
        return "tool_calls" if self._calls else "stop"

    def _head(self, kind: str) -> Json:
        return {"id": self._id, "object": kind, "created": 1767225600, "model": self.asked.model}

    def _chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        said = self._head("chat.completion.chunk") | {"choices": [choice]}
        if finish:
            said["usage"] = _USAGE
        return frame(said)

    def refusal(self, status: int, retry_after: int | None = None) -> Refusal:
        error = {
            "message": f"fake error {status}", "type": _TYPES.get(status, "server_error"),
            "code": _CODES.get(status, "server_error"),
        }  # fmt: skip
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        return Refusal(status, {"error": error}, headers)

    def rate_limit(self, seconds: int, now: float) -> Refusal:  # noqa: ARG002
        plain = self.refusal(429, seconds)
        ends = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": f"{seconds}s"}
        return plain._replace(headers=plain.headers | ends)

    def shell(self, command: str, *, escalated: bool) -> Call:  # noqa: ARG002
        arguments = {"command": command, "description": "Run a test command"}
        if "run_shell_command" in self.asked.tools:
            return Call("run_shell_command", arguments | {"is_background": False})
        return Call("bash", arguments)

    def write(self, path: str, content: str) -> Call:
        if "write_file" in self.asked.tools:
            return Call("write_file", {"file_path": path, "content": content})
        return Call("write", {"filePath": path, "content": content})

    def ask(self, question: str, options: Sequence[str]) -> Call:
        choices = [{"label": option, "description": f"Choose {option}"} for option in options]
        asked = {"question": question, "header": "Choice", "options": choices}
        if "run_shell_command" in self.asked.tools:  # Qwen knows it though it offers it only when searched for
            return Call("ask_user_question", {"questions": [asked | {"multiSelect": False}]})
        return Call("question", {"questions": [asked]})
