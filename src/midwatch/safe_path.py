"""What `python -m` does too much: it looks for every module in the current directory first.

That directory may hold anybody's files. The `midwatch` and `story-automator` commands do not look there, nor does
`python -P -m midwatch`. For `python -m midwatch` the directory is taken out again before anything else is loaded. What
Python itself has loaded from there by then has run, so that is an error.
"""

import sys


def leave_current_directory() -> None:
    """Import nothing more from where we were started; exit where something was."""
    if sys.flags.safe_path:
        return
    here = sys.path.pop(0)
    if here in sys.path:
        return
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items() if name != "midwatch"}
    foreign = [name for name, file in files.items() if file in (f"{here}/{name}.py", f"{here}/{name}/__init__.py")]
    if foreign:
        words = f"Python has loaded {', '.join(foreign)} from the current directory, and not its own"
        sys.exit(f"midwatch: {words}; use the `midwatch` command, or `python -P -m midwatch`")
