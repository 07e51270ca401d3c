"""What is asked of tmux by one who types: a look at one pane, and keys behind a guard.

The guard is a comparison that the server itself makes at the moment of typing: the pane, its process and its foreground
command are those that were seen, keys would go to them, the cursor has not moved, nobody has pressed a key in that
session, and the title, in which most agents tell that they work or ask, is the same. What comes between a look and the
keys makes the server refuse.
"""

from __future__ import annotations

from midwatch.core.value import Value

FACTS = (
    "pane_pid", "pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized", "pane_width", "pane_height",
    "alternate_on", "cursor_x", "cursor_y", "session_activity",
)  # fmt: skip
GUARDED = " ".join([f"#{{{name}}}" for name in (*FACTS, "pane_current_command", "pane_title")])
CLIENT = ",".join([f"#{{{name}}}" for name in ("pane_id", "client_activity", "client_control_mode", "client_readonly")])
PANE, KEYBOARD, SCREEN, END = "P", "K", "S", "E"
YES, NO = "Y", "N"


class AttachedClient(Value):
    """Someone who is attached to the server."""

    pane: str
    """The pane that what is typed there goes to."""
    active: int
    """When the last key was pressed there, in whole seconds of the wall clock."""
    control: bool
    """It is a program."""
    readonly: bool


class PaneSnapshot(Value):
    """A pane as it was at one moment."""

    guard: str
    """For the server: whether nothing of all this has changed since."""
    dead: bool
    mode: bool
    """Keys go to tmux: copy mode, a menu, a clock."""
    deaf: bool
    """What is typed there is thrown away."""
    together: bool
    """What is typed there goes to other panes, too."""
    clients: tuple[AttachedClient, ...]
    rows: tuple[str, ...]
    """With their colours."""


def snapshot_command(word: str, pane: str) -> list[str]:
    """Ask for a pane, for everybody who is attached, and for the screen, all of one moment."""
    return [
        *("display-message", "-p", "-t", pane, f"{word}{PANE}{GUARDED}{word}", ";"),
        *("list-clients", "-F", f"{word}{KEYBOARD}{CLIENT}", ";"),
        *("display-message", "-p", f"{word}{SCREEN}", ";", "capture-pane", "-ep", "-t", pane, ";"),
        *("display-message", "-p", f"{word}{END}"),
    ]


def parse_snapshot(data: bytes, word: str) -> PaneSnapshot | None:
    """None where there is no such pane, or not all has come."""
    text = data.decode("utf-8", "replace")
    seen, begun, rest = text.partition(f"{word}{SCREEN}\n")
    rows, end, _ = rest.rpartition(f"\n{word}{END}")
    told = seen.partition(f"{word}{PANE}")[2].partition(word)[0]
    facts = dict(zip(FACTS, told.split(" "), strict=False))
    if not begun or not end or not facts.get("pane_pid"):
        return None
    return PaneSnapshot(
        guard=f"#{{==:{GUARDED},{_escaped(told)}}}", dead=facts["pane_dead"] == "1", mode=facts["pane_in_mode"] != "0",
        deaf=facts["pane_input_off"] == "1", together=facts["pane_synchronized"] == "1",
        clients=tuple([_client(line) for line in seen.split(f"{word}{KEYBOARD}")[1:]]), rows=tuple(rows.split("\n")),
    )  # fmt: skip


def _client(line: str) -> AttachedClient:
    pane, active, control, readonly = line.strip("\n").split(",")
    return AttachedClient(pane, int(active or 0), control == "1", readonly == "1")


def _escaped(text: str) -> str:
    return text.replace("#", "##").replace(",", "#,").replace("}", "#}")


def paste_command(word: str, pane: str, guard: str, buffer: str) -> list[str]:
    """Take a text from standard input and paste it, if the guard lets it; line breaks stay as they are.

    Where an agent has not asked for pastes to be marked, a line feed is Ctrl-J to it, and not Enter.
    """
    typed = f"paste-buffer -prd -b {buffer} -t {pane} ; display-message -p {word}{YES}"
    refused = f"delete-buffer -b {buffer} ; display-message -p {word}{NO}"
    return ["load-buffer", "-b", buffer, "-", ";", "if-shell", "-F", "-t", pane, guard, typed, refused]


def press_command(word: str, pane: str, guard: str, keys: tuple[str, ...]) -> list[str]:
    typed = f"send-keys -t {pane} {' '.join(keys)} ; display-message -p {word}{YES}"
    return ["if-shell", "-F", "-t", pane, guard, typed, f"display-message -p {word}{NO}"]


def was_typed(data: bytes, word: str) -> bool | None:
    """What the server has done; None where it did not say."""
    if f"{word}{YES}".encode() in data:
        return True
    return False if f"{word}{NO}".encode() in data else None


def delete_command(buffer: str) -> list[str]:
    """Forget a text that may not have been pasted."""
    return ["delete-buffer", "-b", buffer]


def line_command(pane: str, pid: int, command: str, buffer: str) -> list[str]:
    """Type a line into a pane's shell and press Enter, if the pane is in no mode and has the same process.

    As text of a buffer, since keys that are typed would be read by tmux's own parser first.
    """
    same = f"#{{==:#{{pane_pid}},{pid}}}"
    return [
        *("set-buffer", "-b", buffer, "--", command, ";"),
        *("if-shell", "-F", "-t", pane, f"#{{&&:{same},#{{==:#{{pane_in_mode}},0}}}}"),
        f"paste-buffer -d -b {buffer} -t {pane} ; send-keys -t {pane} Enter ; display-message -p typed",
        f"delete-buffer -b {buffer} ; display-message -p '#{{pane_in_mode}}'",
    ]
