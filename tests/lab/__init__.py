"""The lab: real coding agents in real tmux, cut off from the network, talking to a model that does as it is told.

A prompt carries its own script (`[[bash touch x]] [[text done]]`), so a test needs no state shared with the server; the
server keeps a journal of what it truly did and when, against which verdicts can be held. Each session has a home of its
own with dummy keys, and whatever the lab started is gone when it closes: it looks, and fails if something is left.
`scripts/agents` installs the agents; `with Lab() as lab: pane = lab.start("claude")` runs one.
"""
