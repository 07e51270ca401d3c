"""OpenAI's Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.unit.lab.speakers.speaker import Event, Json, Said, Speaker


class Chat(Speaker):
    tools = ("bash", "write", "question")

    def path(self, *, stream: bool) -> str:  # noqa: ARG002
        return "/v1/chat/completions"

    def request(self, prompt: str, *, results: int, tools: Sequence[str], stream: bool) -> Json:
        messages: list[Json] = [{"role": "system", "content": "be good"}, {"role": "user", "content": prompt}]
        for number in range(results):
            call = {"id": f"call_{number}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": "done"})
        offered = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
        return {"model": "some-model", "stream": stream, "messages": messages, "tools": offered}

    def hear(self, events: list[Event]) -> Said:
        chunks = [event.data for event in events if event.name != ":"]
        done = chunks[-1] == "[DONE]"
        error = chunks.pop()["error"]["type"] if not done and "error" in chunks[-1] else ""
        chunks = chunks[:-1] if done else chunks
        assert len({chunk["id"] for chunk in chunks}) == 1
        assert all(chunk["object"] == "chat.completion.chunk" for chunk in chunks)
        choices = [chunk["choices"][0] for chunk in chunks]
        assert choices[0]["delta"]["role"] == "assistant"
        finish = choices[-1]["finish_reason"] or ""
        assert bool(finish) == done
        assert not any(choice["finish_reason"] for choice in choices[:-1])
        deltas = [choice["delta"] for choice in choices]
        calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
        assert [call["index"] for call in calls] == list(range(len(calls)))
        text = "".join(delta.get("content", "") for delta in deltas)
        thought = "".join(delta.get("reasoning_content", "") for delta in deltas)
        return Said(text, thought, _functions(calls), finish, error)

    def see(self, body: Json) -> Said:
        assert (body["object"], body["model"]) == ("chat.completion", "some-model")
        (choice,) = body["choices"]
        message = choice["message"]
        calls = _functions(message.get("tool_calls", []))
        return Said(message["content"], message.get("reasoning_content", ""), calls, choice["finish_reason"])

    def refused(self, body: Json) -> tuple[str, str]:
        return body["error"]["type"], body["error"]["message"]


def _functions(calls: list[Json]) -> tuple[tuple[str, Any], ...]:
    assert all(call["type"] == "function" and call["id"] for call in calls)
    return tuple((call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls)
