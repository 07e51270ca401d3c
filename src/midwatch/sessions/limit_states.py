"""Words for limits that agents' files and the rules share."""

CONTINUES = "continues"
"""Detail of the limit of an agent that shows that it will continue by itself."""
