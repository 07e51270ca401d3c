"""Steps of story-automator: start an agent on a step, monitor it, verify, parse its output, and say what is next.
In come a step and its project; out come a result, the counts, and the next action.
"""
