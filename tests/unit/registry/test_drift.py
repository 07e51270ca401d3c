"""Every rule of the plan: what is done to the list, and above all what is not."""

from __future__ import annotations

import pytest

from midwatch.core.presence import GONE, LIVES, THERE, UNKNOWN
from midwatch.registry.model import (
    ENDED,
    AddRow,
    PaneDirectory,
    ReconcileMemory,
    ReconcilePlan,
    ReconcileRules,
    Registry,
    RegistryRow,
    RemoveRow,
    RowPane,
    SetFields,
    TmuxPane,
    TmuxSnapshot,
    UnregisteredPane,
)
from midwatch.registry.rules import drift

NAME = "lab-landing-page-creator-claude"
HOME = "/w/landing-page"
WALL = 1_800_000_000.0
DIRECTORIES = {
    HOME: PaneDirectory(HOME, "/w"), "/w": PaneDirectory("/w", "/w"), "/w/bare": PaneDirectory("/w/bare"),
    "/elsewhere": PaneDirectory("/elsewhere"), "/w2": PaneDirectory("/w2", "/w2"),
    "/w/inner/x": PaneDirectory("/w/inner/x", "/w/inner"), "/w/link": PaneDirectory("/elsewhere/x"),
    "/link": PaneDirectory("/w/x", "/w"), "": PaneDirectory(""),
}  # fmt: skip
RULES = ReconcileRules(
    naming=("*-creator-claude", "*-creator-agy"), workspace="/w", directories=DIRECTORIES, boot="b1", host="here"
)
MISSED = ReconcileMemory(missed={f"A:{NAME}": 90.0, f"exited:{NAME}": 90.0, f"alive:{NAME}": 90.0})
"""What an earlier look, ten seconds ago, did not find either."""


def row(status: str = "running", **fields: object) -> RegistryRow:
    given: dict[str, object] = {"agent": "claude", "pane": RowPane(201132, "claude", HOME), **fields}
    return RegistryRow(0, NAME, status, **given)  # type: ignore[arg-type]


def pane(**fields: object) -> TmuxPane:
    given: dict[str, object] = {"pid": 201132, "command": "claude", "cwd": HOME, "agent": "claude", **fields}
    return TmuxPane((), "%1", NAME, **given)  # type: ignore[arg-type]


def planned(
    *rows: RegistryRow,
    sight: TmuxSnapshot | None = None,
    before: ReconcileMemory = MISSED,
    rules: ReconcileRules = RULES,
    now: float = 100.0,
) -> ReconcilePlan:
    found = TmuxSnapshot() if sight is None else sight
    listed = tuple(each._replace(at=at) for at, each in enumerate(rows))
    return drift.plan_changes(Registry(listed), found, before, rules, now=now, wall=WALL)[0]


def kinds(plan: ReconcilePlan) -> list[str]:
    return [each.kind for each in plan.drifts]


# A ----------------------------------------------------------------------------------------------------------------


def test_a_running_session_that_tmux_does_not_have_is_marked_terminated() -> None:
    (found,) = planned(row(), sight=TmuxSnapshot(processes={0: GONE})).drifts
    assert found.message == f"{NAME}: tmux gone (was pane 201132, cmd claude)."
    assert found.deed == "Marked terminated."
    assert found.change == SetFields(
        0, {"status": "terminated", "terminated_at": "2027-01-15T08:00:00Z", "termination_mode": "auto-detected"}
    )


def test_gone_needs_two_looks_a_second_apart() -> None:
    gone = TmuxSnapshot(processes={0: GONE})
    first, memory = drift.plan_changes(Registry((row(),)), gone, ReconcileMemory(), RULES, now=100.0, wall=WALL)
    assert (first.drifts, first.again) == ((), 1.0)
    second, memory = drift.plan_changes(Registry((row(),)), gone, memory, RULES, now=100.5, wall=WALL)
    assert (second.drifts, second.again) == ((), 0.5)
    third, _ = drift.plan_changes(Registry((row(),)), gone, memory, RULES, now=101.0, wall=WALL)
    assert (kinds(third), third.again) == (["A"], None)


