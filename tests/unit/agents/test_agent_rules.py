"""Which source is believed: rule 3 of the judge, and where the present outweighs what was told before."""

from __future__ import annotations

from midwatch.agents.rules import fuse_sources
from midwatch.agents.turn_model import Presence, SourceReading
from midwatch.core.foreign_text import ForeignText

ALIVE = Presence("alive", "it runs", 7)
NOW = 1000.0


def said(source: str, turn: str, detail: str = "", at: float | None = None) -> SourceReading:
    return SourceReading(source, turn, detail, f"{source}-rule", at)


def test_the_stronger_source_is_believed() -> None:
    found = fuse_sources((said("state", "working"), said("screen", "idle", "turn-ended")), ALIVE)
    assert (found.turn, found.source) == ("working", "state")
    assert [each.source for each in found.against] == ["screen"]


def test_a_dialog_on_the_screen_refines_a_title_that_cannot_tell() -> None:
    found = fuse_sources((said("title", "idle"), said("screen", "waiting", "permission")), ALIVE)
    assert (found.turn, found.detail) == ("waiting", "permission")


def test_a_limit_outranks_a_menu() -> None:
    found = fuse_sources((said("state", "waiting", "permission"), said("screen", "limited", "plan")), ALIVE)
    assert found.turn == "limited"


def test_a_dialog_does_not_refine_what_was_said_after_it_came_up() -> None:
    heard = (said("state", "working", at=NOW), said("screen", "waiting", "permission"))
    assert fuse_sources(heard, ALIVE, {"screen": NOW - 60}, NOW).turn == "working"
    assert fuse_sources(heard, ALIVE, {"screen": NOW + 1}, NOW + 2).turn == "waiting"


def test_a_menu_that_a_person_opens_over_the_work_does_not_stop_it() -> None:
    assert fuse_sources((said("state", "working"), said("screen", "waiting", "menu")), ALIVE).turn == "working"
    assert fuse_sources((said("state", "working"), said("screen", "waiting", "permission")), ALIVE).turn == "waiting"
    assert fuse_sources((said("state", "idle"), said("screen", "waiting", "menu")), ALIVE).turn == "waiting"


def test_nothing_that_is_dead_is_working() -> None:
    found = fuse_sources((said("state", "working"), said("title", "working")), Presence("gone", "a shell is there"))
    assert (found.turn, found.rule) == ("exited", "process-gone")
    assert len(found.against) == 2


def test_suspended_is_told_apart() -> None:
    assert fuse_sources((said("title", "working"),), Presence("suspended", "T", 7)).detail == "suspended"


def test_a_goodbye_on_the_screen_of_a_living_agent_is_only_text() -> None:
    assert fuse_sources((said("screen", "exited"),), ALIVE).turn == "unknown"
    assert fuse_sources((said("screen", "exited"),), Presence("unseen", "inside ssh")).turn == "exited"


def test_nobody_saying_anything_is_unknown() -> None:
    assert fuse_sources((), ALIVE).turn == "unknown"


def test_esc_that_no_hook_tells_of_is_seen_on_the_screen() -> None:
    heard = (said("hook", "working", at=NOW - 60), said("title", "idle"), said("screen", "idle", "interrupted"))
    assert fuse_sources(heard, ALIVE, {"title": NOW - 1, "screen": NOW - 1}, NOW).turn == "idle"


def test_a_hook_that_just_came_is_ahead_of_the_screen() -> None:
    heard = (said("hook", "waiting", "permission", at=NOW), said("title", "working"))
    assert fuse_sources(heard, ALIVE, {"title": NOW - 60}, NOW).turn == "waiting"


def test_a_failure_that_no_hook_tells_of_is_told_by_the_transcript() -> None:
    heard = (said("hook", "working", at=NOW), said("transcript", "idle", "turn-failed", at=NOW + 0.1))
    assert fuse_sources(heard, ALIVE, {"hook": NOW, "transcript": NOW}, NOW + 0.2).detail == "turn-failed"


def test_a_failure_that_nobody_tells_of_is_seen_when_it_has_lasted() -> None:
    heard = (said("hook", "working", at=NOW), said("screen", "idle", "turn-failed"))
    assert fuse_sources(heard, ALIVE, {"screen": NOW + 0.1}, NOW + 1).turn == "working"
    assert fuse_sources(heard, ALIVE, {"screen": NOW + 0.1}, NOW + 3).turn == "idle"


