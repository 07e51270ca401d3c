"""What changes the world: start, stop, relay.

Hands do what they are told and check whom they touch: a process is signalled only through a pidfd whose identity
was verified after it was opened.
"""
