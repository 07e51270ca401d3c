"""The session registry of tmux-agent-orchestrate-monitor, and its reconciler. In come the rows and what tmux,
processes and agents' files show; out come drifts and a plan of edits. Nothing is written that a person changed
in the last seconds.
"""
