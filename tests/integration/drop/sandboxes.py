"""The examples of docs/guides/sandbox.md, as they stand there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import tool

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "sandbox.md"


def example(language: str, heading: str) -> str:
    """The first piece of code in some language below a heading."""
    text = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.search(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE} has no {language} below {heading}"
    return found[1]


@pytest.fixture
def sandboxed(tmp_path: Path) -> str:
    """The script for bubblewrap."""
    done = subprocess.run(
        [tool("bwrap"), "--ro-bind", "/", "/", "--unshare-pid", "true"], capture_output=True, check=False
    )
    assert done.returncode == 0, f"bubblewrap does not work here: {done.stderr!r}"
    path = tmp_path / "sandboxed"
    path.write_text(example("sh", "Bubblewrap"))
    path.chmod(0o755)
    return str(path)
