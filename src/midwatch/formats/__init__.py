"""Codecs without I/O: text comes in, values go out, and back.

Each raises FormatError for text that is not what it should be, and nothing else. What is written here is frozen by
the files in ``tests/goldens/formats``, which must load for ever.
"""
