"""The stand-in of `spawn`, for a shell: woken, it draws itself anew; told to `leave`, it says how to come back."""

from __future__ import annotations

import os
import signal
import sys
import termios
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "spawn"))

import claude_stand_in as stand_in  # type: ignore[import-not-found]  # it is a program, run by its path


class Leaving(stand_in.StandIn):  # type: ignore[misc]
    def run(self) -> None:
        self.cooked = termios.tcgetattr(0)
        signal.signal(signal.SIGCONT, lambda *_: self.draw())
        super().run()

    def act(self, prompt: str, *, begun: bool = False) -> None:
        if prompt != "leave":
            super().act(prompt, begun=begun)
            return
        (stand_in.HOME / "sessions" / f"{os.getpid()}.json").unlink()
        os.write(1, f"\r\nResume this session with:\r\nclaude --resume {self.conversation}\r\n".encode())
        termios.tcsetattr(0, termios.TCSANOW, self.cooked)
        os._exit(0)


if __name__ == "__main__":
    stand_in.StandIn = Leaving
    stand_in.main()
