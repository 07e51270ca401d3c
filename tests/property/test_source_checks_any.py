"""Whatever sources say, and whenever anybody looks: agreement costs no source its credit, and the record is bounded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midwatch.agents.source_checks import codec as source_checks_codec
from midwatch.agents.source_checks import rules as source_checks_rules
from midwatch.agents.source_checks.model import AGREES, CONTRADICTS, STRONG, WEAK, WITHHELD, Claim, Comparison, Records
from midwatch.agents.source_checks.rules import KEPT, MOST_CLAIMS, MOST_RELEASES, Overlap
from midwatch.agents.turn_model import SourceReading
from midwatch.core.pane_model import TURNS

WALL = 1e9
turns = st.sampled_from(TURNS)
details = st.sampled_from(("", "turn-ended", "menu", "background-work", "permission"))
moments = st.one_of(st.none(), st.floats(WALL - 100, WALL + 1000))


@st.composite
def looks(draw: st.DrawFn, *, alike: bool) -> list[tuple[float, tuple[SourceReading, ...]]]:
    """Looks one after the other, and what is said at each; ``alike``: by all sources the same."""
    found = []
    now = 0.0
    for _ in range(draw(st.integers(1, 40))):
        now += draw(st.floats(0.1, 20.0))
        same = draw(turns)
        sources = [name for name in (*STRONG, *WEAK) if draw(st.booleans())]
        said = tuple(
            SourceReading(
                name, same if alike else draw(turns), draw(details), f"{name}-{draw(st.integers(0, 2))}",
                draw(moments) if name in STRONG else None, firm=draw(st.booleans()),
            )
            for name in sources
        )  # fmt: skip
        found.append((now, said))
    return found


def watch(
    seen: list[tuple[float, tuple[SourceReading, ...]]], records: Records = ()
) -> tuple[Records, list[Comparison]]:
    overlap: Overlap | None = None
    found: list[Comparison] = []
    for now, said in seen:
        doubted = frozenset(source_checks_rules.find_disbelieved(records, "x", "1"))
        overlap, new = source_checks_rules.observe(overlap, said, now, WALL + now, doubted=doubted)
        for each in new:
            records, _ = source_checks_rules.count_comparison(records, "x", "1", each, "1-1", WALL + now)
        found += new
        source_checks_rules.disagrees(overlap, said, now, WALL + now, frozenset(WEAK))
    return records, found


@given(looks(alike=True))
def test_sources_that_say_the_same_are_all_believed(seen: list[tuple[float, tuple[SourceReading, ...]]]) -> None:
    records, found = watch(seen)
    assert {each.outcome for each in found} <= {AGREES}
    assert not source_checks_rules.find_disbelieved(records, "x", "1")


@given(looks(alike=False))
def test_at_most_one_outcome_of_a_claim_in_each_stretch(seen: list[tuple[float, tuple[SourceReading, ...]]]) -> None:
    _, found = watch(seen)
    stretches = [(each.claim, each.began, each.outcome) for each in found]
    assert len(stretches) == len(set(stretches))
    assert {each.claim.source for each in found} <= set(WEAK)
    assert {each.by for each in found} <= set(STRONG)


comparisons = st.builds(
    Comparison,
    st.builds(Claim, st.sampled_from(WEAK), turns, st.text(max_size=3)),
    st.sampled_from((AGREES, CONTRADICTS, WITHHELD)),
    st.sampled_from(STRONG),
    st.floats(0, 1e9),
)


@given(st.lists(st.tuples(st.sampled_from(("", "1", "2")), comparisons, st.floats(0, 1e9)), max_size=200))
def test_the_record_is_bounded_and_is_read_as_it_was_written(found: list[tuple[str, Comparison, float]]) -> None:
    records: Records = ()
    for version, comparison, wall in found:
        records, _ = source_checks_rules.count_comparison(records, "x", version, comparison, "1-1", wall)
    assert len(records) <= MOST_RELEASES
    assert all(len(release.claims) <= MOST_CLAIMS for release in records)
    assert all(len(claim.outcomes) <= KEPT for release in records for claim in release.claims)
    assert source_checks_codec.decode(source_checks_codec.encode(records)) == records
