"""Changes of YAML text: what was to be changed is, and nothing else."""

from __future__ import annotations

import pytest
import yaml

from midwatch.core.errors import FormatError
from midwatch.yamledit import parse
from midwatch.yamledit.edit import AppendItem, Edit, PutValue, RemoveItem, apply_edits
from midwatch.yamledit.emit import emit_inline
from midwatch.yamledit.parse import parse_document


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every build of the library has the one in C."""
    monkeypatch.setattr(parse, "LOADER", getattr(yaml, request.param))


def edited(text: str, *edits: Edit) -> str:
    return apply_edits(parse_document(text, "r.yaml"), edits).text


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ("a: 1 # c\nb: 2\n", ("a",), 3, "a: 3 # c\nb: 2\n"),
        ("a:   'x'   # c\r\nb: 2\r\n", ("a",), "y z", "a:   y z   # c\r\nb: 2\r\n"),
        ("a:\nb: 2\n", ("a",), "x", "a: x\nb: 2\n"),
        ("a: # c\nb: 2\n", ("a",), "x", "a: x # c\nb: 2\n"),
        ("a: x\n  y\n  z # c\n", ("a",), None, "a: null # c\n"),
        ("a: |\n  x\n  # y\n\n\n# c\nb: 1\n", ("a",), "z", "a: z\n\n\n# c\nb: 1\n"),
        ("a:\n  # c\n  x\n", ("a",), "z", "a:\n  # c\n  z\n"),
        ("a: [1, 2] # c\n", ("a",), 3, "a: 3 # c\n"),
        ("a: # c\n  - 1\n  - 2 # d\n# e\nb: 1\n", ("a",), 3, "a: 3 # c\n# e\nb: 1\n"),
        ("a: # c\n- 1\n- |\n  x\n\nb: 1\n", ("a",), 3, "a: 3 # c\n\nb: 1\n"),
        ("a: 1", ("b",), 2, "a: 1\nb: 2"),
        ("a: 1 # c\n# d\n", ("b",), 2, "a: 1 # c\nb: 2\n# d\n"),
        ("a: 1\n...\n", ("b",), 2, "a: 1\nb: 2\n...\n"),
        ("---\na:\n  x: |+\n    y\n\n\n# c\n", ("a", "z"), 2, "---\na:\n  x: |+\n    y\n\n\n  z: 2\n# c\n"),
        ("a:\n  x: |+\n    y\n\n  # c\nb: 1\n", ("a", "z"), 2, "a:\n  x: |+\n    y\n\n  z: 2\n  # c\nb: 1\n"),
        ("a:\n  x: |\n    y\n\n\nb: 1\n", ("a", "z"), 2, "a:\n  x: |\n    y\n  z: 2\n\n\nb: 1\n"),
        ("a:\n    x: 1\n    # in\n  # out\nb: 1\n", ("a", "z"), 2, "a:\n    x: 1\n    z: 2\n    # in\n  # out\nb: 1\n"),
        ("a:\n  x:\n    y: 1\n    # in\nb: 1\n", ("a", "z"), 2, "a:\n  x:\n    y: 1\n    # in\n  z: 2\nb: 1\n"),
        ("a: 1\n\nb: 2\n\nc: 3\n", ("d",), 4, "a: 1\n\nb: 2\n\nc: 3\nd: 4\n"),
        ("{a: 1}\n", ("b",), 2, "{a: 1, b: 2}\n"),
        ("{a: 1, }\n", ("b",), "x", "{a: 1, b: x, }\n"),
        ("{a}\n", ("a",), "x", "{a: x}\n"),
        ('{"a":1,"b":[2]}\n', ("a",), "x", '{"a":x,"b":[2]}\n'),
        ("{\n  a: 1, # c\n  b: 2 # d\n}\n", ("c",), [1, "x"], "{\n  a: 1, # c\n  b: 2, c: [1, x] # d\n}\n"),
        ("{}\n", ("a", "b"), 1, "{a: {b: 1}}\n"),
        ("x: 1\na: {}  # c\nb: 1\n", ("a", "b"), {"c": 1}, "x: 1\na:  # c\n  b:\n    c: 1\nb: 1\n"),
        ("a: null\n", ("a",), {"b": 1, "c": []}, "a:\n  b: 1\n  c: []\n"),
        ("a:\n  b: 1 # c\n  d: 2 # e\n", ("a",), {"d": 3, "f": 4}, "a:\n  d: 3 # e\n  f: 4\n"),
        ("- a: 1\n- &x\n  b: 2\n- a: *x\n", (0, "c"), 1, "- a: 1\n  c: 1\n- &x\n  b: 2\n- a: *x\n"),
        ("a: &x 1\nb:\n  c: *x # d\n", ("b", "e"), 1, "a: &x 1\nb:\n  c: *x # d\n  e: 1\n"),
    ],
)  # fmt: skip
def test_a_value_is_put_in_its_place(text: str, path: tuple[str, ...], value: object, expected: str) -> None:
    assert edited(text, PutValue(path, value)) == expected


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        ("- a: 1\n  b: 2\n# c\n", AppendItem((), {"a": 3, "b": {"c": 4}}),
         "- a: 1\n  b: 2\n- a: 3\n  b:\n    c: 4\n# c\n"),
        ("s:\n-   a: 1\n    # in\n\nt: 1\n", AppendItem(("s",), {"a": 3, "b": 4}),
         "s:\n-   a: 1\n    # in\n-   a: 3\n    b: 4\n\nt: 1\n"),
        ("s:\n  - a: 1\n\n  # two\n  - a: 2\n\n  - a: 3\nt: 1\n", AppendItem(("s",), {"a": 4}),
         "s:\n  - a: 1\n\n  # two\n  - a: 2\n\n  - a: 3\n\n  - a: 4\nt: 1\n"),
        ("- a: 1\n\n- a: |+\n    x\n", AppendItem((), {"a": 3}), "- a: 1\n\n- a: |+\n    x\n- a: 3\n"),
        ("s:\n  - {a: 1}  # c\n", AppendItem(("s",), {"a": 2, "b": "x"}), "s:\n  - {a: 1}  # c\n  - {a: 2, b: x}\n"),
        ("s: [{a: 1}]\n", AppendItem(("s",), {"a": 2}), "s: [{a: 1}, {a: 2}]\n"),
        ("s: []  # c\nt: 1\n", AppendItem(("s",), {"a": 2}), "s:  # c\n  - a: 2\nt: 1\n"),
        ("s:  # c\nt: 1\n", AppendItem(("s",), {"a": 2}), "s:  # c\n  - a: 2\nt: 1\n"),
        ("t: 1", AppendItem(("s",), {"a": 2}), "t: 1\ns:\n  - a: 2"),
        ("s:\n  x:\n    a: 1\n", AppendItem(("s",), {"a": 2}, "yes"), 's:\n  x:\n    a: 1\n  "yes":\n    a: 2\n'),
        ("s:\n  x: {a: 1}\n", AppendItem(("s",), {"a": 2}, "y z"), "s:\n  x: {a: 1}\n  y z: {a: 2}\n"),
        ("s: {x: {a: 1}}\n", AppendItem(("s",), {"a": 2}, "y1"), "s: {x: {a: 1}, y1: {a: 2}}\n"),
        ("a: &x 1\ns:\n- 1\n- *x # c\n", AppendItem(("s",), 2),
         "a: &x 1\ns:\n- 1\n- *x # c\n- 2\n"),
    ],
)  # fmt: skip
def test_something_new_stands_at_the_end_as_its_neighbours_are_written(text: str, change: Edit, expected: str) -> None:
    assert edited(text, change) == expected


@pytest.mark.parametrize(
    ("text", "paths", "expected"),
    [
        ("# top\n- a: 1\n  b: 2\n  # in\n# of two\n- a: 3\n", [(0,)], "# top\n# of two\n- a: 3\n"),
        ("s:\n  - a: 1\n\n  - a: 2 # c\n# end\n", [("s", 1)], "s:\n  - a: 1\n\n# end\n"),
        ("s: # c\n  # top\n  - a: 1\n  - a: 2\n# end", [("s", 0), ("s", 1)], "s: [] # c\n  # top\n# end"),
        ("# top\n- a: 1\n# mid\n- a: 2\n# end\n", [(0,), (1,)], "# top\n[]\n# mid\n# end\n"),
        ("s:\n-\n  # in\n  a: 1\n- # in\n  a: 2\n- 3\n", [("s", 0), ("s", 1)], "s:\n- 3\n"),
        ("s: [1, 2, 3, 4]\n", [("s", 0), ("s", 2), ("s", 3)], "s: [2]\n"),
        ("s: [1, 2 , ] # c\n", [("s", 0), ("s", 1)], "s: [] # c\n"),
        ("s: {a: 1, b: {c: 2}}\n", [("s", "b")], "s: {a: 1}\n"),
        ("s:\n  a: 1\n  b:\n    c: 2\n  d: 3\n", [("s", "b")], "s:\n  a: 1\n  d: 3\n"),
        ("- a: 1\n\n- a: 2\n\n- a: 3\n", [(1,)], "- a: 1\n\n- a: 3\n"),
        ("- a: |+\n    x\n- a: 2\n\n- a: 3\n", [(1,)], "- a: |+\n    x\n- a: 3\n"),
        ("- a: 1\n  b: 2\n", [(0, "a")], "- b: 2\n"),
        ("s:\n  a: 1 # c\n", [("s", "a")], "s: {}\n"),
        ("a: &x 1\ns:\n- *x # c\n- 1\n- *x\n", [("s", 0), ("s", 2)], "a: &x 1\ns:\n- 1\n"),
        ("a: &x 1\ns: [*x, 1, *x]\n", [("s", 0), ("s", 2)], "a: &x 1\ns: [1]\n"),
    ],
)  # fmt: skip
def test_what_is_cut_is_gone_with_its_comments_only(
    text: str, paths: list[tuple[str | int, ...]], expected: str
) -> None:
    assert edited(text, *(RemoveItem(path) for path in paths)) == expected


def test_new_lines_end_as_the_others_do() -> None:
    assert edited("a: 1 # c\r\n", PutValue(("b",), 2)) == "a: 1 # c\r\nb: 2\r\n"
    assert edited("# c\r\n- a: 1", AppendItem((), {"a": 2, "b": 3})) == "# c\r\n- a: 1\r\n- a: 2\r\n  b: 3"
    assert edited("a: null\r\n", PutValue(("a",), {"b": 1})) == "a:\r\n  b: 1\r\n"


def test_many_changes_are_made_at_once_each_where_it_stood() -> None:
    text = "s:\n- a: 1\n- a: 2\n- a: 3\n"
    changes = (
        PutValue(("s", 2, "b"), "x"),
        RemoveItem(("s", 0)),
        AppendItem(("s",), {"a": 4}),
        PutValue(("s", 1, "a"), 5),
    )
    assert edited(text, *changes) == "s:\n- a: 5\n- a: 3\n  b: x\n- a: 4\n"


def test_what_comes_in_the_place_of_the_last_adds_nothing_to_a_text_that_keeps_blank_lines() -> None:
    text = "- a: |+\n    x\n\n- a: 2\n"
    assert edited(text, RemoveItem((1,)), AppendItem((), {"a": 3})) == "- a: |+\n    x\n\n- a: 3\n"


def test_all_that_was_there_may_be_exchanged() -> None:
    for text in ("- a: 1\n- a: 2\n", "[{a: 1}, {a: 2}]\n", "[{a: 1}, {a: 2}, ]\n"):
        assert parse_document(edited(text, RemoveItem((0,)), RemoveItem((1,)), AppendItem((), {"a": 3}))).data == [
            {"a": 3}
        ]


def test_a_later_value_of_a_key_counts_and_what_goes_below_it_is_added() -> None:
    assert (
        edited("a: 1\n", PutValue(("a",), 2), PutValue(("a",), {"b": 3}), PutValue(("a", "c"), 4))
        == "a:\n  b: 3\n  c: 4\n"
    )


def test_what_is_so_already_is_left_as_it_is_written() -> None:
    document = parse_document("a: 'x'\nb: 0x10\nc: {d: 1.0}\n")
    same: list[Edit] = [
        PutValue(("a",), "x"),
        PutValue(("b",), 16),
        PutValue(("c",), {"d": 1.0}),
        PutValue(("c", "d"), 1.0),
    ]
    assert apply_edits(document, same) is document
    assert apply_edits(document, [PutValue(("c", "d"), 1)]).text == "a: 'x'\nb: 0x10\nc: {d: 1}\n"
    assert edited("a: 1\n", PutValue(("a",), True)) == "a: true\n"


@pytest.mark.parametrize(
    ("text", "change", "line"),
    [
        ("a: 1\nb: &x 2\n", PutValue(("b",), 3), 2),
        ("a: &x 1\n\nb: *x\n", PutValue(("b",), 3), 3),
        ("a: !!int &x 1\n", PutValue(("a",), 3), 1),
        ("a: &x {c: 1}\nb:\n  <<: *x\n  d: 1\n", PutValue(("b", "d"), 2), 2),
        ("a: &x {c: 1}\nb:\n  <<: *x\n  d: 1\n", PutValue(("b", "c"), 2), 2),
        ("a: &x\n  c: 1\nb: *x\n", PutValue(("a", "c"), 2), 1),
        ("a: &x\n  c: 1\nb: *x\n", PutValue(("b", "c"), 2), 3),
        ("- &x {a: 1}\n- *x\n", PutValue((1, "a"), 2), 1),
    ],
)
def test_what_is_written_for_several_places_is_not_changed_in_one(text: str, change: Edit, line: int) -> None:
    with pytest.raises(FormatError, match=rf"r\.yaml:{line}: an anchor, alias or merge key"):
        edited(text, change)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("a: |\n  x", PutValue(("b",), 1)),
        ("a: &x 1\nb: *x\n", RemoveItem(("a",))),
        ("x: &x {a: 1}\ny: *x\n", PutValue(("x", "a"), 2)),
        ("a: 1\n", AppendItem((), 2, "a")),
    ],
)
def test_a_change_that_would_change_more_is_refused(text: str, change: Edit) -> None:
    with pytest.raises(FormatError, match=r"r\.yaml:\d+: "):
        edited(text, change)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a stands twice"),
        ("s:\n- a: 1\n  a: 2\n", 3, "a stands twice"),
        ("a:\n\t- 1\n", 2, "no YAML"),
        ("a: 1\n---\nb: 2\n", 2, "no YAML"),
        ("\ufeffa: 1\n", 1, "byte order mark"),
        ("", 1, "nothing stands in it"),
        ("# only\n# words\n", 1, "nothing stands in it"),
        ("a: 1\nü: \x01\n", 2, "no YAML"),
        ("a: 1\nb: 2026-13-45\n", 2, "looks like a timestamp"),
        ("a: !!bool maybe\n", 1, "looks like a bool"),
        ("a: !!python/name:os.system x\n", 1, "no YAML"),
        ("\n? [a]\n: 1\n", 2, "cannot be a key"),
        ("a: &x\n  b: *x\n", 1, "part of itself"),
        ("a: 1\nb: {<<: 3}\n", 2, "merges what is no table"),
        ("a: {\n", 2, "no YAML"),
        ("a: *nobody\n", 1, "no YAML"),
        ("[" * 100_000, 1, "too deep"),
        ("- " * 100_000, 1, "too deep"),
        ("a: " + "{a: " * 2000 + "}" * 2000 + "\n", 1, "too deep"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_document(text, "r.yaml")
    assert str(caught.value).startswith(f"r.yaml:{line}: "), caught.value
    assert words in str(caught.value)


def test_a_few_lines_that_mean_millions_of_values_are_refused() -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
    with pytest.raises(FormatError, match="more than 1,000,000 values"):
        parse_document(text)


def test_merged_and_aliased_values_are_read_as_yaml_means_them() -> None:
    text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 5}\nd: [*a, *a]\n"
    assert parse_document(text).data == yaml.safe_load(text)


ODD = [
    "null", "Null", "~", "yes", "No", "ON", "y", "n", "true", "2026-01-01", "2026-06-20T15:48:27Z", "1e3", "1.5",
    "0x1f",
    "0o17", "017", "1_000", "12:30:45", ".inf", ".5", "-", "--", "---", "...", "?", ":", "=", "<<", "a: b", "a:",
    "a #b",
    "#b", "a,b", "[a]", "{a}", "&a", "*a", "!a", "|", ">", "%3", "@a", "`a`", "'a'", '"a"', "a\\b", " a", "a ", "", " ",
    "a\nb", "a\tb", "a\r\nb", "\x00", "\x1b[0m", "\x85", "\u2028", "\ufeff", "\ufffe", "\U0001f40d", "\U000e0001", "é",
    "세션", "plain words", "claude --resume 3", "/home/me/a-b_c.d", "87dc548e-0000-4000-8000-0000000000ff", "a  b",
]  # fmt: skip


@pytest.mark.parametrize("value", ODD, ids=ascii)
def test_any_text_is_read_back_as_it_was(value: str) -> None:
    for written in (
        f"a: {emit_inline(value)}\n",
        f"{{a: {emit_inline(value)}}}",
        f"[{{a: {emit_inline(value)}}}, 1]",
        f"a: # c\n {emit_inline(value)}",
    ):
        data = yaml.load(written, Loader=parse.LOADER)
        data = data[0] if isinstance(data, list) else data
        assert data == {"a": value}, written
    assert parse_document(edited("x: 1\n", PutValue((value or "k",), value))).data == {"x": 1, (value or "k"): value}


def test_texts_that_are_only_texts_stand_without_quotes() -> None:
    for value in ("running", "plain words", "/home/me/a-b_c.d", "claude --resume x", "b3a7-c2f"):
        assert emit_inline(value) == value
    assert emit_inline("%3") == '"%3"'
    assert emit_inline("2026-01-01") == '"2026-01-01"'


@pytest.mark.parametrize(
    "value", [0, -1, 10**30, 1.0, 0.1, 1e16, 1e-7, -2.5e300, float("inf"), float("-inf"), True, False, None]
)
def test_any_number_or_truth_is_read_back_as_it_was(value: object) -> None:
    found = yaml.load(f"a: {emit_inline(value)}", Loader=parse.LOADER)["a"]
    assert (found, type(found)) == (value, type(value))


def test_what_yaml_cannot_hold_is_refused() -> None:
    with pytest.raises(FormatError, match="no UTF-8"):
        emit_inline("a\udc80b")
    with pytest.raises(TypeError):
        emit_inline(object())
