"""How replies of tmux are read: whole, cut off anywhere, and full of what others put there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.pane_model import Pane
from midwatch.tmux.codec import commands

WORD = "qwertyuiop"
SERVER = f"{WORD}S3.3a,123,1794000000\n"
END = f"{WORD}E\n"
NUMBERS = "@4,77,80,3,5,1,1,0,0,,,1794000123,/dev/pts/4"


def listed(pane: str, *texts: str) -> str:
    return f"{WORD}P{pane},{NUMBERS}{WORD}{WORD.join(texts)}{WORD}.\n"


def shown(pane: str, rows: list[str]) -> str:
    return f"{WORD}C{pane},{len(rows)}\n" + "".join(f"{row}\n" for row in rows)


def read(text: str) -> commands.QueryReply:
    return commands.read_reply(text.encode("utf-8", "surrogateescape"), WORD, ("-L", "x"))


def test_every_field_is_where_it_belongs() -> None:
    reply = read(SERVER + listed("%3", "title", "node", "/home", "main") + END)
    assert reply.server == commands.TmuxServer("3.3a", 123, 1794000000)
    assert reply.panes == (
        Pane(
            ("-L", "x"), "%3", "main", 77, "title", "node", "/home", 80, 3, 5, 1, cursor_visible=True, alternate=False,
            dead=False, dead_status="", activity=1794000123, tty="/dev/pts/4", window="@4",
        ),
    )  # fmt: skip
    assert reply.complete


def test_a_dead_pane_says_how_it_ended_as_far_as_tmux_knows() -> None:
    line = listed("%3", "t", "c", "/", "s")
    ends = [line.replace(",0,,,", f",1,{how},") for how in ("3,", ",9", ",")]
    found = [read(one + END).panes[0] for one in ends]
    assert [(pane.dead, pane.dead_status, pane.dead_signal) for pane in found] == [
        (True, "3", ""),
        (True, "", "9"),
        (True, "", ""),
    ]


TEXTS = [
    "",
    "a|b",
    "@@@",
    "#{pane_id}",
    "a,b,c",
    "'\"\\ $(x) `y`",
    "tab\there",
    "\x1b[1m",
    "qwertyuio",
    "日本 é \u2028\x85",
]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_others_come_as_they_are(text: str) -> None:
    pane = read(listed("%3", text, text, f"/{text}", text) + END).panes[0]
    assert (pane.title, pane.command, pane.path, pane.session) == (text, text, f"/{text}", text)


def test_a_path_may_have_lines_and_bytes_that_are_no_text() -> None:
    path = "/a\nb\n\n\udcff"
    reply = read(listed("%3", "t", "c", path, "s") + listed("%4", "t", "c", "/", "s") + END)
    assert [pane.path for pane in reply.panes] == [path, "/"]


def test_a_window_shown_by_several_sessions_is_one_pane() -> None:
    reply = read("".join(listed("%3", "t", "c", "/", name) for name in ("a", "b.c", "d")) + END)
    assert [(pane.session, pane.also) for pane in reply.panes] == [("a", ("b.c", "d"))]


HOSTILE = [END[:-1], f"{WORD}C%3,1", f"{WORD}C%9,99999", f"{WORD}P%3,1", f"{WORD}.", "", "x"]


@given(st.lists(st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(exclude_characters="\n"))), max_size=5))
def test_screens_come_as_they_are_whatever_they_show(screens: list[list[str]]) -> None:
    wanted = {f"%{number}": rows or [""] for number, rows in enumerate(screens)}
    text = SERVER + "".join(shown(pane, rows) for pane, rows in wanted.items()) + END
    reply = commands.read_reply(text.encode("utf-8", "replace"), WORD)
    expected = {pane: tuple(row.encode("utf-8", "replace").decode() for row in rows) for pane, rows in wanted.items()}
    assert (reply.complete, reply.screens, reply.panes) == (True, expected, ())


def test_a_line_that_is_known_is_not_read_again() -> None:
    known: dict[bytes, Pane] = {}

    def again(*lines: str, word: str) -> tuple[Pane, ...]:
        text = "".join((*lines, END)).replace(WORD, word)
        return commands.read_reply(text.encode(), word, ("-L", "x"), known=known).panes

    one, other = listed("%1", "t", "c", "/", "s"), listed("%2", "t", "c", "/", "s")
    first = again(one, other, word=WORD)
    second = again(one, listed("%2", "t", "c", "/tmp", "s"), word="asdfghjkla")
    assert second[0] is first[0]
    assert (second[1], len(known)) == (first[1]._replace(path="/tmp"), 2)
    assert again(one, listed("%1", "t", "c", "/", "s2"), word=WORD) == (first[0]._replace(also=("s2",)),)
    assert again(one, word=WORD) == (first[0],), "what another session showed then is not kept"
    again(word=WORD)
    assert again(one, word="zxcvbnmasd")[0] is first[0], "an answer without panes, as to a capture, forgets none"


def test_output_that_belongs_to_nothing_is_passed_over() -> None:
    noise = "a hook says hello\n\n"
    text = noise.join(["", SERVER, listed("%3", "t", "c", "/", "s"), shown("%3", ["a", "b", ""]), END])
    reply = read(text)
    assert ([pane.id for pane in reply.panes], reply.screens, reply.complete) == (["%3"], {"%3": ("a", "b", "")}, True)


def test_of_a_reply_cut_off_anywhere_only_what_came_whole_counts() -> None:
    whole = SERVER + listed("%3", "t", "c", "/p\nq", "s") + shown("%3", ["a", "", "c"]) + shown("%4", ["d", "e"]) + END
    full = read(whole)
    assert len(full.screens) == 2
    for at in range(len(whole) - 1):
        part = read(whole[:at])
        assert not part.complete
        assert set(part.panes) <= set(full.panes)
        assert part.screens.items() <= full.screens.items()


@given(
    st.lists(st.sampled_from([WORD.encode(), b"S", b"P", b"C", b"E", b".", b",", b"\n", b"%1", b"-", b"\xff", b"9"]))
)
def test_any_bytes_are_read_without_a_word(parts: list[bytes]) -> None:
    data = b"".join(parts)
    reply = commands.read_reply(data, WORD)
    assert END[:-1].encode() in data or not reply.complete


# Trouble ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "cause", "advice"),
    [
        ("no server running on /s\n", commands.ABSENT, "started"),
        ("error connecting to /s (No such file or directory)\n", commands.ABSENT, "started"),
        ("error connecting to /s (Connection refused)\n", commands.ABSENT, "started"),
        ("server exited unexpectedly\n", commands.ABSENT, "started"),
        ("lost server\n", commands.ABSENT, "started"),
        ("error connecting to /s (Permission denied)\n", commands.DENIED, "run as that user"),
        ("access not allowed\n", commands.DENIED, "run as that user"),
        ("protocol version mismatch (client 8, server 7)\n", commands.MIXED, "the server's own tmux"),
        ("unknown command: if\nusage\n", commands.OTHER, "unknown command: if"),
        ("", commands.OTHER, "by hand"),
    ],
)
def test_trouble_names_the_place_and_what_to_do(said: str, cause: str, advice: str) -> None:
    trouble = commands.read_trouble(said, "/the/socket")
    assert trouble.cause == cause
    assert advice in trouble.words
    assert "/the/socket" in trouble.words
    assert "\n" not in trouble.words


@pytest.mark.parametrize(
    "version", ["3.0", "3.0a", "3.3a", "3.10", "next-3.6", "4.0", "tmux 3.3a", "master", "openbsd-7.4", ""]
)
def test_versions_that_can_be_asked(version: str) -> None:
    assert not commands.is_too_old(version)


@pytest.mark.parametrize("version", ["1.8", "2.9a", "tmux 2.9", "next-2.8", "2"])
def test_versions_that_are_too_old(version: str) -> None:
    assert commands.is_too_old(version)
    assert "3.0 or later" in commands.outdated_trouble(version, "/s").words


# Names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "socket"),
    [
        ("/tmp/tmux-0/default,123,0", "/tmp/tmux-0/default"),
        ("/tmp/a,b,c/s,123,4", "/tmp/a,b,c/s"),
        ("/tmp/a,1,2,123,4", "/tmp/a,1,2"),
        ("/tmp/only", "/tmp/only"),
        ("/tmp/odd,x,0", "/tmp/odd"),
        ("", ""),
    ],
)
def test_the_socket_of_the_server_that_we_run_in(variable: str, socket: str) -> None:
    assert commands.parse_socket(variable) == socket


def test_sessions_are_named_exactly() -> None:
    pane = read(listed("%3", "t", "c", "/", "a_b_c") + listed("%3", "t", "c", "/", "twin") + END).panes[0]
    assert commands.is_in_session(pane, "a_b_c")
    assert commands.is_in_session(pane, "twin")
    assert not commands.is_in_session(pane, "a.b:c")  # from tmux 3.7 on, that is another
    assert not commands.is_in_session(pane, "a_b")
    assert not commands.is_in_session(pane, "")
