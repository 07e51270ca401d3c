"""The circuit breaker: after several failures of a kind in a row no new run starts until a pause has passed. In
come starts and ends, in the order in which a file has them; out comes whether a run may start, and why not.
"""
