"""Recordings of panes and times in usage limits as text and as values. Pure, with one kind of error."""
