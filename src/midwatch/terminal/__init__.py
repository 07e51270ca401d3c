"""A small model of a terminal, which turns the bytes that a pane prints into the lines that a person reads there,
and the reports that programs make of themselves (OSC 7501). Bytes come in, in any pieces; rows, lines and
reports go out. It has no I/O.
"""
