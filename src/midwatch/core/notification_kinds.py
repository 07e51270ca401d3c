"""Of what a notification channel can be told: the words of `on` in `[[notify]]`, and the levels that stand for them."""

from __future__ import annotations

from midwatch.core.verdict import FINAL

LIVE_TOLD = ("waiting", "limited", "stuck")
"""States that are told although the work goes on."""
CONTINUES = "continues"
"""That work goes on after it waited or was limited."""
UNPLANNED = "limited-unplanned"
"""A limit after which nothing continues the work by itself."""
DRIFT = "drift"
"""That the list of sessions and the world differ, or a source of an agent's turn is not believed any more."""
DIGEST = "digest"
"""The state of a notification that lists others. No channel asks for it."""
WORDS = ("final", *LIVE_TOLD, UNPLANNED, CONTINUES, *FINAL, "unknown", DRIFT)
"""Of what a channel may be told."""
USUAL = ("final", *LIVE_TOLD, DRIFT)
NEEDS_YOU = "needs-you"
GOOD_ENDS = ("completed", "stopped")
"""Final states that leave nothing to do."""
LEVELS = {
    NEEDS_YOU: ("waiting", "stuck", UNPLANNED, *(each for each in FINAL if each not in GOOD_ENDS), "unknown"),
    "ended": ("waiting", "stuck", UNPLANNED, "final"),
    "all": ("final", *LIVE_TOLD, CONTINUES, DRIFT),
}
"""What each level stands for."""
