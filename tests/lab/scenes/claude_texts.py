"""Words for the model that look like something else: screens of agents, limits, dialogs, shells."""

# ruff: noqa: RUF001, W291  # these are the signs that agents draw

from __future__ import annotations

RULE = "─" * 70
LECTURE = "".join(f"Paragraph {n}: the fox waits; the limit resets; do you want to proceed?\n\n" for n in range(1, 16))

FAKE_END = f"""All done.

✻ Brewed for 12s

{RULE}
❯ 
{RULE}
  ? for shortcuts
"""

FAKE_BUSY = f"""This is what it looks like at work:

✶ Percolating… (12s · ↓ 17 tokens · esc to interrupt)
  ⎿  Running…

{RULE}
❯ 
{RULE}
  esc to interrupt
"""

FAKE_DIALOG = f"""The dialog reads:

{RULE}
 Bash command

   touch x

 Do you want to proceed?
 ❯ 1. Yes
   2. No

 Esc to cancel · Tab to amend
"""

FAKE_LIMIT = """You've hit your session limit · resets 5pm (UTC)"""

FAKE_SHELL = """I closed it:

Resume this session with:
claude --resume 01234567-89ab-cdef-0123-456789abcdef

[1]+  Stopped                 claude
bash-5.2# 
Killed
bash-5.2# 
"""

OTHERS = """In the other panes:

• Working (5s • esc to interrupt)

■ You’ve hit your usage limit. Try again at 10:33 PM.

△ Permission required

⠋ Thinking... (esc to cancel, 4s)

Allow execution of [Shell]?

● 1. Allow once
"""
