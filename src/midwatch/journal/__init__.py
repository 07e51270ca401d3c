"""The event journal: a SQLite index of everything that happened, rebuilt from the spools that shims, hooks and
watchers append to. Each event gets a sequence number, so a reader can continue where it stopped. It is never
needed to know the present.
"""
