"""Midwatch for programs: start work, wait for it, ask about it, and report from inside it.

Each function does what the command of its name does, by the same rules and settings. Keyword arguments stand for
flags; the rest comes from the environment and the settings files. It returns the verdict that the command prints.
Nothing here prints, takes signals or changes the calling process, and all of it may be called from any thread.

Programs call these functions as `midwatch.run` and so on; `midwatch.aio` has the same names as coroutines.
"""