def test_a_lost_session_is_told_at_once_and_its_row_marked_five_seconds_after_tmux_lost_it() -> None:
    """A tool that stops a session ends it first and writes its row then."""
    gone, memory, waits = TmuxSnapshot(processes={0: GONE}), ReconcileMemory(), []
    for now in (100.0, 101.0, 102.5, 104.9, 105.0, 200.0):
        plan, memory = drift.plan_changes(Registry((row(),)), gone, memory, RULES, now=now, wall=WALL)
        waits.append([round(each.wait_s, 3) for each in plan.drifts])
    assert waits == [[], [4.0], [2.5], [0.1], [0.0], [0.0]]
    stopped, _ = drift.plan_changes(Registry((row("stopped"),)), gone, memory, RULES, now=104.0, wall=WALL)
    assert stopped.drifts == (), "the tool has written first"


def test_what_an_earlier_boot_has_ended_is_marked_without_waiting() -> None:
    lost = row(pane=RowPane(201132, "claude", HOME, boot="b0"))
    (found,) = planned(
        lost, sight=TmuxSnapshot(processes={0: GONE}), before=ReconcileMemory(missed={f"A:{NAME}": 99.0})
    ).drifts
    assert found.wait_s == 0.0
    here = row(pane=RowPane(201132, "claude", HOME, boot="b1"))
    (found,) = planned(
        here, sight=TmuxSnapshot(processes={0: GONE}), before=ReconcileMemory(missed={f"A:{NAME}": 99.0})
    ).drifts
    assert found.wait_s == 4.0


def test_a_session_that_came_back_between_two_looks_begins_anew() -> None:
    gone, back = TmuxSnapshot(processes={0: GONE}), TmuxSnapshot(panes=(pane(),), processes={0: LIVES})
    _, memory = drift.plan_changes(Registry((row(),)), gone, ReconcileMemory(), RULES, now=100.0, wall=WALL)
    _, memory = drift.plan_changes(Registry((row(),)), back, memory, RULES, now=101.0, wall=WALL)
    again, _ = drift.plan_changes(Registry((row(),)), gone, memory, RULES, now=102.0, wall=WALL)
    assert (again.drifts, again.again) == ((), 1.0)


@pytest.mark.parametrize("status", ENDED)
def test_what_somebody_ended_is_left_alone(status: str) -> None:
    assert planned(row(status), sight=TmuxSnapshot(processes={0: GONE})) == ReconcilePlan((), (), None)


def test_nothing_is_ended_while_its_server_cannot_be_asked() -> None:
    assert planned(row(), sight=TmuxSnapshot(troubles={None: "tmux did not answer"}, processes={0: GONE})).drifts == ()


def test_the_trouble_of_one_server_is_not_that_of_another() -> None:
    named = row(server=("-L", "other"))
    assert kinds(planned(named, sight=TmuxSnapshot(troubles={None: "tmux did not answer"}, processes={0: GONE}))) == [
        "A"
    ]


@pytest.mark.parametrize("process", [LIVES, UNKNOWN])
def test_a_row_whose_process_may_live_is_never_terminated(process: str) -> None:
    (found,) = planned(row(), sight=TmuxSnapshot(processes={0: process})).drifts
    assert (found.kind, found.change) == ("elsewhere", None)


def test_a_row_that_names_no_process_goes_by_tmux_alone() -> None:
    assert kinds(planned(row(pane=RowPane()), sight=TmuxSnapshot(processes={0: UNKNOWN}))) == ["A"]


def test_a_row_of_another_machine_is_not_judged_by_this_one() -> None:
    assert planned(row(data={"host": "there"}), sight=TmuxSnapshot(processes={0: GONE})).drifts == ()
    assert kinds(planned(row(data={"host": "here"}), sight=TmuxSnapshot(processes={0: GONE}))) == ["A"]


# B ----------------------------------------------------------------------------------------------------------------


def test_a_session_with_our_naming_is_registered() -> None:
    (found,) = planned(sight=TmuxSnapshot(panes=(pane(pid=7, start=70, conversation="b3a7"),))).drifts
    assert (found.kind, found.message, found.deed) == (
        "B", f"{NAME}: tmux found but not in the list.", "Auto-registered.",
    )  # fmt: skip
    assert found.change == AddRow(NAME, {
        "status": "running", "agent": "claude", "created_at": "2027-01-15T08:00:00Z",
        "pane": {"pid": 7, "cmd": "claude", "cwd": HOME, "id": "%1", "start": 70, "boot": "b1"},
        "last_visible_status": "auto-registered", "claude_session_id_own": "b3a7",
    })  # fmt: skip


