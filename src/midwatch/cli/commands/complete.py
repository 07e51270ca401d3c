"""`midwatch _complete -- WORD…`: what may stand where the cursor is. The scripts of `midwatch completion` ask this.

The first line tells the kind: `words`, `files`, `directories`, or `command N`: from the Nth word of the line on, with
`midwatch` as the 0th, it is another command's. Words follow, each with its help behind a tab. Everything comes from the
table of verbs: what a flag takes from its placeholder, what a verb takes from the line that its help begins with.
"""

from __future__ import annotations

import os
import time

from midwatch.cli.command_table import ALIASES, VERBS
from midwatch.cli.parser import Options
from midwatch.config import paths, sentinel_files
from midwatch.config.model import WAYS
from midwatch.core import names
from midwatch.core.errors import RefusedError
from midwatch.core.policy import POLICIES, PROGRESS_SOURCES
from midwatch.jobs.wait_model import UNTIL
from midwatch.swarm.model import EXIT_MODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    Words = list[tuple[str, str]]

VALUES: dict[str, tuple[str, ...]] = {
    "--policy": tuple(POLICIES),
    "--on-stuck": ("report", "stop"),
    "--until": UNTIL,
    "--exit-mode": EXIT_MODES,
    "--via": WAYS,
}
SOURCES = "S,…"
FILES = {"FILE": "files", "PATH": "files", "SCREEN": "files", "DIR": "directories", "D": "directories"}
PATIENCE = 1.0
"""Seconds that a tmux server may take to name its panes."""


def main(options: Options) -> int:
    kind, words = find_completions(options.names or [""])
    print(kind)
    for word, says in words:
        print(f"{word}\t{says}" if says else word)
    return 0


def find_completions(line: list[str]) -> tuple[str, Words]:
    """The kind of what may stand in place of the last word of a line, and the words that may."""
    *before, current = line
    if before in ([], ["help"]):
        verbs = [(verb, str(about["says"])) for verb, about in VERBS.items() if about["says"]]
        verbs += [(alias, f"the same as `{' '.join(meant)}`") for alias, meant in ALIASES.items()]
        return "words", _filter_by_prefix(verbs, current)
    return _Line(before, current).answer() if before[0] in VERBS or before[0] in ALIASES else ("words", [])


def _filter_by_prefix(words: Words, current: str) -> Words:
    return [(word, says) for word, says in words if word.startswith(current)]


class _Form:
    """One way to call a verb, as its help says it: a word in small letters, flags, then names in capitals."""

    def __init__(self, text: str, flags: dict[str, str]) -> None:
        self.word, self.optional, self.many = "", False, False
        self.kinds: list[str] = []
        self.needs: list[str] = []
        value = False
        for part in text.split():
            bare = part.strip("[]")
            if value or bare == "OPTIONS":
                value = False
            elif bare.startswith("-"):
                value = bool(flags.get(bare))
                self.needs += [bare] if bare == part else []
            elif bare.islower():
                self.word, self.optional = bare, bare != part
            else:
                self.kinds += bare.rstrip("…").split("|")
                self.many = bare.endswith("…")


