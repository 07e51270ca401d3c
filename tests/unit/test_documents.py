"""What documents say in tables is what the program does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from midwatch.cli.command_table import ALIASES, VERBS
from midwatch.cli.help_text import verb_usage
from midwatch.core.exit_codes import EXIT_CODES, NEXT, STILL_RUNNING
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


def pages() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_page_and_a_heading_that_are_there(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{page.name} points to {target}"
        if anchor:
            assert anchor in anchors(found), f"{page.name} points to {target}"


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target in re.findall(r"\]\(([^)#]+)", index.read_text())}
    decisions = {*(ROOT / "docs" / "decisions").glob("*.md")} - {ROOT / "docs" / "decisions" / "README.md"}
    assert {*(ROOT / "docs").rglob("*.md")} - decisions - {index} == {path for path in linked if path.suffix == ".md"}


def test_every_decision_is_listed() -> None:
    index = ROOT / "docs" / "decisions" / "README.md"
    linked = {(index.parent / target).resolve() for target in re.findall(r"\]\(([^)#]+)", index.read_text())}
    assert {*index.parent.glob("*.md")} - {index} <= linked


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_the_page_of_the_command_line_is_what_the_table_gives() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "command-line"], capture_output=True, text=True, check=True, timeout=60
    )
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    assert page == made.stdout, "`make docs` writes it anew"


def test_the_exit_codes_of_wait_are_documented_as_they_are() -> None:
    page = (ROOT / "docs" / "reference" / "exit-codes.md").read_text().partition("\n## All other verbs\n")[0]
    rows = re.findall(r"^\| (\d+) \| (?:`(\w+)`)?", page, re.MULTILINE)
    assert {state: int(code) for code, state in rows if state} == EXIT_CODES
    assert str(STILL_RUNNING) in {code for code, _ in rows}


def test_every_command_line_in_the_documents_is_one_that_is_understood() -> None:
    """Verbs and flags only; what they do is tested elsewhere."""
    seen = 0
    for page in pages():
        for verb, rest in re.findall(r"\bmidwatch ([a-z]+)((?: [^`\n#&|)$]*)?)", page.read_text()):
            verb, *_ = ALIASES.get(verb, (verb,))  # noqa: PLW2901
            if verb not in VERBS:
                continue
            seen += 1
            flags = {"--help", *(flag for flag, _, _ in VERBS[verb]["options"])}  # type: ignore[attr-defined]
            for word in rest.split(" -- ")[0].split():
                if re.fullmatch(r"--?[a-zA-Z][a-z-]*", word):
                    assert word in flags, f"{page.name}: midwatch {verb}{rest}"
    assert seen > 50
