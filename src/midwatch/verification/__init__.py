"""Whether the work is there: files, tests, commits, tasks. In comes what was asked for when the work was started;
out comes verified, or why not. Commands run with a deadline, and only those that the user gave.
"""
