from tests.integration.mqtt.conftest import mosquitto
from tests.integration.reconcile.workspace import workspace
from tests.integration.send.conftest import agent, alone, private
from tests.integration.spawn.office import office
from tests.integration.three_layer_monitor.conftest import make, task
from tests.integration.wait.watching import gate
from tests.integration.watchdog.swarm import swarm

__all__ = ["agent", "alone", "gate", "make", "mosquitto", "office", "private", "swarm", "task", "workspace"]
