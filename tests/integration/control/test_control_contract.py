"""What holds for looks by a client of their own holds for those through a client in control mode."""

from __future__ import annotations

from tests.integration.panes.test_hostile_names import (
    test_a_session_is_found_by_its_whole_name,
    test_names_of_sessions_come_as_tmux_writes_them,
    test_paths_come_as_they_are,
    test_sessions_that_share_a_window_are_all_named,
    test_titles_come_as_they_are,
)
from tests.integration.panes.test_looking_again import (
    test_a_clock_that_is_set_makes_us_look_again,
    test_after_any_change_the_screen_is_as_tmux_shows_it,
    test_nothing_shown_is_ever_older_than_the_look,
    test_screens_with_and_without_colours_are_kept_apart,
)
from tests.integration.panes.test_manners import test_hooks_of_the_owner_may_speak_between_our_lines
from tests.integration.panes.test_screens import (
    test_a_person_who_scrolls_back_does_not_change_what_we_see,
    test_a_screen_cannot_pass_for_another_by_showing_our_mark,
    test_only_wanted_screens_are_shown_but_all_panes_listed,
    test_screens_come_as_tmux_prints_them,
    test_screens_of_all_sizes_stay_apart,
    test_the_list_tells_cursor_and_screen_of_a_pane,
)
from tests.integration.panes.test_vanishing import (
    test_a_known_pane_that_is_gone_costs_the_others_nothing,
    test_a_pane_that_goes_between_list_and_capture_takes_nothing_with_it,
)

__all__ = [
    "test_a_clock_that_is_set_makes_us_look_again",
    "test_a_known_pane_that_is_gone_costs_the_others_nothing",
    "test_a_pane_that_goes_between_list_and_capture_takes_nothing_with_it",
    "test_a_person_who_scrolls_back_does_not_change_what_we_see",
    "test_a_screen_cannot_pass_for_another_by_showing_our_mark",
    "test_a_session_is_found_by_its_whole_name",
    "test_after_any_change_the_screen_is_as_tmux_shows_it",
    "test_hooks_of_the_owner_may_speak_between_our_lines",
    "test_names_of_sessions_come_as_tmux_writes_them",
    "test_nothing_shown_is_ever_older_than_the_look",
    "test_only_wanted_screens_are_shown_but_all_panes_listed",
    "test_paths_come_as_they_are",
    "test_screens_come_as_tmux_prints_them",
    "test_screens_of_all_sizes_stay_apart",
    "test_screens_with_and_without_colours_are_kept_apart",
    "test_sessions_that_share_a_window_are_all_named",
    "test_the_list_tells_cursor_and_screen_of_a_pane",
    "test_titles_come_as_they_are",
]
