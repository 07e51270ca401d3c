"""For any list and any world: a plan that was carried out leaves nothing to change, and no end is lost."""

from __future__ import annotations

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midwatch.core.presence import GONE, LIVES, THERE, UNKNOWN
from midwatch.registry.codec import registry_file as codec
from midwatch.registry.model import (
    ENDED,
    STATUSES,
    Change,
    PaneDirectory,
    ReconcileMemory,
    ReconcilePlan,
    ReconcileRules,
    Registry,
    TmuxPane,
    TmuxSnapshot,
    row_keys,
)
from midwatch.registry.rules import drift

NAMES = ("a-creator-claude", "b-creator-agy", "c-creator-claude", "plain")
HOMES = ("/w", "/w/sub", "/elsewhere")
IDS = ("id-1", "id-2", "id-3")
WALL = 1_800_000_000.0
SOCKETS = (None, "other")
PLACES = ((), ("-L", "other"))
RULES = ReconcileRules(
    naming=("*-creator-claude", "*-creator-agy"), workspace="/w",
    directories={home: PaneDirectory(home) for home in HOMES}, boot="b1",
)  # fmt: skip

rows = st.fixed_dictionaries(
    {"name": st.sampled_from(NAMES), "status": st.sampled_from(STATUSES)},
    optional={
        "pane": st.fixed_dictionaries(
            {
                "pid": st.integers(1, 4),
                "cmd": st.sampled_from(("claude", "bash", "agy")),
                "cwd": st.sampled_from(HOMES),
            },
            optional={"id": st.sampled_from(("%1", "%2")), "start": st.integers(1, 2), "boot": st.just("b1")},
        ),
        "claude_session_id_own": st.sampled_from((None, *IDS)),
        "resumable": st.booleans(),
        "tmux_socket": st.just("other"),
        "terminated_at": st.sampled_from(("2026-01-01T00:00:00Z", "2027-01-15T07:59:58Z")),
        "note": st.text(max_size=8),
    },
)
panes = st.builds(
    TmuxPane,
    server=st.sampled_from(PLACES), id=st.sampled_from(("%1", "%2", "%3")), session=st.sampled_from(NAMES),
    pid=st.integers(1, 4), start=st.integers(0, 2), command=st.sampled_from(("claude", "bash", "agy")),
    cwd=st.sampled_from(HOMES), dead=st.booleans(), agent=st.sampled_from(("", "claude", "agy")),
    turn=st.sampled_from(("", "idle", "working")), conversation=st.sampled_from(("", *IDS)),
)  # fmt: skip
by_row = st.integers(0, 5)
worlds = st.builds(
    TmuxSnapshot,
    panes=st.lists(panes, max_size=5).map(tuple),
    troubles=st.dictionaries(st.sampled_from((None, ("-L", "other"))), st.just("it did not answer"), max_size=2),
    processes=st.dictionaries(by_row, st.sampled_from((LIVES, GONE, UNKNOWN))),
    artifacts=st.dictionaries(by_row, st.sampled_from((THERE, GONE, UNKNOWN))),
    appeared=st.dictionaries(by_row, st.sampled_from(IDS)),
    running=st.just({}),  # tells where to watch; no plan depends on it
)
memories = st.builds(
    ReconcileMemory,
    missed=st.dictionaries(
        st.sampled_from([f"{kind}:{name}" for kind in ("A", "exited") for name in NAMES]), st.just(1.0)
    ),
    turns=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(("idle", "working"))),
)


def of(world: TmuxSnapshot, registry: Registry) -> TmuxSnapshot:
    """What a look at these rows could have found."""
    there = range(len(registry.rows))
    agents = {name: [each.agent for each in world.panes if each.session == name] for name in NAMES}
    # An id is known only of an agent that the row or its pane tells.
    told = {row.at for row in registry.rows if row.agent or (agents.get(row.name) and all(agents[row.name]))}
    return world._replace(
        processes={at: world.processes[at] for at in world.processes if at in there},
        artifacts={at: world.artifacts[at] for at in world.artifacts if at in there},
        appeared={at: world.appeared[at] for at in world.appeared if at in told},
    )


def changes(plan: ReconcilePlan) -> list[Change]:
    return [*[each.change for each in plan.drifts if each.change is not None and not each.wait_s], *plan.refresh]


def meant(registry: Registry) -> dict[str, dict[str, object]]:
    """Every row in an end state, whole."""
    named = zip(row_keys(registry.rows), registry.rows, strict=True)
    return {key: row.data for key, row in named if row.status in ENDED}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(rows, max_size=6), worlds, memories)
def test_a_plan_that_was_carried_out_leaves_nothing_to_change(
    listed: list[dict[str, object]], world: TmuxSnapshot, memory: ReconcileMemory
) -> None:
    text = yaml.safe_dump({"sessions": listed}, sort_keys=False)
    before = codec.parse_registry(text)
    world = of(world, before)
    plan, after = drift.plan_changes(before, world, memory, RULES, now=100.0, wall=WALL)
    done = codec.apply_changes(text, changes(plan)) if changes(plan) else text
    again, _ = drift.plan_changes(codec.parse_registry(done), world, after, RULES, now=100.0, wall=WALL)
    assert changes(again) == []
    twice, _ = drift.plan_changes(codec.parse_registry(done), world, after, RULES, now=200.0, wall=WALL + 100)
    later = codec.apply_changes(done, changes(twice)) if changes(twice) else done
    rest, _ = drift.plan_changes(codec.parse_registry(later), world, after, RULES, now=300.0, wall=WALL + 200)
    assert changes(rest) == []


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(rows, max_size=6), worlds, memories)
def test_no_end_that_somebody_meant_is_ever_lost(
    listed: list[dict[str, object]], world: TmuxSnapshot, memory: ReconcileMemory
) -> None:
    text = yaml.safe_dump({"sessions": listed}, sort_keys=False)
    before = codec.parse_registry(text)
    plan, _ = drift.plan_changes(before, world, memory, RULES, now=100.0, wall=WALL)
    after = codec.parse_registry(codec.apply_changes(text, changes(plan)) if changes(plan) else text)
    kept = meant(after)
    assert {key: kept.get(key) for key in meant(before)} == meant(before)
    assert [row.name for row in after.rows][: len(before.rows)] == [row.name for row in before.rows]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(rows, max_size=6), worlds, memories)
def test_nothing_is_ended_on_a_server_that_did_not_answer_or_while_its_process_may_live(
    listed: list[dict[str, object]], world: TmuxSnapshot, memory: ReconcileMemory
) -> None:
    before = codec.parse_registry(yaml.safe_dump({"sessions": listed}, sort_keys=False))
    plan, _ = drift.plan_changes(before, world, memory, RULES, now=100.0, wall=WALL)
    ended = [each.change.at for each in plan.drifts if each.kind == "A"]  # type: ignore[union-attr]
    for row in (before.rows[at] for at in ended):
        assert row.server not in world.troubles
        assert world.processes.get(row.at) != LIVES
        assert row.status == "running"
