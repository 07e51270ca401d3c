"""The state of an agent in a pane, and what a monitor does about it. Pure; time is an argument."""
