"""OpenAI's Responses."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.unit.lab.speakers.speaker import Event, Json, Said, Speaker


class Responses(Speaker):
    tools = ("shell_command", "apply_patch", "request_user_input")

    def path(self, *, stream: bool) -> str:  # noqa: ARG002
        return "/v1/responses"

    def request(self, prompt: str, *, results: int, tools: Sequence[str], stream: bool) -> Json:
        def message(text: str) -> Json:
            return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

        items = [message("# AGENTS.md instructions for /x"), message(prompt), message("<environment_context>")]
        for number in range(results):
            call = {"call_id": f"call_{number}", "name": "shell", "arguments": "{}", "type": "function_call"}
            items += [call, {"type": "function_call_output", "call_id": f"call_{number}", "output": "done"}]
        offered = [{"type": "function", "name": name} for name in tools]
        return {"model": "some-model", "stream": stream, "input": items, "tools": offered}

    def hear(self, events: list[Event]) -> Said:
        spoken = [event for event in events if event.name != ":"]
        assert spoken[0].name == "response.created"
        numbers = [event.data["sequence_number"] for event in spoken]
        assert numbers == sorted(set(numbers))
        done: list[Json] = []
        current: Json | None = None
        told: dict[str, str] = {}
        ends: list[Event] = []
        for event in spoken[1:]:
            kind, data = event
            assert kind == data["type"]
            assert not ends, f"{kind} after the end"
            if kind == "response.output_item.added":
                assert current is None
                current = data["item"]
            elif kind == "response.output_item.done":
                assert current is not None
                assert (data["item"]["id"], data["output_index"]) == (current["id"], len(done))
                done.append(data["item"])
                current = None
            elif kind in ("response.completed", "response.failed"):
                ends.append(event)
            else:
                assert current is not None, kind
                assert (data["item_id"], data["output_index"]) == (current["id"], len(done))
                told[current["id"]] = told.get(current["id"], "") + data.get("delta", "")
        ended: Json = ends[0].data["response"] if ends else {"status": ""}
        if ended["status"] == "completed":
            said = self.see(ended)
            assert ended["output"] == done, "the whole is not the sum of its parts"
            assert "".join(told.values()) == said.thought + said.text
            return said
        return Said(text="".join(told.values()), error=ended.get("error", {}).get("code", ""))

    def see(self, body: Json) -> Said:
        assert (body["object"], body["status"]) == ("response", "completed")
        text = thought = ""
        calls = []
        for item in body["output"]:
            if item["type"] == "message":
                text += "".join(part["text"] for part in item["content"])
            elif item["type"] == "reasoning":
                thought += "".join(part["text"] for part in item["summary"])
            elif item["type"] == "custom_tool_call":
                calls.append((item["name"], item["input"]))
            else:
                assert item["type"] == "function_call"
                calls.append((item["name"], json.loads(item["arguments"])))
            assert item.get("status", "completed") == "completed"
        return Said(text, thought, tuple(calls), "completed")

    def refused(self, body: Json) -> tuple[str, str]:
        return body["error"]["type"], body["error"]["message"]
