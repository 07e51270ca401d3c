"""supervisord with one program, on a unix socket: an anchor for noticing deaths and for start-up."""

import os
import subprocess
import sys

from bench.stage import BIN, Stage, kill
from bench.waiting import Lines, lines_of, now

LISTENER = """
import sys
with open(sys.argv[1], "w") as told:
    while True:
        print("READY", flush=True)
        head = dict(word.split(":") for word in sys.stdin.readline().split())
        print(sys.stdin.read(int(head["len"])), file=told, flush=True)
        print("RESULT 2\\nOK", end="", flush=True)
"""
"""How a program learns of a death from supervisord: it is sent an event."""


class Supervisord:
    def __init__(self, stage: Stage) -> None:
        self.there = os.path.exists(f"{BIN}/supervisord")
        self.stage = stage
        self.logged: list[float] = []
        """Seconds from each kill to the line in its log."""
        self.told: list[float] = []
        """Seconds from each kill to the event that a listener is sent."""
        if self.there:
            self._start()

    def _start(self) -> None:
        directory = self.stage.dir("supervisord")
        self.conf, listener, fifo = (f"{directory}/{name}" for name in ("s.conf", "listener.py", "told"))
        os.mkfifo(fifo)
        with open(listener, "w", encoding="utf-8") as file:
            file.write(LISTENER)
        with open(self.conf, "w", encoding="utf-8") as file:
            file.write(
                f"[supervisord]\nnodaemon=true\nlogfile={directory}/s.log\npidfile={directory}/s.pid\n"
                f"childlogdir={directory}\n[unix_http_server]\nfile={directory}/s.sock\n"
                f"[supervisorctl]\nserverurl=unix://{directory}/s.sock\n[rpcinterface:supervisor]\n"
                "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
                f"[eventlistener:ear]\ncommand={sys.executable} {listener} {fifo}\nevents=PROCESS_STATE_EXITED\n"
                "[program:work]\ncommand=sleep 600\nautorestart=true\nstartsecs=0\n"
            )
        self.process = self.stage.start(f"{BIN}/supervisord", "-c", self.conf)
        self.log, self.events = lines_of(self.process), Lines(os.open(fifo, os.O_RDWR))
        self.log.next("ear entered RUNNING")
        self.pid = self._spawned()

    def _spawned(self) -> int:
        """Its work runs: the pid, asked for as anyone would."""
        command = [f"{BIN}/supervisorctl", "-c", self.conf, "pid", "work"]
        return int(subprocess.check_output(command, env=self.stage.env, timeout=30))

    def status_command(self) -> list[str]:
        return [f"{BIN}/supervisorctl", "-c", self.conf, "status"]

    def kill_its_work(self) -> None:
        if self.there:
            self.began = now()
            kill(self.pid)

    def notices(self) -> None:
        """Wait until it has told of that death and its program runs again."""
        if self.there:
            self.logged.append(self.log.next("exited: work")[0] - self.began)
            self.told.append(self.events.next("processname:work")[0] - self.began)
            self.pid = int(self.log.next("spawned: 'work'")[1].split()[-1])

    def end(self) -> None:
        if self.there:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                kill(self.process.pid)
