"""Coding agents in tmux panes: observing, judging, starting, prompting, monitoring and resuming them. In come
panes with what each source says; out come verdicts, and actions where the caller asked for them. Nothing is
typed unless a prompt is confirmed.
"""
