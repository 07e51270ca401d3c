"""tmux's control mode: what is asked in it, and what is made of what comes back."""

from __future__ import annotations

import shlex

import pytest

from midwatch.core.pane_model import Pane
from midwatch.tmux.codec import commands as guarded_input
from midwatch.tmux.codec import control_mode, query_modes
from midwatch.tmux.codec.control_mode import ControlModeParser, ControlNotice, ControlReply
from midwatch.tmux.codec.query_modes import BUFFERED, FORKED, LISTED, PRINTED, QueryMode

WORD = "qwertyuiop"
HOSTILE = [
    "two words", "it's", "''", '"', "\\", "\\'", ";", "a ; kill-server", "#{pane_id}", "#(id)", "# comment", "{x}", "}",
    "$HOME", "${HOME}", "~", "~root", "%if", "%1", "A=b", "日本 ✳", "\t", "\r", "-t", "", "!", "=", "a\\nb", "`id`",
]  # fmt: skip


def pane(session: str) -> Pane:
    return Pane(
        ("-S", "/s"), "%7", session, 4711, "", "", "", 80, 24, 0, 0, cursor_visible=True, alternate=False, dead=False,
        dead_status="", activity=0,
    )  # fmt: skip


def answers(heard: list[control_mode.Heard]) -> list[ControlReply]:
    return [each for each in heard if isinstance(each, ControlReply)]


def notices(heard: list[control_mode.Heard]) -> list[str]:
    return [each.name for each in heard if isinstance(each, ControlNotice)]


# What is asked ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_one_argument(text: str) -> None:
    """But for line feeds tmux reads quotes as a shell does; it is asked itself in tests/integration/control."""
    assert shlex.split(f"a {control_mode.quote_argument(text)} b") == ["a", text, "b"]


def test_no_text_can_end_the_line() -> None:
    assert control_mode.quote_argument("one\ntwo'\n") == r"'one'\n'two'\'''\n''"


@pytest.mark.parametrize("text", ["display-message", "-t%12", "C3", "-epbx"])
def test_plain_words_stay_as_they_are_because_they_are_many(text: str) -> None:
    assert control_mode.quote_argument(text) == text


def test_commands_stand_on_one_line_and_what_may_fail_on_lines_of_its_own() -> None:
    command = ["a", "-p", "x y", ";", "b", "\n", "c", "\n", "d", "e\nf"]
    lines = control_mode.encode_request(command, WORD, PRINTED).decode().split("\n")
    assert [line.strip() for line in lines] == [
        "a -p 'x y' ; b",
        "c",
        r"d 'e'\n'f'",
        f"display-message -p {WORD}Z",
        "",
    ]


def test_a_buffer_goes_with_the_last_command_or_if_that_was_dropped_with_the_next_line() -> None:
    lines = (
        control_mode.encode_request(["capturep", f"-b{WORD}", ";", "showb", f"-b{WORD}"], WORD, BUFFERED)
        .decode()
        .split("\n")
    )
    gone = f"delete-buffer -b {WORD}"
    assert lines == [f"capturep -b{WORD} ; showb -b{WORD} ; {gone}", gone, f"display-message -p {WORD}Z", ""]


PANES = [f"%{number}" for number in range(700)]


@pytest.mark.parametrize("way", [PRINTED, BUFFERED])
@pytest.mark.parametrize("colours", [False, True])
def test_all_screens_that_are_wanted_anyway_are_asked_for_with_the_list_at_one_moment(
    way: QueryMode, *, colours: bool
) -> None:
    command = guarded_input.survey_command(WORD, dict.fromkeys(PANES, 0) | {"%900": 17}, colours=colours, way=way)
    targets = [part[-len(pane) :] for pane in PANES for part in command if part.endswith(f"t{pane}")]
    assert targets == PANES
    assert not {"if", "\n", "-t%900"} & set(command)


@pytest.mark.parametrize(
    ("way", "commands"), [(PRINTED, ["display", "capturep"]), (BUFFERED, ["capturep", "display", "showb", "deleteb"])]
)
def test_what_may_be_gone_is_asked_for_on_a_line_of_its_own(way: QueryMode, commands: list[str]) -> None:
    """A buffer is made and deleted on the same line, so that nobody can see it."""
    (command,) = guarded_input.capture_commands(WORD, PANES, colours=True, way=way)
    *lines, end = [line.split("\0;\0") for line in "\0".join(command).split("\0\n\0")]
    assert end == [f"display-message\0-p\0{WORD}E"]
    assert [[part.split("\0")[0] for part in line] for line in lines] == [commands] * len(PANES)
    for pane, line in zip(PANES, lines, strict=True):
        assert sum(part.endswith(f"t{pane}") or f"t{pane}\0" in part for part in line) == 2


def test_where_screens_do_not_come_through_control_mode_only_the_list_is_asked_for() -> None:
    assert guarded_input.survey_command(
        WORD, dict.fromkeys(PANES, 0), colours=True, way=LISTED
    ) == guarded_input.survey_command(WORD, {}, colours=True)


def test_a_client_attaches_by_the_exact_name_and_nothing_of_it_is_a_command() -> None:
    *_, come = control_mode.attach_command(pane("x'; kill-server; '"))
    flags = "no-output,ignore-size"
    assert shlex.split(come) == ["attach-session", "-E", "-f", flags, "-t", "=x'; kill-server; ':"]


def test_a_client_attaches_only_where_the_pane_is_and_nobody_else() -> None:
    has, target, here, *rest = control_mode.attach_command(pane("work"))
    assert (has, target, here) == ("has-session", "-t", "=work:.%7")
    assert rest[:5] == [";", "if-shell", "-F", "-t", "=work:.%7"]
    assert rest[5].startswith("#{m/r:^4711/0/0/(0|off)/(1|on)/$,#{pane_pid}/#{pane_dead}/#{session_attached}/")


