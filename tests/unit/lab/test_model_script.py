"""What a prompt asks for, by itself."""

from __future__ import annotations

import pytest

from tests.lab.server import script
from tests.lab.server.script import Act


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("nothing to do", []),
        ("[[text hi]]", [(Act("text", "hi"),)]),
        ("a [[hang]] b", [(Act("hang"),)]),
        ("[[bash a]] [[bash b]]", [(Act("bash", "a"),), (Act("bash", "b"),)]),
        ("[[bash a]]\n[[bash b]]", [(Act("bash", "a"),), (Act("bash", "b"),)]),
        ("[[think 1]]+[[bash b]]", [(Act("think", "1"), Act("bash", "b"))]),
        ("[[a]]+[[b]]+[[c]] [[d]]", [(Act("a"), Act("b"), Act("c")), (Act("d"),)]),
        ("[[text two\nlines]]", [(Act("text", "two\nlines"),)]),
        ("[[ spaced ]]", []),
        ("[[text  kept ]]", [(Act("text", "kept"),)]),
        ("[[text 1 + 1]]+[[text x]]", [(Act("text", "1 + 1"), Act("text", "x"))]),
        ("if [[ -f x ]]; then", []),
    ],
)
def test_replies(prompt: str, expected: list[script.Reply]) -> None:
    assert script.replies(prompt) == expected
    assert script.scripted(prompt) == bool(expected)


def test_an_act_is_written_as_it_is_read() -> None:
    for text in ("[[text hi there]]", "[[hang]]"):
        assert [str(act) for act in script.reply(text, 0)] == [text]


def test_a_reply_that_is_not_scripted_is_polite() -> None:
    assert script.reply("hello", 0) == (Act("text", script.GREETING),)
    assert script.reply("hello", 1) == (Act("text", script.AFTER_TOOL),)
    assert script.reply("[[bash x]]", 1) == (Act("text", script.AFTER_TOOL),)


@pytest.mark.parametrize(
    ("written", "meant"),
    [(r"a\nb", "a\nb"), (r"\[\[x\]\]", "[[x]]"), (r"\\n", r"\n"), (r"\e[1m", "\x1b[1m"), (r"C:\dir", r"C:\dir")],
)
def test_unescape(written: str, meant: str) -> None:
    assert script.unescape(written) == meant
