"""Typing into a pane: a paste or keys, each let through by the server only if nothing has changed since a look.

The text goes to tmux from memory through its standard input, whole from the start: it is on no command line, in no
file, and if we are killed half way, tmux still has all of it or nothing. Clients are apart from our terminal, so that
Ctrl-C ends none of them in the middle.
"""

from __future__ import annotations

import os
import time

from midwatch.core.errors import RefusedError
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec import guarded_input

LIMIT = 10.0
"""Seconds that the server has for an answer."""


class KeyTyper:
    def __init__(self, server: tuple[str, ...], pane: str) -> None:
        self._place = tmux_client.socket_path(server)
        self._pane = pane

    def paste(self, text: str, guard: str) -> bool:
        """Whether it was pasted; RefusedError where nobody can tell. No buffer is left, whatever happens."""
        word = codec.make_word(os.urandom(10))
        buffer = f"midwatch-{word}"
        file = os.memfd_create("text", os.MFD_CLOEXEC)
        typed = None
        try:
            with open(file, "wb", closefd=False) as whole:
                whole.write(text.encode())
            os.lseek(file, 0, os.SEEK_SET)
            typed = self._typed(guarded_input.paste_command(word, self._pane, guard, buffer), word, file)
        finally:
            os.close(file)
            if typed is None:
                self._run(guarded_input.delete_command(buffer))
        return typed

    def press(self, keys: tuple[str, ...], guard: str) -> bool:
        """Whether they were pressed; RefusedError where nobody can tell."""
        word = codec.make_word(os.urandom(10))
        return self._typed(guarded_input.press_command(word, self._pane, guard, keys), word)

    def _typed(self, command: list[str], word: str, file: int = -1) -> bool:
        typed = guarded_input.was_typed(self._run(command, file), word)
        if typed is None:
            raise RefusedError("the tmux server went away, or did not say whether it has typed")
        return typed

    def _run(self, command: list[str], file: int = -1) -> bytes:
        try:
            answer = tmux_client.run_client(self._place, command, time.monotonic() + LIMIT, text=file)
        except OSError as error:
            raise RefusedError(f"tmux cannot be started: {error.strerror or error}") from error
        if answer.late:
            raise RefusedError(f"the tmux server did not answer within {LIMIT:g} s")
        return answer.out
