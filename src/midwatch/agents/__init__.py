"""One folder per coding agent, and what they share. A folder says how its agent starts and resumes, and what its
screen, title, files, hooks and menus mean. In come observations of a pane and the agent's files; out comes what
each source says of the turn.
"""
