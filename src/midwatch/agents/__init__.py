"""What is known of each coding agent, as data: one TOML file per agent, and the pure readers of those files.

A file says how the agent's process is recognised, where on its screen the present is shown and where the past, and
which sign in which source means what. Nothing here opens a file; `store.detectors` does.
"""
