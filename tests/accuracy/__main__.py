"""Prints how often Midwatch is right, as tables. With ``--write`` the tables of the documents are written anew."""

import sys
from pathlib import Path

from tests.accuracy import report

ROOT = Path(__file__).parents[2]
TABLES = (
    ("README.md", "accuracy", report.summary),
    ("docs/how-it-works/accuracy.md", "sources", report.sources),
    ("docs/how-it-works/program-status.md", "night", report.night),
)
"""Document, the name in its marks, and what makes the table between them."""


def write(result: report.Result) -> None:
    for path, name, table in TABLES:
        document = ROOT / path
        before, _, rest = document.read_text().partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"\n<!-- /{name} -->")
        document.write_text(f"{before}<!-- {name} -->\n" + "\n".join(table(result)) + end + after)


judged = report.judge_all()
if sys.argv[1:] == ["--write"]:
    write(judged)
print(report.full(judged))
