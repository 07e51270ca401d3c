"""What is read of the world: processes, files, clocks.

A sense reports what it saw and when; it never concludes. What cannot be seen is Unseen, never Gone. Senses that the
kernel can wake have ``fileno()`` and ``read()``.
"""
