"""Every program that is started gets an environment without our secrets, or it is ours and the reason stands here."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "midwatch"
STARTERS = {
    "Popen", "run", "posix_spawn", "posix_spawnp", "execv", "execve", "execvp", "execvpe", "execl", "execlp", "system",
    "popen", "call", "check_call", "check_output",
}  # fmt: skip
MODULES = {"os", "subprocess"}
OURS = {
    "shim/fork.py:fork_judge": "the judge, whose environment is made without the names that the shim was given",
    "shim/fork.py:start_beside": "who delivers notices, and logs in at the broker",
    "shim/fork.py:become_work": "the work, whose environment `specification` made without them",
    "jobs/launch.py:launch_shim": "the shim, which starts who delivers notices",
    "sessions/pane_entry.py:main": "the shim, as above",
    "system/run_program.py:pass_on": "the shim, as above",
}


def starts(tree: ast.Module) -> list[tuple[str, ast.Call]]:
    """Calls that start a program, each with the function that it stands in."""
    found: list[tuple[str, ast.Call]] = []

    def walk(node: ast.AST, where: str) -> None:
        for each in ast.iter_child_nodes(node):
            inner = each.name if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) else where
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in STARTERS:
                module = each.func.value
                if isinstance(module, ast.Name) and module.id in MODULES:
                    found.append((where, each))
            walk(each, inner)

    walk(tree, "")
    return found


def test_who_starts_a_program_leaves_our_secrets_out() -> None:
    seen, wrong = set(), []
    for path in sorted(ROOT.rglob("*.py")):
        for where, call in starts(ast.parse(path.read_text())):
            name = f"{path.relative_to(ROOT)}:{where}"
            if name in OURS:
                seen.add(name)
            elif "without_secrets" not in ast.unparse(call):
                wrong.append(f"{name}, line {call.lineno}")
    assert wrong == []
    assert seen == set(OURS)


def test_one_that_does_not_would_be_found() -> None:
    [(where, call)] = starts(ast.parse("def f():\n    subprocess.run(['x'], env=os.environ)"))
    assert where == "f"
    assert "without_secrets" not in ast.unparse(call)


def imports_subprocess(code: str) -> bool:
    return any(
        (isinstance(node, ast.Import) and any(each.name == "subprocess" for each in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "subprocess")
        for node in ast.walk(ast.parse(code))
    )


def test_one_module_imports_subprocess() -> None:
    """The import contract names every package; this also finds a new package that it does not name yet."""
    found = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.rglob("*.py"))]
    found = [path for path in found if imports_subprocess((ROOT / path).read_text())]
    assert found == ["system/run_program.py"]


def test_an_import_elsewhere_would_be_found() -> None:
    assert imports_subprocess("def f():\n    import subprocess")
    assert imports_subprocess("from subprocess import run")
