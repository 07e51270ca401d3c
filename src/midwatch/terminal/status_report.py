"""What a program tells its terminal of itself, as bytes: OSC 7501 (Program Status Protocol, revision 0.4) and OSC 9;4.

A report goes in, one escape sequence comes out, within the limits of the protocol: a terminal discards a report that
breaks one of them. Text is cut and made harmless here; names and numbers that are wrong are an error of the caller
(ValueError). The other way, `StatusAnswers` reads what a terminal says to the query.
"""

from __future__ import annotations

from binascii import b2a_base64

STATES = ("idle", "working", "done", "blocked", "error", "clear")
KINDS = ("permission", "question", "auth")
TITLE, MESSAGE, APP = 192, 2048, 32
"""Bytes, of texts before base64."""
SEGMENT, LEVELS, PATH = 32, 8, 128
"""Of an id: bytes of a part, parts, bytes of the whole."""
SEQUENCE = 4096
WHOLE = 100
NAMED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-")

QUERY = b"\x1b]7501;?\x1b\\\x1b[c"
"""Does it know OSC 7501? And what is it: every terminal answers that, so that the lack of the first answer is seen."""
ANSWER = b"\x1b]7501;?"
ESCAPE, BELL, BACKSLASH = 0x1B, 0x07, 0x5C
OSC, CSI = 0x5D, 0x5B
LONGEST = 256
"""Bytes of an answer. What is longer is none."""

BARS = {"idle": 0, "clear": 0, "done": 0, "error": 2, "blocked": 4}
NORMAL, BUSY = 1, 3
SHOWN_WHOLE = (BARS["error"], BARS["blocked"])
"""Bars of a colour, of which nothing would be seen at 0."""


def encode_status(
    state: str, *, path: str = "", kind: str = "", progress: int | None = None, app: str = "", title: str = "",
    msg: str = "",
) -> bytes:  # fmt: skip
    """The OSC 7501 sequence that replaces the record at a path; of a cleared one nothing else is told."""
    _check_fields(state, path, kind, progress, app)
    pairs = [f"state={state}", path and f"id={path}"]
    if state != "clear":
        pairs += [
            kind and f"kind={kind}",
            "" if progress is None else f"progress={progress}",
            app and f"app={app}",
            title and f"title={_encode_text(title, TITLE)}",
            msg and f"msg={_encode_text(msg, MESSAGE)}",
        ]
    return f"\x1b]7501;{':'.join(filter(None, pairs))}\x1b\\".encode("ascii")


def encode_bar(state: str, progress: int | None = None) -> bytes:
    """The OSC 9;4 sequence: a bar in the tab or the task bar. What is over without an error has none."""
    bar = BARS.get(state, BUSY if progress is None else NORMAL)
    if progress is None:
        progress = WHOLE if bar in SHOWN_WHOLE else 0
    return f"\x1b]9;4;{bar};{progress}\x07".encode("ascii")


def _check_fields(state: str, path: str, kind: str, progress: int | None, app: str) -> None:
    parts = path.split("/") if path else []
    if state not in STATES:
        raise ValueError(f"no state: {state!r}")
    if kind and (kind not in KINDS or state != "blocked"):
        raise ValueError(f"{kind!r} is no kind of {state}")
    if progress is not None and (not 0 <= progress <= WHOLE or state not in ("working", "blocked")):
        raise ValueError(f"{progress} is no progress of {state}")
    if len(path) > PATH or len(parts) > LEVELS or not all(_is_name(part, SEGMENT) for part in parts):
        raise ValueError(f"no id: {path!r}")
    if app and not _is_name(app, APP):
        raise ValueError(f"no name of a program: {app!r}")


def _is_name(text: str, longest: int) -> bool:
    return 0 < len(text) <= longest and NAMED.issuperset(text)


def _encode_text(text: str, most: int) -> str:
    """One line without control characters, of so many bytes at most, in base64."""
    data = "".join([c if c.isprintable() else " " for c in text[:most]]).encode()
    if len(data) > most:
        data = data[:most].decode("utf-8", "ignore").encode()
    return b2a_base64(data, newline=False).decode("ascii")


class StatusAnswers:
    """Reads what comes from a terminal after the query, byte by byte: its answers, and between them what was typed.

    ``supported`` is known once the first answer is there. ``over`` is true when the last one is: what comes then
    belongs to others, and must not be read here.
    """

    def __init__(self) -> None:
        self.supported: bool | None = None
        self.over = False
        self.typed = b""
        self._begun = b""

    def feed(self, byte: int) -> None:
        if byte == ESCAPE and not (len(self._begun) > 1 and self._begun[1] == OSC):
            self._give_back()
        self._begun += bytes((byte,))
        if self._begun[0] != ESCAPE or len(self._begun) > LONGEST:
            self._give_back()
        elif len(self._begun) > 1:
            self._judge(byte)

    def finish(self) -> None:
        """Nothing more is read: half an answer may be half a key."""
        self._give_back()

    def _judge(self, byte: int) -> None:
        introducer, length = self._begun[1], len(self._begun)
        if introducer == OSC:
            broken_off = length > 2 and self._begun[-2] == ESCAPE  # noqa: PLR2004  # an escape after the first one
            if byte == BELL or (broken_off and byte == BACKSLASH):
                self._end_of_string()
            elif broken_off:
                self._begun = self._begun[:-2]
                self._give_back()
                self.feed(ESCAPE)
                self.feed(byte)
        elif introducer != CSI:
            self._give_back()
        elif length > 2 and 0x40 <= byte <= 0x7E:  # noqa: PLR2004  # the final byte of a control sequence
            self._end_of_control(byte)

    def _end_of_string(self) -> None:
        if self._begun.startswith(ANSWER):
            self.supported, self._begun = True, b""
        else:
            self._give_back()

    def _end_of_control(self, final: int) -> None:
        if final == ord("c") and self._begun[2:3] == b"?":
            self.supported, self.over, self._begun = bool(self.supported), True, b""
        else:
            self._give_back()

    def _give_back(self) -> None:
        self.typed += self._begun
        self._begun = b""
