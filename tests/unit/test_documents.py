"""What documents say in tables is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from midwatch.cli.command_table import VERBS
from midwatch.cli.parser import verb_usage
from midwatch.core.exit_codes import EXIT_CODES, NEXT
from midwatch.core.presence import UNKNOWN
from midwatch.core.verdict import FINAL, LIVE
from midwatch.registry.codec.reconcile_state import ReconcileRecord
from midwatch.registry.model import OTHER_LIST, OUTSIDE, UnregisteredPane
from midwatch.registry.rules.drift import LOST

ROOT = Path(__file__).parents[2]


def table(text: str) -> list[list[str]]:
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in rows]


def test_the_states_are_documented_as_they_are() -> None:
    text = (ROOT / "docs/reference/states.md").read_text().split("\n## ")[0]
    rows = {row[0].strip("`"): row for row in table(text)}
    assert rows.keys() == {*LIVE, *FINAL}
    for state, (_, final, code, following, _) in rows.items():
        assert final.startswith("yes") == (state in FINAL), state
        assert code == (str(EXIT_CODES[state]) if state in EXIT_CODES else ""), state
        assert following == NEXT[state], state


def section(page: str, title: str) -> str:
    return (ROOT / "docs" / page).read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_fields_of_the_state_file_of_reconcile_are_documented() -> None:
    rows = table(section("reference/files.md", "The state file of `reconcile`"))
    assert [row[0].strip("`") for row in rows] == ["schema", *ReconcileRecord._fields]


def test_what_reconcile_leaves_out_is_documented() -> None:
    rows = table(section("guides/reconcile.md", "What is left out"))
    assert {row[0].strip("`") for row in rows if row[0] != "`cause`"} == {OUTSIDE, OTHER_LIST, UNKNOWN}
    printed = section("guides/reconcile.md", "What it prints")
    assert all(f'"{field}": "' in printed for field in UnregisteredPane((), "", "", "", "", "").fields())


def test_the_help_of_reconcile_says_when_a_lost_session_is_marked() -> None:
    text = " ".join(verb_usage("reconcile").split())
    assert f"reported at once, and its row marked terminated {LOST:g} s after tmux lost it" in text


def test_every_document_that_is_pointed_to_is_there() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+\.(?:md|svg))\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_command_line_in_the_documents_is_one_that_is_understood() -> None:
    """Verbs and flags only; what they do is tested elsewhere."""
    seen = 0
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for verb, rest in re.findall(r"\bmidwatch ([a-z]+)((?: [^`\n#&|)]*)?)", page.read_text()):
            if verb not in VERBS:
                continue
            seen += 1
            flags = {"--help", *(flag for flag, _, _ in VERBS[verb]["options"])}  # type: ignore[attr-defined]
            for word in rest.split(" -- ")[0].split():
                if re.fullmatch(r"--?[a-zA-Z][a-z-]*", word):
                    assert word in flags, f"{page.name}: midwatch {verb}{rest}"
    assert seen > 50