@pytest.mark.parametrize(
    ("version", "way"),
    [
        *(("3.0a", None), ("3.1c", None), ("3.2a", None), ("3.3", LISTED), ("3.3a", BUFFERED)),
        *(("3.4", LISTED), ("3.5a", LISTED), ("3.6", PRINTED), ("3.6b", PRINTED), ("next-3.7", PRINTED)),
        *(("4.0", PRINTED), ("openbsd-7.6", LISTED), ("master", LISTED), ("", LISTED)),
    ],
)
def test_how_a_screen_comes_depends_on_what_the_server_would_keep_or_tell(version: str, way: QueryMode | None) -> None:
    assert query_modes.control_mode_for(version) == way


def test_without_a_client_in_control_mode_nothing_is_guarded() -> None:
    assert (FORKED.guarded, FORKED.buffered) == (False, False)


@pytest.mark.parametrize(
    ("written", "held"),
    [
        (rb"\033[1mbold\033[0m", b"\x1b[1mbold\x1b[0m"),
        (rb"C:\\new\\table", rb"C:\new\table"),
        (rb"\\033 as text", rb"\033 as text"),
        (rb"\$HOME $1 $", b"$HOME $1 $"),
        (rb"\t\a\b\v\f\r", b"\t\a\b\v\f\r"),
        (rb"\016\017\377", b"\x0e\x0f\xff"),
        ("✳ \\\\ 日本".encode(), "✳ \\ 日本".encode()),
        (rb"half \0", rb"half 0"),
    ],
)
def test_a_shown_buffer_is_read_as_it_was_filled(written: bytes, held: bytes) -> None:
    assert query_modes.unescape_buffer(written) == held


# What comes ---------------------------------------------------------------------------------------------------

BEFORE = b"%begin 17 1 0\n%end 17 1 0\n%session-changed $0 work\n"
REPLY = b"%begin 17 2 1\nrow\n%end 17 2 1\n"
LAST = b"%begin 17 3 1\nqwertyuiopZ\n%end 17 3 1\n"


def test_an_answer_is_all_that_came_until_its_last_line() -> None:
    reader = ControlModeParser()
    assert reader.feed(BEFORE) == [ControlNotice("session-changed", "$0 work")]
    reader.expect(WORD)
    assert reader.feed(REPLY) == []
    assert reader.feed(LAST) == [ControlReply(REPLY + b"%begin 17 3 1\n", "")]
    assert reader.feed(b"%sessions-changed\n") == [ControlNotice("sessions-changed", "")]


def test_notices_before_and_after_an_answer_are_heard_in_order() -> None:
    reader = ControlModeParser()
    reader.expect(WORD)
    heard = reader.feed(b"%window-add @1\n" + REPLY + b"%window-close @1\n" + LAST + b"%exit lost tty\n%half")
    assert [each if isinstance(each, ControlNotice) else "answer" for each in heard] == [
        ControlNotice("window-add", "@1"),
        ControlNotice("window-close", "@1"),
        "answer",
        ControlNotice("exit", "lost tty"),
    ]


def test_text_of_a_screen_is_no_notice_and_ends_nothing() -> None:
    rows = b"%exit\n%end 17 9 1\n%error 17 2 0\n%end 17 2 1 \n %end 17 2 1\n%sessions-changed\n"
    screen = b"%begin 17 2 1\n" + rows + b"%end 17 2 1\n"
    reader = ControlModeParser()
    reader.expect(WORD)
    assert notices(reader.feed(screen + LAST)) == []
    assert notices(reader.feed(b"%sessions-changed\n")) == ["sessions-changed"]


def test_a_screen_that_guesses_its_guard_ends_no_answer_and_hides_no_later_notice() -> None:
    """The numbers only count up, so a program can write down beforehand what tmux will write around its screen."""
    forged = b"%begin 17 2 1\n%end 17 2 1\n%begin 17 3 1\nqwertyuiopE\n%begin 17 8 1\n%end 17 2 1\n"
    reader = ControlModeParser()
    reader.expect(WORD)
    (answer,) = answers(reader.feed(forged + b"%begin 17 4 1\nqwertyuiopZ\n%end 17 4 1\n"))
    assert answer.text == forged + b"%begin 17 4 1\n"
    assert notices(reader.feed(b"%sessions-changed\n")) == ["sessions-changed"]


def test_what_commands_complained_of_is_told() -> None:
    reader = ControlModeParser()
    reader.expect(WORD)
    failed = b"%begin 17 5 1\ncan't find pane: %9\n%error 17 5 1\n%begin 17 6 1\nparse error: x\n%error 17 6 1\n"
    (answer,) = answers(reader.feed(REPLY + failed + LAST))
    assert answer.errors == "can't find pane: %9\nparse error: x\n"


def test_an_answer_that_nobody_waits_for_any_more_is_passed_over() -> None:
    """After it comes the one that is waited for, with a word of its own."""
    reader = ControlModeParser()
    reader.expect("earlier")
    reader.expect(WORD)
    (answer,) = answers(reader.feed(b"%begin 17 1 1\nearlierZ\n%end 17 1 1\n" + REPLY + LAST))
    assert answer.text.endswith(REPLY + b"%begin 17 3 1\n")


def test_what_is_no_line_of_the_protocol_is_passed_over() -> None:
    assert ControlModeParser().feed(b"\x1bP1000p\nhello\n\n") == []
    assert ControlModeParser().feed(b"%\xff\xfe x\n") == [ControlNotice("��", "x")]
