"""Programs that are shells: at their prompt in a pane, nothing runs there."""

POSIX_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"))
"""Those that read the quoted command lines that we type."""
SHELLS = POSIX_SHELLS | {"tcsh", "csh", "nu", "pwsh", "elvish", "xonsh"}
CLEARED_BY_CTRL_L = frozenset(("bash", "zsh", "fish"))
"""Those to which Ctrl-L is no letter. What they clear is still in the pane's history."""