def test_the_agent_of_a_session_is_told_by_its_name_where_no_process_tells() -> None:
    unseen = pane(agent="", command="sleep")._replace(session="lab-creator-agy")
    (found,) = planned(sight=TmuxSnapshot(panes=(unseen,))).drifts
    assert found.after["agent"] == "agy"
    assert found.after["agy_session_id_own"] is None


@pytest.mark.parametrize(
    "other",
    [pane()._replace(session="my-shell"), pane(cwd="/elsewhere"), pane(dead=True)],
    ids=["another name", "another workspace", "dead"],
)
def test_other_sessions_are_nobodys_business(other: TmuxPane) -> None:
    assert planned(sight=TmuxSnapshot(panes=(other,))).drifts == ()


@pytest.mark.parametrize("cwd", [HOME, "/w", "/w/bare", "/link"])
def test_a_pane_in_the_workspace_meets_the_condition(cwd: str) -> None:
    plan = planned(sight=TmuxSnapshot(panes=(pane(cwd=cwd),)))
    assert (kinds(plan), plan.left_out) == (["B"], ())


@pytest.mark.parametrize(
    ("cwd", "cause", "why"),
    [
        ("/elsewhere", "outside", "its directory /elsewhere is not in the workspace /w"),
        ("/w2", "outside", "its directory /w2 is not in the workspace /w"),
        ("/w/link", "outside", "its directory /w/link is not in the workspace /w"),
        ("/w/inner/x", "other-list", "its directory /w/inner/x belongs to the list of the workspace /w/inner"),
        ("", "unknown", "tmux does not tell its directory, which must be in the workspace /w"),
    ],
)
def test_a_session_with_our_naming_elsewhere_is_left_out_with_the_condition_that_failed(
    cwd: str, cause: str, why: str
) -> None:
    plan = planned(sight=TmuxSnapshot(panes=(pane(cwd=cwd),)))
    assert (plan.drifts, plan.left_out) == ((), (UnregisteredPane((), NAME, "%1", cwd, cause, why),))
    assert plan.left_out[0].line() == f"{NAME} (pane %1): not registered, {why}"


@pytest.mark.parametrize(
    "other",
    [pane(cwd="/elsewhere")._replace(session="my-shell"), pane(cwd="/elsewhere", dead=True)],
    ids=["another name", "dead"],
)
def test_what_could_be_no_session_of_ours_is_not_left_out_either(other: TmuxPane) -> None:
    assert planned(sight=TmuxSnapshot(panes=(other,))) == ReconcilePlan((), (), None)


def test_a_session_that_the_list_has_is_not_left_out_wherever_it_is() -> None:
    away = TmuxSnapshot(panes=(pane(cwd="/elsewhere"),), processes={0: LIVES})
    assert planned(row(), sight=away).left_out == ()
    renamed = TmuxSnapshot(panes=(pane(cwd="/elsewhere")._replace(session="x-creator-claude"),), processes={0: LIVES})
    plan = planned(row(), sight=renamed)
    assert (kinds(plan), plan.left_out) == (["moved"], ())


def test_a_session_is_left_out_by_its_panes_with_an_agent_if_none_is_in_the_workspace() -> None:
    shell = pane(agent="", command="bash", cwd="/elsewhere")
    agents = [pane(pid=8, cwd="/elsewhere")._replace(id=each) for each in ("%2", "%3")]
    plan = planned(sight=TmuxSnapshot(panes=(shell, *agents)))
    assert [each.pane for each in plan.left_out] == ["%2", "%3"]
    assert [each.pane for each in planned(sight=TmuxSnapshot(panes=(shell,))).left_out] == ["%1"]
    plan = planned(sight=TmuxSnapshot(panes=(shell, pane(pid=9)._replace(id="%4"))))
    assert (kinds(plan), plan.left_out) == (["B"], ())


def test_a_name_that_is_registered_from_one_server_is_not_left_out_on_another() -> None:
    away = pane(cwd="/elsewhere")._replace(server=("-L", "other"))
    for panes in ((away, pane()), (pane(), away)):
        plan = planned(sight=TmuxSnapshot(panes=panes))
        assert (kinds(plan), plan.left_out) == (["B"], ())


def test_a_session_is_registered_once_however_many_panes_it_has() -> None:
    shell, agent = pane(agent="", command="bash"), pane(pid=8)._replace(id="%2")
    (found,) = planned(sight=TmuxSnapshot(panes=(shell, agent))).drifts
    assert found.after["pane"] == {"pid": 8, "cmd": "claude", "cwd": HOME, "id": "%2"}


