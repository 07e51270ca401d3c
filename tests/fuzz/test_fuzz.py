"""No reader of foreign bytes fails in a way that its callers do not expect: examples, former defects, mutations."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import CORPUS, TARGETS, kept, play

EXAMPLES = 60
"""Mutations of each target in one run; `make fuzz` tries millions."""
PIECES = st.one_of(
    st.binary(max_size=8),
    st.text(max_size=4).map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from(
        [b"\n", b"\0", b"\x1b[", b"\x1b]", b"\xff", b"-", b"--5", b"{", b"}", b"[" * 2000, b"&a [*a]", b"1e999",
         b"9" * 5000, b"NaN", b'"\\ud800"', b"\xe2\x80\xae", b"null", b"%", b"\t", b": ", b"- ", b"0x", b"\xd9\xa3",
         b"\r\n", b"!!x ", b"!!int ", b"? ", b"<<: ", b"*a ", b"&a "]),
)  # fmt: skip
NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?![\d.])")
NUMBERS = 40
"""Of each example."""
REPEATED = (
    b"\n", b" ", b" \n", b"\t", b"9", b"9.", b"a", b"a ", b"a\n", b"a: ", b"-", b"- ", b"/", b"{", b"[", b'"',
    b"\\", b"(", b"<", b"\x1b[", b"\x1b]", b"#", b"=", b"|", b"`", b"resets ",
)  # fmt: skip
LONG, MOST_SECONDS = 40_000, 5.0
"""Bytes of such a text, and seconds of the processor: what grows with the square of its size takes more."""
EDITS = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 40), PIECES), max_size=6)


def mutated(seeds: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """A seed with some stretches replaced."""

    def edit(seed: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
        for at, length, piece in edits:
            at %= len(seed) + 1  # noqa: PLW2901
            seed = seed[:at] + piece + seed[at + length :]
        return seed

    return st.builds(edit, st.sampled_from((*seeds, b"")), EDITS)


TOKEN = re.compile(rb"\w+|\s+|.")


def recombined(seeds: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """The words and marks of all seeds in another order: formats with a grammar are hardly met by chance."""
    tokens = sorted({token for seed in seeds for token in TOKEN.findall(seed)[:400]}) or [b""]
    return st.lists(st.one_of(st.sampled_from(tokens), PIECES), max_size=30).map(b"".join)


@pytest.mark.parametrize("name", TARGETS)
def test_examples_and_inputs_that_once_broke_it_are_read(name: str) -> None:
    """Of the examples, those of the readers' own formats are read without any error."""
    played = [*TARGETS[name].seeds, *kept(name)]
    for data in played:
        play(name, data)
    assert len(played) > 0


@pytest.mark.parametrize("name", TARGETS)
def test_no_piece_that_is_repeated_takes_a_reader_long(name: str) -> None:
    """A pattern that goes through the rest of a text from each place of it hears no signal meanwhile."""
    for piece in REPEATED:
        for seed in (b"", *TARGETS[name].seeds[:1]):
            before = time.process_time()
            play(name, seed + piece * (LONG // len(piece)))
            assert time.process_time() - before < MOST_SECONDS, piece


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")  # of a pattern in an agent's file
@pytest.mark.parametrize("name", TARGETS)
def test_every_number_may_be_one_that_cannot_be(name: str) -> None:
    """JSON has whole numbers that no `float` holds, and Python's has infinite ones."""
    for seed in TARGETS[name].seeds:
        for number in list(NUMBER.finditer(seed))[:NUMBERS]:
            for other in (b"9" * 400, b"1e999", b"NaN", b"-1"):
                play(name, seed[: number.start()] + other + seed[number.end() :])


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_raises_only_what_its_callers_expect(name: str) -> None:
    tried = 0

    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(mutated(TARGETS[name].seeds), recombined(TARGETS[name].seeds)))
    def round_of_mutations(data: bytes) -> None:
        nonlocal tried
        tried += 1
        play(name, data)

    round_of_mutations()
    assert tried >= EXAMPLES // 2


def test_every_kept_input_belongs_to_a_reader() -> None:
    assert {path.parent.name for path in CORPUS.glob("*/*")} <= set(TARGETS)
