"""What is sent when a state changes: decided once, kept in an outbox, delivered by a process of its own. In come
changes with their verdicts; out go messages to commands, services and the MQTT broker. A slow channel never
delays a verdict.
"""