def test_a_row_that_was_just_taken_out_is_not_put_back_at_once() -> None:
    plan = planned(sight=TmuxSnapshot(panes=(pane(),)), rules=RULES._replace(fresh={NAME: 3.0}))
    assert (plan.drifts, plan.again) == ((), 3.0)


# C ----------------------------------------------------------------------------------------------------------------


def seen(**fields: object) -> TmuxSnapshot:
    return TmuxSnapshot(panes=(pane(),), processes={0: LIVES}, **fields)  # type: ignore[arg-type]


def test_an_id_that_has_appeared_is_noted() -> None:
    (found,) = planned(row(), sight=seen(appeared={0: "b3a7-c2f"})).drifts
    assert found.message == f"{NAME}: session id materialized b3a7-c2f."
    assert (found.kind, found.change) == ("C", SetFields(0, {"claude_session_id_own": "b3a7-c2f"}))


def test_an_id_that_another_row_has_is_not_taken() -> None:
    other = RegistryRow(1, "other", "stopped", agent="claude", conversation="b3a7-c2f")
    assert planned(row(), other, sight=seen(appeared={0: "b3a7-c2f"})).drifts == ()


def test_one_id_is_not_given_to_two_rows() -> None:
    twin = row()._replace(name="twin-creator-claude")
    two = TmuxSnapshot(
        panes=(pane(), pane(pid=5)._replace(id="%2", session="twin-creator-claude")),
        processes={0: LIVES, 1: LIVES}, appeared={0: "b3a7", 1: "b3a7"},
    )  # fmt: skip
    assert kinds(planned(row(), twin, sight=two)) == ["C"]


def test_an_id_is_noted_only_where_there_is_none() -> None:
    assert planned(row(conversation="87dc"), sight=seen(appeared={0: "b3a7"})).drifts == ()


# D ----------------------------------------------------------------------------------------------------------------


def test_a_conversation_that_is_gone_is_told_and_its_id_stays() -> None:
    (found,) = planned(row(conversation="87dc"), sight=seen(artifacts={0: GONE})).drifts
    assert (found.kind, found.change, found.before) == ("D", None, {"conversation": "87dc"})
    stopped = row("stopped", conversation="87dc")
    assert kinds(planned(stopped, sight=TmuxSnapshot(artifacts={0: GONE}, processes={0: GONE}))) == ["D"]


@pytest.mark.parametrize("state", [THERE, UNKNOWN])
def test_a_conversation_that_is_there_or_cannot_be_looked_for_is_no_drift(state: str) -> None:
    assert planned(row(conversation="87dc"), sight=seen(artifacts={0: state})).drifts == ()


def test_a_conversation_that_is_open_may_not_be_written_yet() -> None:
    open_one = TmuxSnapshot(panes=(pane(conversation="87dc"),), processes={0: LIVES}, artifacts={0: GONE})
    assert planned(row(conversation="87dc"), sight=open_one).drifts == ()


@pytest.mark.parametrize("done", [row("archived", conversation="8"), row("stopped", conversation="8", resumable=False)])
def test_nobody_misses_a_conversation_that_nobody_wants_back(done: RegistryRow) -> None:
    assert planned(done, sight=TmuxSnapshot(artifacts={0: GONE}, processes={0: GONE})).drifts == ()


# What else there is -----------------------------------------------------------------------------------------------


def test_two_rows_for_one_pane_are_told() -> None:
    (found,) = planned(row(line=3), row(line=9), sight=seen()).drifts
    assert (found.kind, found.change) == ("duplicate", None)
    assert "lines 3, 9" in found.message


def test_a_session_that_has_another_pane_now_is_noted() -> None:
    (found,) = planned(row(), sight=TmuxSnapshot(panes=(pane(pid=9, start=4),), processes={0: GONE})).drifts
    assert (found.kind, found.change) == ("moved", SetFields(0, {
        "pane.pid": 9, "pane.cmd": "claude", "pane.cwd": HOME, "pane.id": "%1", "pane.start": 4, "pane.boot": "b1",
    }))  # fmt: skip


def test_a_directory_that_is_no_text_does_not_come_into_the_list() -> None:
    odd = pane(pid=9, cwd="/w/\udcff")
    (found,) = planned(row(), sight=TmuxSnapshot(panes=(odd,), processes={0: GONE})).drifts
    assert found.after == {"pane.pid": 9, "pane.cmd": "claude", "pane.id": "%1"}


