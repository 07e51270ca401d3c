"""Beads and BMAD sprint files as text and as tasks. Pure, with one kind of error."""
