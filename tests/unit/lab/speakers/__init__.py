"""How each protocol asks and is read: written from the protocols, so it shares nothing with the server it checks.

A reader is strict: what comes in an order, or with a shape, that the protocol does not know is an error.
"""

from __future__ import annotations

from tests.unit.lab.speakers.anthropic import Anthropic
from tests.unit.lab.speakers.chat import Chat
from tests.unit.lab.speakers.gemini import Gemini
from tests.unit.lab.speakers.responses import Responses
from tests.unit.lab.speakers.speaker import Speaker

SPEAKERS: dict[str, type[Speaker]] = {
    "anthropic": Anthropic, "responses": Responses, "chat": Chat, "gemini": Gemini,
}  # fmt: skip
