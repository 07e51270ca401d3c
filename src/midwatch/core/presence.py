"""Whether something is there: a process, or what an agent has written of a conversation."""

LIVES, THERE, GONE, UNKNOWN = "lives", "there", "gone", "unknown"
