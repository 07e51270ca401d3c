from tests.integration.kanban.conftest import board
from tests.integration.mqtt.conftest import mosquitto
from tests.integration.reconcile.staying import stays
from tests.integration.reconcile.workspace import workspace

__all__ = ["board", "mosquitto", "stays", "workspace"]