def test_a_transcript_that_tells_of_every_end_is_not_outweighed_by_a_screen_at_rest() -> None:
    """Codex with its animations off: text has begun, then silence; the screen is that of an answer that has ended."""
    firm = said("transcript", "working", at=NOW)._replace(firm=True)
    heard = (firm, said("screen", "idle", "turn-ended"))
    assert fuse_sources(heard, ALIVE, {"screen": NOW + 30}, NOW + 600).turn == "working"
    asked = (firm, said("screen", "waiting", "permission"))
    assert fuse_sources(asked, ALIVE, {"screen": NOW + 30}, NOW + 600).turn == "waiting"


def test_a_permission_that_was_given_at_once_is_over() -> None:
    heard = (said("hook", "waiting", "permission", at=NOW), said("title", "working"))
    assert fuse_sources(heard, ALIVE, {"title": NOW + 0.5}, NOW + 600).turn == "working"


def test_a_state_file_that_was_written_after_the_question_knows_the_answer() -> None:
    heard = (said("state", "working", at=NOW + 0.5), said("hook", "waiting", "permission", at=NOW))
    assert fuse_sources(heard, ALIVE, {"hook": NOW}, NOW + 600).turn == "working"
    asked = (said("state", "working", at=NOW - 5), said("hook", "waiting", "permission", at=NOW))
    assert fuse_sources(asked, ALIVE, {"hook": NOW}, NOW).turn == "waiting"


def test_a_single_look_believes_the_screen_over_an_old_event() -> None:
    heard = (said("transcript", "working", at=NOW - 60), said("screen", "idle", "turn-ended"))
    assert fuse_sources(heard, ALIVE, None, NOW).turn == "idle"
    fresh = (said("transcript", "working", at=NOW - 1), said("screen", "idle", "turn-ended"))
    assert fuse_sources(fresh, ALIVE, None, NOW).turn == "working"


def test_an_answer_that_reads_like_a_limit_is_none_when_its_turn_ended_well() -> None:
    heard = (said("transcript", "idle", "turn-ended", at=NOW), said("screen", "limited", "plan"))
    assert fuse_sources(heard, ALIVE, None, NOW).turn == "idle"
    failed = (said("transcript", "idle", "turn-failed", at=NOW), said("screen", "limited", "plan"))
    assert fuse_sources(failed, ALIVE, None, NOW).turn == "limited"


def test_a_title_at_rest_does_not_hide_a_running_status_line() -> None:
    assert fuse_sources((said("title", "idle"), said("screen", "working", "model")), ALIVE).turn == "working"


def test_rest_that_an_agent_has_just_told_of_is_not_believed_while_its_status_line_runs() -> None:
    """Claude Code is at rest for a blink between a sub-agent's end and the turn that goes on with it."""
    for source in ("osc7501", "state", "api"):
        heard = (said(source, "idle", "turn-ended", at=NOW), said("screen", "working"))
        assert fuse_sources(heard, ALIVE, None, NOW + 0.2).turn == "working"
        assert fuse_sources(heard, ALIVE, None, NOW + 2.5).turn == "idle"
        assert fuse_sources((heard[0], said("screen", "idle")), ALIVE, None, NOW + 0.2).turn == "idle"


def test_a_question_before_the_first_prompt_is_named_by_the_screen() -> None:
    """Claude Code 2.1.326 reports its question for trust as one for permission."""
    report = said("osc7501", "waiting", "permission")
    assert fuse_sources((report, said("screen", "waiting", "trust")), ALIVE).detail == "trust"
    assert fuse_sources((report, said("screen", "waiting", "menu")), ALIVE).detail == "permission"


def test_the_detail_comes_from_whoever_agrees_and_knows_it() -> None:
    found = fuse_sources((said("state", "idle"), said("screen", "idle", "turn-failed")), ALIVE)
    assert (found.source, found.detail) == ("state", "turn-failed")


# Interrupted turns


