"""What documents say in tables is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from dogwatch.cli.verbs import VERBS
from dogwatch.judge.consequences import EXIT_CODES, NEXT
from dogwatch.model.verdict import FINAL, LIVE

ROOT = Path(__file__).parents[2]


def table(text: str) -> list[list[str]]:
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in rows]


def test_the_states_are_documented_as_they_are() -> None:
    text = (ROOT / "docs/states.md").read_text().split("\n## ")[0]
    rows = {row[0].strip("`"): row for row in table(text)}
    assert rows.keys() == {*LIVE, *FINAL}
    for state, (_, final, code, following, _) in rows.items():
        assert final.startswith("yes") == (state in FINAL), state
        assert code == (str(EXIT_CODES[state]) if state in EXIT_CODES else ""), state
        assert following == NEXT[state], state


def test_every_document_that_is_pointed_to_is_there() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+\.(?:md|svg))\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_command_line_in_the_documents_is_one_that_is_understood() -> None:
    """Verbs and flags only; what they do is tested elsewhere."""
    seen = 0
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for verb, rest in re.findall(r"\bdogwatch ([a-z]+)((?: [^`\n#&|)]*)?)", page.read_text()):
            if verb not in VERBS:
                continue
            seen += 1
            flags = {"--help", *(flag for flag, _, _ in VERBS[verb]["options"])}  # type: ignore[attr-defined]
            for word in rest.split(" -- ")[0].split():
                if re.fullmatch(r"--?[a-zA-Z][a-z-]*", word):
                    assert word in flags, f"{page.name}: dogwatch {verb}{rest}"
    assert seen > 50
