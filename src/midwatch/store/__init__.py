"""Our state on disk, and its only writer but for the shim.

A sentinel directory holds the files of ``docs/files.md``. Everything is read without following links and without
blocking, because a directory may be another's; everything is written whole. Nothing here judges.
"""
