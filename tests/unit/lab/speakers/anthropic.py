"""Anthropic's Messages."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.unit.lab.speakers.speaker import Event, Json, Said, Speaker


class Anthropic(Speaker):
    tools = ("Bash", "Write", "AskUserQuestion")
    header = ("x-api-key", "")

    def path(self, *, stream: bool) -> str:  # noqa: ARG002
        return "/v1/messages?beta=true"

    def request(self, prompt: str, *, results: int, tools: Sequence[str], stream: bool) -> Json:
        messages: list[Json] = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]
        for number in range(results):
            call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": "ls"}}
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "done"}
            reminder = {"type": "text", "text": "<system-reminder>be good</system-reminder>"}
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result, reminder]}]
        offered = [{"name": name, "input_schema": {"type": "object"}} for name in tools]
        return {"model": "some-model", "max_tokens": 9, "stream": stream, "messages": messages, "tools": offered}

    def hear(self, events: list[Event]) -> Said:
        blocks: list[Json] = []
        open_block = False
        finish = error = ""
        assert events[0].name == "message_start"
        assert events[0].data["message"]["content"] == []
        for name, data in events[1:]:
            assert name == data["type"]
            assert not error
            if name == "content_block_start":
                assert (open_block, data["index"]) == (False, len(blocks))
                open_block = True
                blocks.append(dict(data["content_block"]))
                if blocks[-1]["type"] == "tool_use":
                    blocks[-1]["input"] = ""
            elif name == "content_block_delta":
                assert (open_block, data["index"]) == (True, len(blocks) - 1)
                _anthropic_delta(blocks[-1], data["delta"])
            elif name == "content_block_stop":
                assert (open_block, data["index"]) == (True, len(blocks) - 1)
                open_block = False
            elif name == "message_delta":
                assert not open_block
                finish = data["delta"]["stop_reason"]
            elif name == "error":
                error = data["error"]["type"]
            else:
                assert name in ("ping", "message_stop"), name
        for block in blocks:
            if block["type"] == "tool_use":
                block["input"] = json.loads(block["input"])
        assert bool(finish) == (events[-1].name == "message_stop")
        return _anthropic_said(blocks, finish)._replace(error=error)

    def see(self, body: Json) -> Said:
        assert (body["type"], body["role"], body["model"]) == ("message", "assistant", "some-model")
        return _anthropic_said(body["content"], body["stop_reason"])

    def refused(self, body: Json) -> tuple[str, str]:
        assert body["type"] == "error"
        return body["error"]["type"], body["error"]["message"]


def _anthropic_delta(block: Json, delta: Json) -> None:
    kinds = {
        "text": {"text_delta": ("text", "text")},
        "thinking": {"thinking_delta": ("thinking", "thinking"), "signature_delta": ("signature", "signature")},
        "tool_use": {"input_json_delta": ("partial_json", "input")},
    }
    source, target = kinds[block["type"]][delta["type"]]
    block[target] += delta[source]


def _anthropic_said(blocks: list[Json], finish: str) -> Said:
    of = {kind: [b for b in blocks if b["type"] == kind] for kind in ("text", "thinking", "tool_use")}
    assert sum(map(len, of.values())) == len(blocks)
    assert all(block["signature"] for block in of["thinking"] if finish), "a thought without its signature"
    calls = tuple((block["name"], block["input"]) for block in of["tool_use"])
    return Said("".join(b["text"] for b in of["text"]), "".join(b["thinking"] for b in of["thinking"]), calls, finish)
