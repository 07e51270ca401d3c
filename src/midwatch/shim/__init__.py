"""The parent process of a job or an agent, started with `python -I -S`. It imports only the standard library and
leaves of `system`. It runs the work, writes its pid, heartbeat, log and status, and enforces the plain timeout;
all other decisions it asks for.
"""
