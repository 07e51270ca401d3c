"""A project with a real environment in it, made as venv and pip make them, and what preflight says of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import Box, Done

EXIT = "import sys\nfrom {module} import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


class Project:
    def __init__(self, box: Box, root: Path) -> None:
        self.box = box
        self.root = root
        root.mkdir(parents=True)
        (root / ".git").mkdir()
        box.cwd = root

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def packages(self) -> Path:
        return self.venv / "lib" / f"python{VERSION}" / "site-packages"

    def make(self, name: str = ".venv") -> Path:
        python = [sys.executable, "-m", "venv", "--without-pip", str(self.root / name)]
        subprocess.run(python, check=True, timeout=60)
        return self.root / name

    def install(self, name: str, *, script: str = "", code: str = "def main():\n    return 0\n") -> Path:
        """A package with a module and, if wished, a console script, as pip leaves them; its dist-info directory."""
        (self.packages / name).mkdir()
        (self.packages / name / "__init__.py").write_text(code)
        about = self.record(name, [f"{name}/__init__.py"] + ([f"../../../bin/{script}"] if script else []))
        if script:
            self.script(script, f"#!{self.venv}/bin/python\n" + EXIT.format(module=name))
        return about

    def record(self, name: str, files: list[str], version: str = "1.0") -> Path:
        about = self.packages / f"{name}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (about / "RECORD").write_text("".join(f"{file},,\n" for file in files))
        return about

    def script(self, name: str, text: str) -> Path:
        path = self.venv / "bin" / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def move(self, name: str) -> None:
        new = self.root.parent / name
        self.root.rename(new)
        self.root = self.box.cwd = new

    def configure(self, text: str, *, trusted: bool = True) -> None:
        (self.root / "midwatch.toml").write_text(text)
        if trusted:
            done = self.box("trust", "--yes")
            assert done.code == 0, done

    def run(self, *arguments: str, **env: str) -> Done:
        return self.box("preflight", *arguments, **env)

    def found(self, *arguments: str, **env: str) -> dict[str, dict[str, Any]]:
        """What is said of each check, by its name; the exit code must agree with it."""
        done = self.run("--json", *arguments, **env)
        findings = [json.loads(line) for line in done.out.splitlines()]
        assert findings, done
        assert done.code == (0 if all(each["ok"] for each in findings) else 1), done
        return {each["check"]: each for each in findings}

    def failed(self, *arguments: str, **env: str) -> dict[str, str]:
        return {name: each["says"] for name, each in self.found(*arguments, **env).items() if not each["ok"]}
