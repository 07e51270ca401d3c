"""The scripted model: answers as the prompt tells it to, in the protocol that each agent speaks.

A request comes in; its last user message carries the script (`script.py`); a dialect (`anthropic.py`, `responses.py`,
`chat.py`, `gemini.py`) turns what the script says into that protocol's bytes, without I/O; `play.py` performs it on the
connection and writes into the journal what truly happened and when. `python -m tests.lab.server --help` starts it.
"""
