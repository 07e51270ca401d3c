"""Clients of other systems: the MQTT broker, the Hermes kanban, git, ntm. They read none of our files and decide
nothing. A call has a deadline and a size limit, and fails with an error that names the system.
"""
