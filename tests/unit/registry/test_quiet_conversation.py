"""Which conversation the registry sees in a pane whose command line names one that may be over."""

import pytest

from midwatch.core.pane_model import SourceReport
from midwatch.registry.pane_cache import latest_conversation

NAMED, NEWER = "01a1ef11-0000-7000-8000-000000000000", "01a1ef12-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("report", "seen"),
    [
        (SourceReport("api", None, {"conversation": NAMED}), NAMED),
        (SourceReport("api", None, {"conversation": NEWER}), NEWER),
        (SourceReport("api", None, {}, "a conversation was begun since", unclear=True), ""),
        (SourceReport("api", None, {}, "Codex's daemon does not answer"), NAMED),
        (SourceReport("hook", None, {"conversation": NEWER}), NAMED),
    ],
)
def test_a_server_that_knows_of_a_later_one_outweighs_the_command_line(report: SourceReport, seen: str) -> None:
    assert latest_conversation(NAMED, (report,)) == seen


def test_a_server_that_can_only_guess_gives_no_conversation() -> None:
    assert latest_conversation("", (SourceReport("api", None, {"conversation": NEWER}),)) == ""
