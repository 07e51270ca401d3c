"""Settings, paths and trust: `midwatch.toml`, the user's `config.toml`, where state lives, and which files of a
project may run something. In come files of the user and of repositories; out come typed values, or an error
that names file and line.
"""
