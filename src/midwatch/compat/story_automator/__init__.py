"""The command line of `story-automator` on top of Midwatch, so that scripts which call it need not change.

``main.py`` is the program `story-automator`: one module per command, each with ``main(words) -> exit code``, imported
when it is called. What it prints is what its readers expect; what it says is what Midwatch knows. Where the published
programs are wrong it is right, and docs/reference/story-automator.md says so.
"""
