"""Whatever stands in a settings file, it is settings or an error with a line; and keys are found where they are."""

from __future__ import annotations

import re
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from midwatch.config.codec import notify_table, settings_file, toml_positions
from midwatch.config.codec.toml_positions import Path
from midwatch.config.model import CHECKS, Settings
from midwatch.core.errors import FormatError

KEYS = st.sampled_from(
    [
        *settings_file.KEYS,
        *settings_file.KEYS_OF_POLICY,
        *settings_file.KEYS_OF_RUN,
        *settings_file.KEYS_OF_BREAKER,
        *settings_file.KEYS_OF_CHECK,
        *notify_table.KEYS,
    ]
)
VALUES = st.sampled_from(
    ["0", "1", "-1", "true", "nan", "1e400", "0xff", "1979-05-27", "[]", "{}", '["output"]', '"90s"', '"strict"', '"x"',
     "'''\n[[check]]\n'''", '"""\\\n"""', '{run = "x"}', '[{run = "x"}, {tcp = "a:1"}]', '"\\u0000"', '"\\u202e"', "'",
     '["say {text}"]', '"say {txt}"', '["a://b"]']
)  # fmt: skip
PIECES = st.one_of(
    st.builds("{} = {}\n".format, KEYS, VALUES),
    st.builds("{}.{} = {}\n".format, KEYS, KEYS, VALUES),
    st.builds("[{}]\n".format, KEYS),
    st.builds("[[{}]]\n".format, KEYS),
    st.builds('[[check]]\n{} = "{}"\n'.format, st.sampled_from(CHECKS), st.sampled_from(["a:1", "2GB", "", "a\\nb"])),
    st.text(max_size=8),
    st.sampled_from(["#", "\n", "\r", "=", '"', "'''", "[", "]", "{", "}", ",", "."]),
)


def line_of(error: FormatError) -> int:
    place = re.match(r"d\.toml:(\d+): .", str(error))
    assert place is not None, error
    return int(place[1])


def outcome(text: str) -> Settings | int:
    """The settings that a text gives, or the line of what is wrong."""
    try:
        return settings_file.read(text, "d.toml")
    except FormatError as error:
        return line_of(error)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_text_is_settings_or_an_error_with_a_line_of_it(text: str) -> None:
    found, rows = outcome(text), text.split("\n")
    if isinstance(found, int):
        assert 1 <= found <= len(rows)
        return
    for check in found.checks:
        assert check.name.isprintable()
        assert rows[int(check.source.rpartition(":")[2]) - 1].strip()


@given(st.binary(max_size=40))
def test_any_bytes_are_text_or_an_error_with_a_line_of_them(data: bytes) -> None:
    line = 1
    try:
        same = settings_file.decode_text(data, "d.toml").encode() == data
    except FormatError as error:
        same, line = True, line_of(error)
    assert same
    assert 1 <= line <= data.count(b"\n") + 1


# Documents of which every key's line is known, because they are written here

WORDS = st.sampled_from(["check", "run", "a", "b-1", "name", "with blank", "do.t", "ü", "", "#", "]", "]]", "= 1"])
TRICKS = st.sampled_from(
    ['"x"', "1", "'#'", "'a\\'", '"\\""', '"""\n[[check]]\nrun = 1\n"""', "'''\n''\n'''''", '"""a\\"""\n"""""', '""',
     '[ # ]\n1,\n[2, "]"]]', "[]", "{}", "1979-05-27 07:32:00", "[\n\n]", '{ x = 1, "y z".w = [1] }']
)  # fmt: skip


class Document:
    """TOML that grows, and where its keys are."""

    def __init__(self) -> None:
        self.text = ""
        self.lines: dict[Path, int] = {}

    def add(self, text: str, path: Path) -> None:
        self.lines.setdefault(path, self.text.count("\n") + 1 + (len(text) - len(text.lstrip("\n"))))
        self.text += text


def written(draw: st.DrawFn, word: str) -> str:
    """A key in one of the ways in which it may be written."""
    ways = [f'"{word}"', f"'{word}'", "".join(['"', *(f"\\u{ord(c):04x}" for c in word), '"'])]
    return draw(st.sampled_from([*ways, word] if re.fullmatch("[A-Za-z0-9_-]+", word) else ways))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    found = Document()
    blank = st.sampled_from(["", "\n", "# [[check]] = \n", "\n\n \t"])
    for table in draw(st.lists(WORDS, unique=True, max_size=4)):
        for number in range(draw(st.integers(0, 3))):
            found.text += draw(blank)
            found.lines.setdefault((table,), found.text.count("\n") + 1)
            found.add(f"[[ {written(draw, table)} ]] # x\n", (table, number))
            for key in draw(st.lists(WORDS, unique=True, max_size=3)):
                found.text += draw(blank)
                end = draw(st.sampled_from(["\n", " # timeout = 1\n"]))
                found.add(f"{written(draw, key)} = {draw(TRICKS)}{end}", (table, number, key))
            if draw(st.booleans()):
                found.add(f"[{written(draw, table)} . below]\nkey.deep = 1\n", (table, number, "below"))
                found.lines[table, number, "below", "key", "deep"] = found.text.count("\n")
    return found


@given(documents())
def test_every_key_is_found_on_its_line(document: Document) -> None:
    tomllib.loads(document.text)
    lines = toml_positions.find_lines(document.text)
    assert {path: lines.get(path) for path in document.lines} == document.lines


@given(documents())
def test_windows_line_ends_change_no_line(document: Document) -> None:
    assert toml_positions.find_lines(document.text.replace("\n", "\r\n")) == toml_positions.find_lines(document.text)
