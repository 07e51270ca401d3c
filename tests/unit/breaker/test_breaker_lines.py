"""Lines of a breaker's file: ours are read, others are passed over with a word on what is wrong."""

from __future__ import annotations

import json

import pytest

from midwatch.breaker import codec as breaker_codec
from midwatch.breaker.model import (
    AttemptOutcome,
    Closed,
    Happening,
    Ledger,
    Reset,
    RunningAttempt,
    SetBack,
    Started,
    Trip,
    Void,
)
from midwatch.core.errors import FormatError
from midwatch.system.atomic_files import dumps

FIELDS: dict[Happening, dict[str, object]] = {
    Started(1.5, "r", "job", trial=True): {"what": "started", "run": "r", "name": "job", "trial": True},
    AttemptOutcome(1.5, "r", "job", 2, "failed"): {
        "what": "outcome", "run": "r", "name": "job", "attempt": 2, "state": "failed",
    },
    Void(1.5, "r"): {"what": "void", "run": "r"},
    Reset(1.5, "again"): {"what": "reset", "reason": "again"},
    Reset(1.5, "", (("r", 2),)): {"what": "reset", "reason": "", "over": [["r", 2]]},
    Trip(1.5, "why"): {"what": "trip", "reason": "why"},
    SetBack(1.5): {"what": "clock"},
}  # fmt: skip


@pytest.mark.parametrize("happening", FIELDS, ids=lambda each: type(each).__name__)
def test_a_line_holds_these_fields(happening: Happening) -> None:
    line = breaker_codec.encode_happening(happening)
    assert json.loads(line) == {"schema": 1, "at": 1.5, **FIELDS[happening]}
    assert type(breaker_codec.decode_happening(line)) is type(happening)
    assert breaker_codec.decode_happening(line) == happening


def test_what_a_shim_writes_without_the_json_module_is_read() -> None:
    line = dumps({"schema": 1, "at": 1.5, **FIELDS[AttemptOutcome(1.5, "r", "job", 2, "failed")]})
    assert breaker_codec.decode_happening(line) == AttemptOutcome(1.5, "r", "job", 2, "failed")


def test_a_long_reason_is_cut_so_that_the_line_goes_out_in_one_piece() -> None:
    assert len(breaker_codec.encode_happening(Trip(1.0, "\N{DOG FACE}" * 5000))) < 4096


def test_fields_of_a_later_version_are_passed_over() -> None:
    line = json.dumps(json.loads(breaker_codec.encode_happening(Reset(1.0, ""))) | {"more": [1]})
    assert breaker_codec.decode_happening(line) == Reset(1.0, "")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "Expecting value"),
        ("[]", "not an object"),
        ("[" * 100_000, "Recursion"),
        ('{"schema":2,"at":1,"what":"reset","reason":""}', "newer Midwatch"),
        ('{"schema":1,"at":1,"what":"explode"}', "'explode' is none of started, outcome"),
        ('{"schema":1,"at":1,"what":["reset"]}', "is none of"),
        ('{"schema":1,"at":1,"what":"reset"}', "None is not a text"),
        ('{"schema":1,"at":1,"what":"reset","reason":"","over":"r"}', "is not a list"),
        ('{"schema":1,"at":1,"what":"reset","reason":"","over":[["r"]]}', "not enough values"),
        ('{"schema":1,"at":1,"what":"reset","reason":"","over":[1]}', "cannot unpack"),
        ('{"schema":1,"at":NaN,"what":"clock"}', "nan is not a time"),
        ('{"schema":1,"at":1e400,"what":"clock"}', "inf is not a time"),
        ('{"schema":1,"at":true,"what":"clock"}', "True is not a time"),
        ('{"schema":1,"at":1,"what":"void","run":"../x"}', "a name begins with"),
        ('{"schema":1,"at":1,"what":"outcome","run":"r","name":"n","attempt":1,"state":"odd"}', "it ended as 'odd'"),
        ('{"schema":1,"at":1,"what":"outcome","run":"r","name":"n","attempt":1.5,"state":"failed"}', "not a number"),
        ('{"schema":1,"at":1,"what":"outcome","run":"r","name":"n","attempt":-1,"state":"failed"}', "not a number"),
        ('{"schema":1,"at":1,"what":"started","run":"r","name":"n","trial":1}', "neither true nor false"),
    ],
)
def test_what_is_no_line_of_ours_is_said_to_be_wrong(text: str, wrong: str) -> None:
    with pytest.raises(FormatError, match=wrong.replace("[", r"\[")):
        breaker_codec.decode_happening(text)


def test_bad_lines_between_good_ones_are_counted() -> None:
    good = breaker_codec.encode_happening(Reset(1.0, "")).encode()
    happened, wrong = breaker_codec.decode_lines(good + b"\n\xff\x00\n{\n" + good + b'{"torn')
    assert (len(happened), len(wrong)) == (2, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2}, {"upto": -1}, {"check": "x"}, {"threshold": None}, {"running": []}, {"state": {"is": "ajar"}},
        {"state": {"is": "open", "since": 1.0, "failures": 3, "last": None}}, {"running": {"r": {"name": "n"}}},
        {"running": {"r": {"name": "/", "attempt": 0}}}, {"state": 3},
    ],
)  # fmt: skip
def test_a_bookmark_that_is_wrong_in_anything_is_no_bookmark(change: dict[str, object]) -> None:
    mark = breaker_codec.Bookmark(10, 7, 3, Ledger(Closed(), {"r": RunningAttempt("n", 1)}))
    assert breaker_codec.decode_bookmark(breaker_codec.encode_bookmark(mark)) == mark
    with pytest.raises(FormatError):
        breaker_codec.decode_bookmark(json.dumps(json.loads(breaker_codec.encode_bookmark(mark)) | change))
