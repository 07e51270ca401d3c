"""Task directories of the three-layer monitor: `pid`, `output.log`, `manifest.json`, `exit_code`, `done`. In comes
such a directory with its tmux session; out come its verdict and, for its monitor, a resume with the same
conversation. The format is that of its owner.
"""
