"""The command line: one module per verb, each with ``main(options) -> exit code``.

``verbs.py`` says what each verb takes; parsing, help and completion come from that one table. A verb's module is
imported when it is called, because a start is paid for by whoever waits.
"""
