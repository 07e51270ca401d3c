"""The words of Midwatch as plain immutable values.

Nothing here reads, writes or decides. Senses fill these values, the judge turns some into others, faces show them.
They are NamedTuples because every call of ``wait`` and ``ls`` pays for what is imported here.
"""
