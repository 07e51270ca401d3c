"""The client of an MQTT broker: settings, connection, packets, topics and payloads."""
