"""A small model of a terminal, which turns the bytes that a pane prints into the lines that a person reads there.

Bytes come in, in any pieces (`stream`). A grid of cells holds what the pane shows (`screen`, `rows`). A line goes out
once, when it has scrolled off or come to rest (`transcript`). The other way, reports to the terminal outside become
bytes (`status_report`), and an environment tells what that terminal understands (`known_terminals`). The package
touches no file, process or clock, and raises no exception whatever bytes it reads. Where terminals differ it does as
tmux does.
"""
