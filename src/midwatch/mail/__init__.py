"""Messages between agents of a project. In come texts from agents, also from the drop boxes of sandboxes; out come
unread messages in order. A message is kept until it was read.
"""
