"""Jobs, sessions and panes together: their live state, waiting for them, adopting them, and the feed of events.
Faces use this package; they do not need to know which kind a name is of.
"""