def scene(wall: float, at: float | None = NOW + 1) -> str:
    """Claude Code after Esc before its first word: an older turn's closing line stands on the screen."""
    heard = (
        said("state", "idle", at=at), said("transcript", "working", at=NOW), said("title", "idle"),
        said("screen", "idle", "turn-ended"),
    )  # fmt: skip
    found = fuse_sources(heard, ALIVE, None if at else {"state": NOW + 1, "screen": NOW - 60}, wall)
    assert found.turn == "idle"
    return found.detail


def test_a_closing_line_on_the_screen_is_an_older_turns_while_no_event_tells_of_an_end() -> None:
    assert scene(NOW + 1.5) == "", "the transcript may be late"
    assert scene(NOW + 4) == "interrupted"
    assert scene(NOW + 4, at=None) == "interrupted"


def test_a_turn_that_its_transcript_tells_the_end_of_was_not_interrupted() -> None:
    heard = (said("state", "idle", at=NOW + 1), said("transcript", "idle", "turn-ended", at=NOW + 1))
    assert fuse_sources(heard, ALIVE, None, NOW + 60).detail == "turn-ended"


def test_a_failure_that_is_there_to_be_seen_is_no_interruption() -> None:
    failed = said("screen", "idle", "turn-failed")
    heard = (said("state", "idle", at=NOW + 1), said("transcript", "working", at=NOW), failed)
    assert fuse_sources(heard, ALIVE, None, NOW + 60).detail == "turn-failed"


def test_the_screen_alone_says_how_a_turn_ended() -> None:
    assert fuse_sources((said("screen", "idle", "turn-ended"),), ALIVE, None, NOW).detail == "turn-ended"


# Rest that only shows as a sign that is missing


def test_no_sign_of_work_is_no_rest_while_a_turn_is_open() -> None:
    heard = (said("transcript", "working", at=NOW), said("screen", "idle"))
    assert fuse_sources(heard, ALIVE, {"screen": NOW + 1}, NOW + 2).turn == "working"
    assert fuse_sources(heard, ALIVE, {"screen": NOW + 1}, NOW + 60).turn == "unknown"
    assert fuse_sources(heard, ALIVE, None, NOW + 60).turn == "unknown"
    tool = (said("transcript", "working", "tool", at=NOW), said("screen", "idle"))
    assert fuse_sources(tool, ALIVE, {"screen": NOW + 1}, NOW + 60).turn == "working"


def test_without_an_open_turn_no_sign_of_work_is_rest() -> None:
    heard = (said("transcript", "idle", "turn-ended", at=NOW), said("screen", "idle"))
    assert fuse_sources(heard, ALIVE, {"screen": NOW + 1}, NOW + 60).turn == "idle"
    assert fuse_sources((said("screen", "idle"),), ALIVE, {"screen": NOW}, NOW + 60).turn == "idle"


# Limits


LIMIT = said("transcript", "limited", "plan", at=NOW)._replace(until=ForeignText("3pm"), ends=NOW + 3600)


def test_rest_does_not_end_a_limit() -> None:
    for idle in (said("state", "idle", at=NOW + 0.2), said("hook", "idle", "turn-failed", at=NOW + 0.2)):
        assert fuse_sources((idle, LIMIT, said("screen", "idle")), ALIVE, None, NOW + 60).turn == "limited"


def test_a_menu_does_not_end_a_limit() -> None:
    assert fuse_sources((said("state", "waiting", "menu", at=NOW + 1), LIMIT), ALIVE, None, NOW + 60).turn == "limited"


def test_a_newer_turn_ends_a_limit() -> None:
    assert fuse_sources((said("state", "working", at=NOW + 60), LIMIT), ALIVE, None, NOW + 61).turn == "working"
    ended = said("hook", "idle", "turn-ended", at=NOW + 60)
    assert fuse_sources((ended, LIMIT), ALIVE, None, NOW + 61).turn == "idle"


def test_a_limit_is_over_when_its_time_has_come() -> None:
    found = fuse_sources((said("state", "idle", at=NOW + 1), LIMIT), ALIVE, None, NOW + 3600)
    assert (found.turn, found.detail) == ("idle", "limit-over")
    failed = (said("hook", "idle", "turn-failed", at=NOW + 1), LIMIT)
    assert fuse_sources(failed, ALIVE, None, NOW + 3600).detail == "limit-over"


