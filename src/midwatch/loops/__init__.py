"""Where the rooms meet: look (observe, judge, once), wait, decide.

Faces call these and show what comes back. A loop owns the clock; the judge below it is given the time.
"""
