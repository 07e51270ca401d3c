"""A controller agent with its workers: the watchdog that wakes it when there is something to do, quality loops,
and hand-offs. In come the tracker's tasks and the states of panes; out come messages that are typed only when
the controller is idle.
"""
