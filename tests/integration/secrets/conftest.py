from tests.integration.mqtt.test_mqtt_secrets import guarded
from tests.integration.spawn.office import office

__all__ = ["guarded", "office"]
