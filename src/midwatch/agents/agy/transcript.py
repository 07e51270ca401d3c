"""Antigravity's agy: ``brain/<id>/.system_generated/logs/transcript.jsonl``.

Written from what others have published of the format; the program itself has not been tried. A step of the planner that
calls no tool and is done ends the turn; steps of other kinds that the model caused are results of its calls. Calls have
no ids, so they are open until the next step of such a kind, one by one.
"""

from __future__ import annotations

from midwatch.agents.transcripts.transcript_state import TranscriptState, objects_at, parse_instant, text_at

PASSED = frozenset(("CONVERSATION_HISTORY", "SYSTEM_MESSAGE", "KNOWLEDGE_ARTIFACTS", "EPHEMERAL_MESSAGE"))


class Agy(TranscriptState):
    def __init__(self) -> None:
        super().__init__()
        self._calls: list[str] = []

    def interpret(self, line: dict[str, object]) -> None:
        at, kind = parse_instant(line.get("created_at")), text_at(line, "type")
        if kind == "USER_INPUT":
            self._calls.clear()
            self.abandon_calls()
            self.happened("prompt", at)
        elif kind == "PLANNER_RESPONSE":
            self._planned(line, at)
        elif kind and kind not in PASSED and text_at(line, "source") == "MODEL":
            if self._calls:
                self.answered(self._calls.pop(0))
            self.happened("tool-result", at)

    def _planned(self, line: dict[str, object], at: float | None) -> None:
        self.spend(str(line.get("step_index")), line.get("output_tokens"))
        calls = list(objects_at(line, "tool_calls"))
        for nth, call in enumerate(calls):
            self._calls.append(f"{line.get('step_index')}.{nth}")
            self.called(self._calls[-1], text_at(call, "name"))
        said = "text" if text_at(line, "content") else "thinking"
        over = said == "text" and text_at(line, "status") == "DONE"
        self.happened("tool-call" if calls else "turn-ended" if over else said, at)
