"""Other programs' command lines on top of our loops, so that scripts which call them need not change.

``main.py`` is the program `story-automator`: one module per command, each with ``main(words) -> exit code``, imported
when it is called. What it prints is what its readers expect; what it says is what Midwatch knows. Where the published
programs are wrong it is right, and docs/compat.md says so.
"""
