from tests.integration.kanban.conftest import board
from tests.integration.mqtt.conftest import mosquitto
from tests.integration.reconcile.lookout import lookout
from tests.integration.reconcile.staying import stays
from tests.integration.reconcile.workspace import workspace

__all__ = ["board", "lookout", "mosquitto", "stays", "workspace"]
