"""Values and pure helpers that every package uses: verdicts, causes, policies, facts of jobs and panes, foreign
text, names, durations, exit codes. Nothing here reads a clock, a file or a process. A value made here can be
compared, printed and replayed anywhere.
"""
