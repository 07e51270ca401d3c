"""Which of the lines that a screen has shown are written, and when."""

from __future__ import annotations

from collections.abc import Iterable

from midwatch.terminal.transcript import RESTS, SETTLES, ScreenTranscript

DRAWS = b"\x1b[H"
"""What makes clear that this is a program that draws."""


class Written:
    """A transcript with its clock, and what it has written."""

    def __init__(self, columns: int = 40, height: int = 8) -> None:
        self.lines: list[str] = []
        self.now = 0.0
        self.transcript = ScreenTranscript(columns, height, lambda text: self.lines.extend(text[:-1].split("\n")))

    def show(self, data: str | bytes, after: float = 0.05) -> None:
        """What a pane prints some time after the last."""
        self.wait(after)
        self.transcript.feed(data if isinstance(data, bytes) else data.encode(), self.now)

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        while (due := self.transcript.due()) is not None and due <= until:
            self.transcript.observe(due)
        self.now = until

    def frames(self, frames: Iterable[str], every: float = 0.1) -> None:
        for frame in frames:
            self.show(frame, every)


def test_lines_of_a_program_that_prints_go_out_at_once() -> None:
    written = Written()
    written.show("one\r\n\r\n\r\ntwo   three\r\nunfinis")
    assert written.lines == ["one", "", "", "two   three"]
    written.show("hed\r\n")
    assert written.lines[-1] == "unfinished"


def test_a_question_goes_out_when_the_pane_is_silent() -> None:
    written = Written()
    written.show("Continue? [y/N] ")
    assert written.lines == []
    written.wait(RESTS)
    assert written.lines == ["Continue? [y/N]"]
    assert written.transcript.due() is None


def test_a_progress_bar_is_one_line() -> None:
    written = Written()
    written.frames(f"\r{percent}% [{'=' * (percent // 10)}]" for percent in range(0, 101, 5))
    written.show("\r\ndone\r\n")
    assert written.lines == ["100% [==========]", "done"]


def test_a_screen_that_is_drawn_again_is_written_once() -> None:
    written = Written()
    written.frames("\x1b[H\x1b[2Kanswer\r\n\x1b[2K\r\n\x1b[2Kmore" for _ in range(50))
    written.wait(5)
    assert written.lines == ["answer", "", "more"]


def test_a_spinner_and_its_clock_are_not_written_again_and_again() -> None:
    written = Written()
    for second in range(30):
        written.frames(
            (f"{DRAWS.decode()}{glyph} Thinking… ({second}s · {second * 7} tokens)" for glyph in "✻✶✳✢"), 0.25
        )
    written.wait(5)
    assert len([line for line in written.lines if "Thinking" in line]) <= 1


def test_a_slow_clock_is_written_once_and_at_the_end() -> None:
    written = Written()
    written.frames((f"{DRAWS.decode()}Working ({second}s)" for second in range(0, 60, 5)), 5.0)
    written.wait(5)
    assert written.lines == ["Working (0s)"]
    written.transcript.finish()
    assert written.lines == ["Working (0s)", "Working (55s)"]


def test_lines_that_differ_in_a_clock_are_all_written_if_they_stand_together() -> None:
    written = Written()
    written.show(DRAWS + b"test passed in 1s\r\ntest passed in 2s\r\n- old(a)\r\n+ old(a)")
    written.wait(1)
    assert written.lines == ["test passed in 1s", "test passed in 2s", "- old(a)", "+ old(a)"]


def test_what_moves_up_is_not_written_again() -> None:
    written = Written()
    written.show(DRAWS + b"one\r\ntwo\x1b[8;1H> box")
    written.wait(1)
    written.show(b"\x1b[H\x1b[2Ktwo\r\n\x1b[2Kthree\x1b[8;1H> box")
    written.wait(1)
    assert written.lines == ["one", "two", "", "> box", "three"]


def test_a_panel_beside_the_text_makes_no_old_line_new() -> None:
    written = Written()
    written.show(DRAWS + "one\x1b[1;30H│ 10 USD\r\ntwo\x1b[2;30H│ files".encode())
    written.wait(1)
    written.show("\x1b[H\x1b[2Ktwo\x1b[1;30H│ 20 USD\r\n\x1b[2Kthree\x1b[2;30H│ files")
    written.wait(1)
    assert [line.split()[0] for line in written.lines] == ["one", "two", "two", "three"]
    written.show("\x1b[H\x1b[2Kthree\x1b[1;30H│ 20 USD\r\n\x1b[2Kfour\x1b[2;30H│ files")
    written.wait(1)
    assert [line.split()[0] for line in written.lines[4:]] == ["four"]


def test_the_same_question_is_written_each_time_it_is_asked() -> None:
    written = Written()
    for _ in range(3):
        written.show(DRAWS + b"\x1b[2JDo you want to proceed?")
        written.wait(2)
        written.show(b"\x1b[H\x1b[2J> ")
        written.wait(2)
    assert written.lines.count("Do you want to proceed?") == 3


def test_a_line_that_stands_beside_a_spinner_is_written_when_it_has_stood_for_a_while() -> None:
    written = Written()
    written.show(DRAWS + b"\r\nThis command requires approval")
    glyphs = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    written.frames((f"\x1b[H{glyphs[at % 10]} " for at in range(int(SETTLES * 10) + 3)), 0.1)
    assert written.lines == ["This command requires approval"]


def test_a_line_that_grows_is_written_whole() -> None:
    written, words = Written(), ["words", "that", "come", "one", "after", "the", "other"]
    written.frames(
        (f"{DRAWS.decode()}{' '.join(words[: count + 1])}\x1b[5;1H{count}" for count in range(len(words))), 0.2
    )
    written.wait(1)
    assert [line for line in written.lines if line.startswith("words")] == [" ".join(words)]


def test_what_was_read_on_an_alternate_screen_is_written_though_it_vanishes() -> None:
    written = Written()
    written.show(b"\x1b[?1049h")
    written.frames((f"\x1b[H\x1b[2Kline {at // 4}\x1b[2;1H{'-+'[at % 2]}" for at in range(40)), 0.12)
    assert [line for line in written.lines if "line" in line] == [f"line {number}" for number in range(9)]


def test_all_that_is_printed_again_after_everything_was_cleared_is_known() -> None:
    written = Written()
    text = [f"line {number} of the conversation" for number in range(30)]
    for count in (20, 25, 30):
        written.show("\x1b[2J\x1b[3J\x1b[H" + "\r\n".join(text[:count]))
        written.wait(2)
    assert written.lines == text


def test_a_resize_repeats_nothing() -> None:
    written = Written()
    text = [f"line {number}" for number in range(20)]
    written.show(DRAWS + "\r\n".join(text).encode())
    written.wait(1)
    for size in ((40, 12), (40, 5), (20, 8), (60, 8)):
        written.transcript.resize(*size)
        written.show(b"\x1b[m")
        written.wait(1)
    assert written.lines == text


def test_the_end_writes_what_is_on_the_screen() -> None:
    written = Written()
    written.show(DRAWS + b"last words\r\n\r\nof all")
    written.transcript.finish()
    assert written.lines == ["last words", "", "of all"]
    written.transcript.finish()
    assert written.lines == ["last words", "", "of all"]


def test_half_a_frame_is_not_looked_at() -> None:
    written = Written()
    written.show(DRAWS + b"\x1b[?2026hhalf a")
    written.wait(RESTS * 2)
    assert written.lines == []
    written.show(b" frame\x1b[?2026l")
    written.wait(1)
    assert written.lines == ["half a frame"]