class _Line:
    """A command line as far as it has been typed: the flags given, the words given, and where the cursor is."""

    def __init__(self, before: list[str], current: str) -> None:
        (self.verb, *meant), self.current = ALIASES.get(before[0], (before[0],)), current
        table: tuple[tuple[str, str, str], ...] = VERBS[self.verb]["options"]  # type: ignore[assignment]
        self.takes = {flag: placeholder for flag, placeholder, _ in table}
        self.says = {flag: says for flag, _, says in table} | {"--help": "tell what it does and what it takes"}
        self.given = dict.fromkeys(meant, "")
        self.words: list[str] = []
        self.open_flag = ""
        """A flag whose value is being typed."""
        self.dashes = False
        self.command_at = 0
        """Where the command begins that is to be run."""
        for at, word in enumerate(before[1:], 1):
            self.take(at, word)
        if self.verb == "run" and not (self.command_at or self.open_flag or current.startswith("-")):
            self.command_at = len(before)

    def take(self, at: int, word: str) -> None:
        flag, equals, value = word.partition("=")
        if self.command_at:
            return
        if self.open_flag:
            self.given[self.open_flag], self.open_flag = word, ""
        elif word == "--" and not self.dashes:
            self.dashes = True
            self.command_at = at + 1 if self.verb == "run" else 0
        elif self.dashes or not word.startswith("-") or word == "-":
            self.words.append(word)
            self.command_at = at if self.verb == "run" else 0
        elif self.takes.get(flag) and not equals:
            self.open_flag = flag
        else:
            self.given[flag] = value

    def answer(self) -> tuple[str, Words]:
        if self.command_at:
            return f"command {self.command_at + 1}", []
        if self.open_flag:
            return self.value(self.open_flag, "", self.current)
        flag, equals, value = self.current.partition("=")
        if equals and self.takes.get(flag) and not self.dashes:
            return self.value(flag, f"{flag}=", value)
        if self.current.startswith("-") and not self.dashes:
            return "words", self.flags()
        kind, words = self.besides()
        nothing = kind == "words" and not words and not self.current and not self.dashes
        return ("words", self.flags()) if nothing else (kind, words)

    def flags(self) -> Words:
        """Those that have not been given yet; a variable may be set again."""
        left = [(flag, says) for flag, says in self.says.items() if flag == "--env" or flag not in self.given]
        return _filter_by_prefix(left, self.current)

    def value(self, flag: str, prefix: str, begun: str) -> tuple[str, Words]:
        placeholder = self.takes[flag]
        if placeholder in FILES:
            return FILES[placeholder], []
        found: list[str] | tuple[str, ...] = ()
        if placeholder == SOURCES:
            done, comma, _ = begun.rpartition(",")
            found = [done + comma + source for source in PROGRESS_SOURCES if source not in done.split(",")]
        elif flag in VALUES:
            found = VALUES[flag]
        elif flag == "--name" and self.verb != "adopt":
            found = self.jobs()
        elif flag == "--breaker":
            found = self.keys()
        elif flag == "--agent":
            found = _agent_words()
        elif flag == "-L":
            found = _server_words()
        return "words", _filter_by_prefix([(prefix + word, "") for word in found], prefix + begun)

    # What a verb takes besides flags

    def besides(self) -> tuple[str, Words]:
        forms = [_Form(text, self.takes) for text in str(VERBS[self.verb]["takes"]).split(" | ")]
        choices = [form.word for form in forms if form.word]
        words: Words = []
        if choices and not self.words:
            words += [(word, "") for word in choices]
            forms = [form for form in forms if not form.word or form.optional]
        elif self.words[:1] and self.words[0] in choices:
            forms = [form for form in forms if form.word == self.words[0]]
        else:
            forms = [form for form in forms if not form.word or form.optional]
        taken = len(self.words) - (self.words[:1] != [] and self.words[0] in choices)
        kind = "words"
        for form in forms:
            if (taken and not form.many) or (not form.word and not self.given.keys() >= set(form.needs)):
                continue
            for name in form.kinds:
                kind = FILES.get(name, kind)
                words += [] if name in FILES else self.named(name)
        return kind, [(word, says) for word, says in _filter_by_prefix(words, self.current) if word not in self.words]

    def named(self, kind: str) -> Words:
        if kind == "%PANE" or (kind == "NAME" and self.current.startswith("%") and "-L" in self.takes):
            return self.panes()
        if kind in ("NAME", "STEP"):
            return [(name, "") for name in self.jobs()]
        return [(key, "") for key in self.keys()] if kind == "KEY" else []

    def directory(self) -> str:
        return paths.sentinel_directory(os.path.expanduser(self.given.get("--dir", "")))

    def jobs(self) -> list[str]:
        try:
            found = sentinel_files.list_jobs(self.directory())
            return [name for name in found if " " not in name]  # a shell would take one for two words
        except OSError:
            return []

    def keys(self) -> list[str]:
        from midwatch.breaker import store as breaker_store

        try:
            return breaker_store.list_keys(self.directory())
        except RefusedError:
            return []

    def panes(self) -> Words:
        from midwatch.tmux import client as tmux_client
        from midwatch.tmux.codec import pane_list

        server = next(((flag, self.given[flag]) for flag in ("-L", "-S") if self.given.get(flag)), ())
        place = tmux_client.socket_path(server)
        if not tmux_client.is_socket(place):
            return []
        shown = "#{pane_id}\t#{session_name}:#{window_index} #{pane_current_command}"
        try:
            answer = tmux_client.run_client(place, pane_list.server_panes(shown), time.monotonic() + PATIENCE)
        except (OSError, RefusedError):
            return []
        return parse_pane_words(answer.out)


def parse_pane_words(out: bytes) -> Words:
    """Panes with what they are, as tmux lists them. What runs in one may have a name of several lines.

    A shell puts a word into its command line as it is: so only ids of panes are offered.
    """
    rows = [line.partition("\t") for line in out.decode("utf-8", "replace").split("\n")]
    return [(pane, what) for pane, tab, what in rows if tab and names.is_pane(pane)]


def _agent_words() -> list[str]:
    from midwatch.agents import catalog

    return list(catalog.definition_paths())


def _server_words() -> list[str]:
    from midwatch.tmux import client as tmux_client

    return [os.path.basename(path) for path in tmux_client.list_sockets() if not tmux_client.find_refusal(path)]
