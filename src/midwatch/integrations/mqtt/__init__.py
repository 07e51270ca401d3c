"""The MQTT broker: connection, packets, topics and payloads."""
