"""What a settings file may say: frozen, closed, typed. Flags beat the environment, which beats the files."""

from __future__ import annotations

from midwatch.core.value import Value

CHECKS = ("module", "package", "venv", "command", "http", "tcp", "disk", "env", "tmux", "run")
"""What a check may look at; each is the key of a `[[check]]` table whose value is its target."""

TRACKERS = ("beads", "sprint", "kanban", "tasks")
"""Who may keep the tasks: beads, BMAD's sprint-status.yaml, a Hermes board, ours."""
WAYS = ("tmux", "ntm")
"""How a prompt may get into a pane: by ourselves, or through `ntm --robot-send`."""
PROGRAM_STATUS = ("auto", "on", "off")
"""When calls report to their own terminal: if that understands it, without a question, or never."""
REMIND = 1800.0
"""Seconds that an agent waits for a person before the reminder."""
NAMING = ("*-creator-claude", "*-creator-agy")


class PreflightCheck(Value):
    """One thing that must be true before work is worth starting."""

    kind: str
    """Of CHECKS."""
    target: str
    """What is looked at: a module, a directory, an address, a size, a variable, a version, a command."""
    name: str
    """As it is shown; the kind and target unless the file gives one."""
    fix: str = ""
    """A shell command that mends it; empty where only a person can."""
    venv: str = ""
    """For modules and packages: the environment whose own interpreter is asked, else the project's `.venv`."""
    timeout_s: float = 10.0
    source: str = ""
    """The file and line that it comes from; empty for those that are built in."""


class QuietHours(Value):
    """A part of each day, in minutes after local midnight; it may pass midnight."""

    start: int
    end: int
    """The first minute that is not quiet any more."""


class Channel(Value):
    """One way to tell somebody what became of work."""

    kind: str
    """`command` or `url`."""
    target: tuple[str, ...]
    """The words of a command, to be filled in; or one URL."""
    on: tuple[str, ...]
    """Of which states it is told; `final` stands for all that are. A level stands for such a list."""
    source: str
    """The file and line that it comes from."""
    level: str = ""
    """The level that the file gives in place of `on`."""
    remind_s: float = REMIND
    """After how long without an answer a reminder is sent; 0: never."""
    quiet: QuietHours | None = None
    quiet_except: tuple[str, ...] = ()
    """Of what it is told in its quiet hours too."""


class Command(Value):
    """A command that a file gives, to be run by a shell."""

    words: str
    source: str
    """The file and line that it comes from."""


class MqttSettings(Value):
    """A broker, and how it is spoken to."""

    host: str
    port: int
    tls: bool = False
    username: str = ""
    password: str = ""
    """Never from a settings file: it is read where ``password_env``, ``password_file`` or ``password_command`` say."""
    password_env: str = ""
    password_file: str = ""
    password_command: str = ""
    """A shell command that prints it."""
    ca: str = ""
    """A file with the authorities that are believed; empty for the system's."""
    cert: str = ""
    key: str = ""
    prefix: str = "midwatch"
    """How every topic begins."""
    client_id: str = ""
    """How our name at the broker begins."""
    accept_unsigned: tuple[str, ...] = ()
    """Other hosts whose messages are written into their rows, though nothing proves that they sent them."""
    source: str = ""
    """The file and line that it comes from; the variable, where that says it."""


class Settings(Value):
    """The files' settings, ours where they are silent."""

    policy: dict[str, object] = {}  # noqa: RUF012  # a named tuple's default; nobody writes to it
    """Given fields of Policy in its own units: name, stale_s, grace_s, timeout_s, heartbeat_s, on_stuck, progress."""
    retries: int = 0
    backoff_s: float = 30.0
    breaker_threshold: int = 3
    breaker_cooldown_s: float = 900.0
    preflight: bool = False
    """Whether `run` looks before it starts, without being told to."""
    checks: tuple[PreflightCheck, ...] = ()
    channels: tuple[Channel, ...] = ()
    """Who is told of what; those of both files count, each for what its own file says."""
    parse: Command | None = None
    """What asks a model to read a log; None: ours."""
    mqtt: MqttSettings | None = None
    """Where ends are published, and heard of. A table in the project's file stands for the whole of the user's."""
    status_protocol: bool = True
    """Whether agents are asked for what they report of themselves (OSC 7501)."""
    naming: tuple[str, ...] = NAMING
    """Names of tmux sessions that belong into the list of sessions, with * and ?."""
    keep_s: float = 30 * 86400.0
    """How long the list keeps what has ended without saying so."""
    tracker: str = ""
    """Of TRACKERS; empty: what is found in the project."""
    tracker_path: str = ""
    """Where it is: a file or directory below the project; of a Hermes board its name."""
    watchdog_prompt: Command | None = None
    """A file with somebody's own words for the controller; None: ours."""
    watchdog_ceiling: int = 8
    """Messages to the controller within an hour."""
    ensure_quality: bool = False
    """Whether the watchdog itself makes companions that are missing."""
    handoff: Command | None = None
    """What a worker is told to run when it is done; None: `midwatch handoff`."""
    send_via: str = "tmux"
    """Of WAYS."""
    program_status: str = "auto"
    """Of PROGRAM_STATUS."""
    sources: dict[str, str] = {}  # noqa: RUF012  # as above
    """File and line of the plain settings that make us act: ``send_via``, ``ensure_quality``, ``tracker_path``."""
    files: tuple[str, ...] = ()
    """The files that were read, the user's own first."""
