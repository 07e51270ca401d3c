"""Task trackers behind one protocol: beads, BMAD sprint files, the Hermes board, and one that needs nothing
installed. In come the tracker's files or its program; out come tasks with their states and dependencies. A
truncated file is an error, not a shorter list.
"""
