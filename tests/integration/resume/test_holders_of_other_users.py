"""Another user runs a process that looks as if it had a conversation of ours."""

from __future__ import annotations

import subprocess
import sys
import uuid

import pytest

from tests import users

HOLDER = "exec -a claude sh -c 'echo ready; read line' claude --resume $0"
ASKING = """
import sys
from midwatch.agents import catalog
from midwatch.agents.conversation_holders import find_holders
print(len(find_holders(catalog.load("claude"), sys.argv[1])))
"""


@pytest.mark.parametrize(("whose", "counted"), [(users.ATTACKER, 0), (users.VICTIM, 1)])
def test_only_our_own_processes_hold_our_conversations(whose: str, counted: int) -> None:
    conversation = str(uuid.uuid4())
    command = [*users.become(whose), "bash", "--norc", "-c", HOLDER, conversation]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/") as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"ready\n"
        asking = [*users.become(users.VICTIM), sys.executable, "-P", "-c", ASKING, conversation]
        found = subprocess.run(asking, capture_output=True, text=True, check=True, cwd="/")
        holder.communicate(b"\n")
    assert int(found.stdout) == counted
