"""Of what a notification channel can be told: the words of `on` in `[[notify]]`."""

from __future__ import annotations

from midwatch.core.verdict import FINAL

LIVE_TOLD = ("waiting", "limited", "stuck")
"""States that are told although the work goes on."""
DRIFT = "drift"
"""That the list of sessions and the world differ, or a source of an agent's turn is not believed any more."""
WORDS = ("final", *LIVE_TOLD, *FINAL, "unknown", DRIFT)
"""Of what a channel may be told."""
USUAL = ("final", *LIVE_TOLD, DRIFT)
