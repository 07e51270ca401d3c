"""What agents and jobs left running when they had ended.

In come this user's processes with the marks that `run` and `spawn` export; out comes each one whose job or session has
ended or is not known any more, and what it listens on. What belongs to anything alive is never among them.
"""
