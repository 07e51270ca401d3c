"""A message comes back from its file as it was, whatever its words are."""

from __future__ import annotations

import json

import pytest
import yaml

from midwatch.core.errors import FormatError, UsageError
from midwatch.core.foreign_text import ForeignText
from midwatch.mail import codec as mail_codec
from midwatch.mail.model import Mail

PLAIN = Mail(
    "k3fw2a", ForeignText("pane2"), ForeignText("controller"), ForeignText("bd-1: done"), ForeignText("review"),
    "k3fw2a", ForeignText("bd-1"), 1_700_000_000.25, ForeignText("Fine.\n"),
)  # fmt: skip
TEXTS = (
    "", "\n", "\n\n", "one line", "---", "---\n", "\n---\nid: other\n---\n", "a\r\nb", "tail\n\n", "  indented",
    "é 日本語 👍",
    "\x1b[31m\x00", "id: x\n---\nto: y", "\u2028\x85\x0b",
)  # fmt: skip
SUBJECTS = (
    "",
    'bd-1: "done"',
    "# no comment",
    "yes",
    "12",
    "- a",
    "a: b",
    "'x",
    "\\n",
    "日本語 👍",
    "{a}",
    "---",
    '"',
    "a #b",
)


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    given = PLAIN._replace(text=ForeignText(text))
    assert mail_codec.decode_mail(mail_codec.encode_mail(given)) == given


@pytest.mark.parametrize("subject", SUBJECTS)
def test_any_subject_comes_back_as_it_was_and_is_yaml(subject: str) -> None:
    given = PLAIN._replace(subject=ForeignText(subject))
    text = mail_codec.encode_mail(given)
    assert mail_codec.decode_mail(text) == given
    header = yaml.safe_load(text.split("\n---\n", 1)[0].removeprefix("---\n"))
    assert (header["subject"] or "") == subject


def test_the_file_is_markdown_with_a_header() -> None:
    assert mail_codec.encode_mail(PLAIN) == (
        "---\nid: k3fw2a\nfrom: pane2\nto: controller\n"
        'subject: "bd-1: done"\ntopic: review\nthread: k3fw2a\ntask: bd-1\n'
        'at: "2023-11-14T22:13:20.250000Z"\n---\n\nFine.\n'
    )


def test_fields_that_nobody_knows_are_passed_over() -> None:
    text = mail_codec.encode_mail(PLAIN).replace("topic: review", "topic: review\nmood: good")
    assert mail_codec.decode_mail(text) == PLAIN


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must begin with a header"),
        ("hello", "must begin with a header"),
        ("---\nid: a\nfrom: b", "must begin with a header"),
        (mail_codec.encode_mail(PLAIN).replace("to: controller\n", ""), "does not tell 'to'"),
        (mail_codec.encode_mail(PLAIN).replace("from: pane2", "from:"), "does not tell 'from'"),
        (mail_codec.encode_mail(PLAIN).replace("2023-11", "soon"), "is no time"),
        (mail_codec.encode_mail(PLAIN).replace('"bd-1: done"', '"bd-1'), "do not close"),
        (mail_codec.encode_mail(PLAIN).replace("topic: review", "topic"), "is no `name: value`"),
    ],
)
def test_what_is_no_message_is_told(text: str, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        mail_codec.decode_mail(text)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "-x", "a b", "a\nb", "x" * 101])
def test_a_name_is_no_path(name: str) -> None:
    with pytest.raises(UsageError, match="--to"):
        mail_codec.clean_name("--to", name)


def test_a_field_stays_on_its_line() -> None:
    assert mail_codec.clean_field("subject", " a\n---\nto:\x1b[2J other\u2028x ").raw == "a --- to: [2J other x"
    with pytest.raises(UsageError, match="the subject has 301 characters"):
        mail_codec.clean_field("subject", "x" * 301)


def test_bytes_that_are_no_text_do_not_get_in_the_way() -> None:
    assert mail_codec.clean_body("a\udcffb").raw == "a\ufffdb"
    assert json.loads(json.dumps(mail_codec.clean_body("ok\n").raw)) == "ok\n"
