"""Hostile bytes for everything that reads what others wrote: files, screens, tmux's replies, hooks, messages.

`targets.py` names every reader with examples of what it reads. `make test` plays the examples, the inputs that once
broke a reader (`corpus/`), and a short round of mutations. `make fuzz` looks for new ones, guided by coverage.
A reader may raise the errors that its callers expect. Anything else is a defect.
"""