def test_a_process_below_the_pane_is_as_good_as_the_panes_own() -> None:
    assert planned(row(), sight=TmuxSnapshot(panes=(pane(pid=9),), processes={0: LIVES})).drifts == ()


def test_a_pane_in_a_session_of_another_name_is_told_and_not_terminated() -> None:
    elsewhere = pane()._replace(session="renamed")
    named = row(pane=RowPane(201132, "claude", HOME, "%1"))
    (found,) = planned(named, sight=TmuxSnapshot(panes=(elsewhere,), processes={0: LIVES})).drifts
    assert (found.kind, found.change) == ("moved", None)
    assert "renamed" in found.message


def test_a_pane_that_was_renamed_to_another_of_our_names_is_not_registered_twice() -> None:
    elsewhere = pane()._replace(session="new-creator-claude")
    named = row(pane=RowPane(201132, "claude", HOME, "%1"))
    assert kinds(planned(named, sight=TmuxSnapshot(panes=(elsewhere,), processes={0: LIVES}))) == ["moved"]


def test_a_shell_where_the_agent_was_is_told_after_two_looks() -> None:
    shell = TmuxSnapshot(panes=(pane(agent="", command="bash"),), processes={0: LIVES})
    assert planned(row(), sight=shell, before=ReconcileMemory()).again == 1.0
    (found,) = planned(row(), sight=shell).drifts
    assert (found.kind, found.change) == ("exited", None)


def test_a_dead_pane_has_no_agent_either() -> None:
    assert kinds(planned(row(), sight=TmuxSnapshot(panes=(pane(agent="", dead=True),), processes={0: GONE}))) == [
        "exited"
    ]


def test_a_row_of_a_shell_has_no_agent_to_exit() -> None:
    shell = TmuxSnapshot(panes=(pane(agent="", command="bash"),), processes={0: LIVES})
    assert planned(row(pane=RowPane(201132, "bash", HOME)), sight=shell).drifts == ()


@pytest.mark.parametrize("status", ENDED)
def test_an_ended_row_whose_pane_lives_on_is_told_with_the_way_back(status: str) -> None:
    (found,) = planned(row(status, since=WALL - 60), sight=seen()).drifts
    assert (found.kind, found.change) == ("alive", None)
    assert f"midwatch session resume {NAME}" in found.message


def test_a_session_may_take_five_seconds_to_end() -> None:
    plan = planned(row("stopped", since=WALL - 2), sight=seen(), before=ReconcileMemory())
    assert (plan.drifts, plan.again) == ((), 3.0)
    plan = planned(row("stopped"), sight=seen(), before=ReconcileMemory())
    assert (plan.drifts, plan.again) == ((), 5.0)


def test_a_conversation_in_two_panes_is_told() -> None:
    two = TmuxSnapshot(
        panes=(pane(conversation="87dc"), pane(conversation="87dc", pid=5)._replace(id="%2", session="s2")),
        processes={0: LIVES},
    )  # fmt: skip
    (found,) = planned(row(conversation="87dc"), sight=two).drifts
    assert (found.kind, found.change, found.before["panes"]) == ("shared", None, ["%1", "%2"])


def test_a_conversation_begun_anew_in_the_same_agent_is_told() -> None:
    (found,) = planned(
        row(conversation="87dc"), sight=TmuxSnapshot(panes=(pane(conversation="b3a7"),), processes={0: LIVES})
    ).drifts
    assert (found.kind, found.change) == ("other", None)


def test_old_rows_are_told_and_pruned_only_on_demand() -> None:
    old = row("terminated", since=WALL - 31 * 86400)
    (found,) = planned(old).drifts
    assert (found.kind, found.change) == ("old", None)
    (found,) = planned(old, rules=RULES._replace(prune=True)).drifts
    assert (found.kind, found.change) == ("old", RemoveRow(0))
    assert planned(row("terminated", since=WALL - 29 * 86400)).drifts == ()
    assert planned(row("terminated")).drifts == ()


def test_an_old_row_whose_session_lives_on_is_never_pruned() -> None:
    old = row("stopped", since=WALL - 31 * 86400)
    assert kinds(planned(old, sight=seen(), rules=RULES._replace(prune=True))) == ["alive"]


