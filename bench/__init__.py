"""How fast, beside its anchors.

Each module tells one story and yields rows: what was measured, the anchor measured in the same run, the goal of the
project's issue. Absolute times move with the machine; the ratios, taken over interleaved rounds, are what to read.
Everything lives in a directory of its own and everything that was started is ended. Linux only.
"""
