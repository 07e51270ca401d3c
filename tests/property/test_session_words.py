"""Whatever an agent, its screen or its processes say: what the judge says of a session is lines of its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midwatch.agents.turn_model import Presence, SessionFacts, SourceReading
from midwatch.core import verdict_json
from midwatch.core.exit_codes import NEXT
from midwatch.core.foreign_text import ForeignText, is_plain
from midwatch.core.pane_model import SOURCES, TURNS
from midwatch.core.policy import PATIENT
from midwatch.sessions.rules import verdict as session_verdict

DETAILS = ("", "permission", "question", "turn-ended", "turn-failed", "interrupted", "tool", "plan", "suspended")
foreign = st.builds(ForeignText, st.text())
sayings = st.tuples(
    st.sampled_from(SOURCES), st.sampled_from(TURNS), st.sampled_from(DETAILS), st.just("rule"),
    st.none() | st.floats(0, 1000), foreign, foreign,
).map(lambda each: SourceReading(*each))  # fmt: skip
presences = st.sampled_from(["alive", "suspended", "gone", "unseen"])


@st.composite
def looks(draw: st.DrawFn) -> SessionFacts:
    return SessionFacts(
        name="%1", agent="Claude Code", now=draw(st.floats(0, 5000)), wall=1000.0,
        said=tuple(draw(st.lists(sayings, max_size=4, unique_by=lambda each: each.source))),
        there=Presence(draw(presences), "claude (7) runs"), progress={"text": draw(st.text())},
        life={"title": draw(st.text())}, tool=draw(foreign),
    )  # fmt: skip


@given(looks(), looks())
def test_nothing_that_an_agent_says_leaves_its_line_or_hides(first: SessionFacts, second: SessionFacts) -> None:
    _, memory = session_verdict.judge(first, None, PATIENT)
    verdict, _ = session_verdict.judge(second, memory, PATIENT)
    assert is_plain(verdict.reason), ascii(verdict.reason)
    for piece in (*verdict.evidence, *verdict.against):
        assert is_plain(piece.says), ascii(piece)
    assert is_plain(verdict_json.encode_verdict(verdict, NEXT[verdict.state]))