def test_a_limit_without_an_end_lasts_a_day() -> None:
    heard = (said("state", "idle", at=NOW + 1), LIMIT._replace(until=ForeignText(""), ends=None))
    assert fuse_sources(heard, ALIVE, None, NOW + 86399).turn == "limited"
    assert fuse_sources(heard, ALIVE, None, NOW + 86400).detail == "limit-over"


def test_a_turn_that_is_seen_to_wait_for_its_sub_agents_goes_on_though_an_event_told_its_end() -> None:
    heard = (said("hook", "idle", "background-work", NOW), said("screen", "working", "tool"))
    since = {"screen": NOW - 30, "hook": NOW}
    assert fuse_sources(heard, ALIVE, since, NOW + 1).turn == "working"
    ended = (said("hook", "idle", "turn-ended", NOW), said("screen", "working", "tool"))
    assert fuse_sources(ended, ALIVE, since, NOW + 4).turn == "idle"


# What the agent reports of itself (OSC 7501) -------------------------------------------------------------------------


def test_what_the_agent_reports_is_believed_before_its_files() -> None:
    heard = (said("osc7501", "idle", "interrupted", NOW), said("state", "idle", at=NOW), said("transcript", "working"))
    found = fuse_sources(heard, ALIVE, {}, NOW + 60)
    assert (found.turn, found.detail, found.source) == ("idle", "interrupted", "osc7501")
    assert [each.source for each in found.against] == ["transcript"]


def test_what_the_agent_does_not_report_others_tell() -> None:
    done = said("osc7501", "idle", "turn-ended", NOW)
    assert fuse_sources((done, said("state", "waiting", "menu")), ALIVE, {}, NOW + 9).turn == "waiting"
    assert fuse_sources((done, said("screen", "waiting", "trust")), ALIVE, {}, NOW + 9).detail == "trust"
    shell = fuse_sources((done, said("state", "idle", "background-work")), ALIVE, {}, NOW + 9)
    assert (shell.turn, shell.detail) == ("idle", "background-work")
    failed = fuse_sources(
        (said("osc7501", "idle", "turn-failed", NOW), said("screen", "limited", "plan")), ALIVE, {}, NOW + 9
    )
    assert failed.turn == "limited"
    blocked = fuse_sources(
        (said("osc7501", "waiting", "", NOW), said("screen", "waiting", "startup-dialog")), ALIVE, {}, NOW
    )
    assert blocked.detail == "startup-dialog"


def test_an_answer_that_reads_like_a_limit_is_none_when_the_agent_reports_that_it_is_done() -> None:
    heard = (said("osc7501", "idle", "turn-ended", NOW), said("screen", "limited", "plan"))
    assert fuse_sources(heard, ALIVE, {}, NOW + 9).turn == "idle"


def test_a_menu_over_reported_work_does_not_stop_it() -> None:
    assert (
        fuse_sources((said("osc7501", "working", "", NOW), said("screen", "waiting", "menu")), ALIVE).turn == "working"
    )


def test_a_report_cannot_make_a_dead_agent_alive() -> None:
    found = fuse_sources((said("osc7501", "working", "", NOW),), Presence("gone", "a shell is there"), {}, NOW)
    assert (found.turn, found.rule) == ("exited", "process-gone")


def test_a_report_that_others_have_clearly_overtaken_was_lost() -> None:
    done = said("osc7501", "idle", "turn-ended", NOW)
    for source in ("state", "hook", "transcript"):
        assert fuse_sources((done, said(source, "working", at=NOW + 4)), ALIVE, {}, NOW + 5).turn == "working"
        assert fuse_sources((done, said(source, "working", at=NOW + 1)), ALIVE, {}, NOW + 5).turn == "idle"


def test_a_question_stays_open_though_other_tools_end_until_something_shows_the_present() -> None:
    asks = said("osc7501", "waiting", "permission", NOW)
    for source in ("hook", "transcript"):
        assert fuse_sources((asks, said(source, "working", "tool", NOW + 60)), ALIVE, {}, NOW + 61).turn == "waiting"
    assert fuse_sources((asks, said("state", "working", at=NOW + 60)), ALIVE, {}, NOW + 61).turn == "working"