# Which pane is meant -----------------------------------------------------------------------------------------------


def test_a_session_of_that_name_on_another_server_is_not_the_one_that_a_row_names() -> None:
    elsewhere = TmuxSnapshot(panes=(pane()._replace(server=("-L", "two")),), processes={0: GONE})
    assert kinds(planned(row(server=("-L", "one")), sight=elsewhere)) == ["A"]
    assert planned(row(server=("-L", "two")), sight=elsewhere._replace(processes={0: LIVES})).drifts == ()


def test_of_several_panes_the_living_one_that_the_row_names_is_meant() -> None:
    named = row(pane=RowPane(7, "claude", HOME, "%2"))
    dead, own, other = pane(dead=True), pane(pid=7)._replace(id="%2"), pane(pid=8)._replace(id="%3")
    for panes in ((dead, own, other), (other, own, dead)):
        assert planned(named, sight=TmuxSnapshot(panes=panes, processes={0: UNKNOWN})).drifts == ()


def test_of_several_panes_the_one_with_the_rows_agent_is_meant_where_none_is_named() -> None:
    shell, codex = pane(pid=5, agent="", command="bash"), pane(pid=6, agent="codex")._replace(id="%2")
    claude = pane(pid=7)._replace(id="%3")
    (found,) = planned(row(), sight=TmuxSnapshot(panes=(shell, codex, claude), processes={0: GONE})).drifts
    assert (found.kind, found.after["pane.pid"]) == ("moved", 7)


def test_a_process_of_that_pid_that_began_at_another_time_is_another() -> None:
    named = row(pane=RowPane(7, "claude", HOME, "%1", 70, "b1"))
    again = TmuxSnapshot(panes=(pane(pid=7, start=99),), processes={0: GONE})
    assert kinds(planned(named, sight=again)) == ["moved"]
    same = TmuxSnapshot(panes=(pane(pid=7, start=70),), processes={0: UNKNOWN})
    assert planned(named, sight=same).drifts == ()


def test_the_next_look_comes_when_the_first_of_several_things_can_be_told() -> None:
    gone, fresh = row(), row()._replace(name="other-creator-claude")
    rules = RULES._replace(fresh={"other-creator-claude": 4.0})
    before = ReconcileMemory(missed={"A:other-creator-claude": 90.0})
    plan = planned(gone, fresh, sight=TmuxSnapshot(processes={0: GONE, 1: GONE}), before=before, rules=rules)
    assert (plan.drifts, plan.again) == ((), 1.0)


# A person's last word ---------------------------------------------------------------------------------------------


def test_what_a_person_has_just_changed_is_not_changed_back() -> None:
    plan = planned(row(), sight=TmuxSnapshot(processes={0: GONE}), rules=RULES._replace(fresh={NAME: 4.0}))
    assert (plan.drifts, plan.again) == ((), 4.0)


def test_what_is_only_told_needs_no_patience() -> None:
    fresh = RULES._replace(fresh={NAME: 4.0})
    assert kinds(planned(row(conversation="87dc"), sight=seen(artifacts={0: GONE}), rules=fresh)) == ["D"]


# What it is at ----------------------------------------------------------------------------------------------------


def test_the_last_visible_status_changes_only_when_the_turn_does() -> None:
    working = TmuxSnapshot(panes=(pane(turn="working"),), processes={0: LIVES})
    noted = row(seen_status="a person's own words")
    first, memory = drift.plan_changes(Registry((noted,)), working, ReconcileMemory(), RULES, now=1.0, wall=WALL)
    assert first == ReconcilePlan((), (), None)
    same, memory = drift.plan_changes(Registry((noted,)), working, memory, RULES, now=2.0, wall=WALL)
    assert same == ReconcilePlan((), (), None)
    idle = TmuxSnapshot(panes=(pane(turn="idle"),), processes={0: LIVES})
    other, memory = drift.plan_changes(Registry((noted,)), idle, memory, RULES, now=3.0, wall=WALL)
    assert other == ReconcilePlan((), (SetFields(0, {"last_visible_status": "idle"}),), None)
    unknown = TmuxSnapshot(panes=(pane(),), processes={0: LIVES})
    nothing, memory = drift.plan_changes(Registry((noted,)), unknown, memory, RULES, now=4.0, wall=WALL)
    assert nothing == ReconcilePlan((), (), None)
    assert memory.turns == {NAME: "idle"}
