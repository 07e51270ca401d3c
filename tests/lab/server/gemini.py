"""Google's generateContent: Gemini CLI."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.lab.server.dialect import Asked, Call, Dialect, Json, Plan, Refusal, frame, text_of, token

_STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL", 503: "UNAVAILABLE",
}  # fmt: skip
_TYPE = "type.googleapis.com/google.rpc."
_ASIDE = {
    "reasoning": "fake", "model_choice": "flash", "next_speaker": "user", "complexity_reasoning": "x",
    "complexity_score": 1, "confidence": 0, "unproductive_state_analysis": "x", "unproductive_state_confidence": 0,
    "corrected_search_string_escaping": "",
}  # fmt: skip


class Gemini(Dialect):
    name = "gemini"
    keep_alive = b""  # a comment line is an error to its reader

    def __init__(self, body: Json, path: str) -> None:
        super().__init__(body, path)
        self._parts: list[Json] = []

    def read(self) -> Asked:
        prompt, step = "", 0
        for content in self.body.get("contents") or []:
            parts = content.get("parts") or []
            if content.get("role") != "user":
                continue
            if any("functionResponse" in part for part in parts):
                step += 1
            elif (words := text_of(parts)).strip():
                prompt, step = words, 0
        declared = [each for tool in self.body.get("tools") or [] for each in tool.get("functionDeclarations") or []]
        model = self.path.rpartition("/")[2].partition(":")[0]
        return Asked(prompt, step, tuple(str(each.get("name")) for each in declared), "stream" in self.path, model)

    def aside(self) -> str:
        wants_json = (self.body.get("generationConfig") or {}).get("responseMimeType") == "application/json"
        return json.dumps(_ASIDE) if wants_json else "Fake aux reply"

    def begin(self) -> bytes:
        return b""

    def think(self, words: str) -> bytes:
        return self._add({"text": f"**Pondering** {words}", "thought": True})

    def text(self, words: str) -> bytes:
        return self._add({"text": words})

    def call(self, call: Call) -> bytes:
        return self._add({"functionCall": {"name": call.name, "args": call.arguments, "id": token()[:8]}})

    def fail(self, kind: str) -> bytes:
        return frame({"error": {"code": 500, "message": "fake in-stream error", "status": kind}})

    def end(self) -> bytes:
        return frame(self._body([{"text": ""}], "STOP"))

    def whole(self) -> Json:
        return self._body(self._parts, "STOP")

    def _add(self, part: Json) -> bytes:
        self._parts.append(part)
        return frame(self._body([part]))

    def _body(self, parts: list[Json], finish: str | None = None) -> Json:
        candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
        if finish:
            candidate["finishReason"] = finish
        usage = {"promptTokenCount": 20000, "candidatesTokenCount": 42, "totalTokenCount": 20042}
        return {"candidates": [candidate], "modelVersion": self.asked.model, "usageMetadata": usage}

    def refusal(self, status: int, retry_after: int | None = None) -> Refusal:
        details = [] if retry_after is None else [{"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{retry_after}s"}]
        return self._refuse(status, f"fake error {status}", details)

    def limit(self, plan: Plan, now: float) -> Refusal:
        """The daily quota of an account."""
        quota = {"quotaMetric": "requests", "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
        details: list[Json] = [
            {"@type": f"{_TYPE}QuotaFailure", "violations": [quota]},
            {"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{int(plan.resets_at - now)}s"},
        ]
        message = "You exceeded your current quota, please check your plan and billing details."
        return self._refuse(429, message, details)

    def _refuse(self, status: int, message: str, details: list[Json]) -> Refusal:
        error = {"code": status, "message": message, "status": _STATUS.get(status, "UNKNOWN"), "details": details}
        return Refusal(status, {"error": error}, {})

    def shell(self, command: str, *, escalated: bool) -> Call:  # noqa: ARG002
        return Call("run_shell_command", {"command": command, "description": "Run a test command"})

    def write(self, path: str, content: str) -> Call:
        return Call("write_file", {"file_path": path, "content": content})

    def ask(self, question: str, options: Sequence[str]) -> Call:
        choices = [{"label": option, "description": f"Choose {option}"} for option in options]
        asked = {"question": question, "header": "Choice", "type": "choice", "options": choices}
        return Call("ask_user", {"questions": [asked]})
