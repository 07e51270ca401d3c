"""Google's generateContent."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.lab.speakers.speaker import Event, Json, Said, Speaker


class Gemini(Speaker):
    tools = ("run_shell_command", "write_file", "ask_user")
    header = ("x-goog-api-key", "")

    def path(self, *, stream: bool) -> str:
        return "/v1beta/models/some-model:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")

    def request(self, prompt: str, *, results: int, tools: Sequence[str], stream: bool) -> Json:  # noqa: ARG002
        contents: list[Json] = [{"role": "user", "parts": [{"text": prompt}]}]
        for _ in range(results):
            contents.append({"role": "model", "parts": [{"functionCall": {"name": "x", "args": {}}}]})
            contents.append({"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {}}}]})
        return {"contents": contents, "tools": [{"functionDeclarations": [{"name": name} for name in tools]}]}

    def hear(self, events: list[Event]) -> Said:
        assert all(event.name == "" for event in events), "its reader takes nothing but data"
        bodies = [event.data for event in events]
        error = bodies.pop()["error"]["status"] if "error" in bodies[-1] else ""
        saids = [self.see(body) for body in bodies]
        assert not any(said.finish for said in saids[:-1])
        calls = tuple(call for said in saids for call in said.calls)
        text, thought = ("".join(getattr(said, name) for said in saids) for name in ("text", "thought"))
        return Said(text, thought, calls, saids[-1].finish, error)

    def see(self, body: Json) -> Said:
        assert body["modelVersion"] == "some-model"
        (candidate,) = body["candidates"]
        assert candidate["content"]["role"] == "model"
        text = thought = ""
        calls = []
        for part in candidate["content"]["parts"]:
            if "functionCall" in part:
                calls.append((part["functionCall"]["name"], part["functionCall"]["args"]))
            elif part.get("thought"):
                thought += part["text"]
            else:
                text += part["text"]
        return Said(text, thought, tuple(calls), candidate.get("finishReason", ""))

    def refused(self, body: Json) -> tuple[str, str]:
        return body["error"]["status"], body["error"]["message"]
