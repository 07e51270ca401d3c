"""Recordings of sessions and of jobs judged again, with the same or another policy, and the accuracy of every
source on labelled screens. In come recordings and journals; out come verdicts then and now, and where they
differ.
"""
