"""Dogwatch keeps watch over coding agents and the work they start.

Senses see, one judge decides, hands act, the journal remembers. The rooms and what each may import stand in
``docs/architecture.md``; the files on disk, which are the truth, in ``docs/files.md``.
"""

__version__ = "0.1.0"
