"""Taking secrets out of text that is shown, sent or kept: keys, passwords, tokens; and of recordings the home's name.

Found is what has the form of a key, and what stands behind a word such as `password=`, `--token` or `Bearer`. Prose
that gives a secret away is not found. Lines of a log are not touched: they are the work's own.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from midwatch.core.pane_model import Observation

# What many places of a text can begin has a limit in its middle, or a text of them takes the square of its length.
KEYS = (
    r"\bsk-[A-Za-z0-9_-]{16,}"  # Anthropic, OpenAI
    r"|\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"  # Stripe
    r"|\bAIza[0-9A-Za-z_-]{30,}|\bya29\.[0-9A-Za-z_-]{20,}"  # Google
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"
    r"|AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}"
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{16,}|dop_v1_[a-f0-9]{32,}"
    r"|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"  # SendGrid
    r"|\b[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"  # Telegram
    r"|AGE-SECRET-KEY-1[A-Z0-9]{20,}"
    r"|eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # JSON web tokens
    # None reaches over the beginning of the next: of many, each would be searched for its end to the end of the text.
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"(?:(?:[\sA-Za-z0-9+/=:,]|-(?!----BEGIN))*?-----END [A-Z ]*PRIVATE KEY-----|[\sA-Za-z0-9+/=]*)"
)
WORD = (
    r"(?:pass(?:word|wd|phrase)|token|secret|credentials?|(?:api|access|account|private|secret|auth)[_-]?key|[_-]pwd)"
)
OPTION = rf"--?(?!no-)(?:[a-z0-9]+[_-])*(?:{WORD}|pass)"
"""A command's option whose value is a secret."""
VALUE = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s'"&]+(?:&(?![\w.-]+=)[^\s'"&]*)*)"""
NAMED = (
    rf"(?<![\w-])({OPTION}[ =]+)({VALUE})"
    rf"|({WORD}[\"']?[ \t]*[=:][ \t]*)({VALUE})"
    r"|(authorization[\"']?[ \t]*[=:][ \t]*[\"']?(?:(?:basic|bearer|digest|token)[ \t]+)?)([^\s'\"]+)"
    r"|(\bbearer[ \t]+)([^\s'\"&]{6,})"
    r"|([a-z][a-z0-9+.-]{0,30}://[^\s/:@'\"]*:)([^\s/@'\"]+)(?=@)|(://)([^\s/:@'\"]{16,})(?=@)"
    r"|(hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/\d+/)([^\s'\"]+)"
    r"|((?<![\w-])(?:-u|--user|--proxy-user)[ =]+['\"]?[^\s:'\"]{1,256}:)([^\s'\"]+)"
    r"|(\bsshpass[ \t]+-p[ \t]*)([^\s]+)"
)
HINTS = (
    "sk-", "k_live_", "k_test_", "aiza", "ya29.", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "glpat", "xox",
    "xapp", "akia", "asia", "hf_", "npm_", "pypi-", "dop_v1", "sg.", ":aa", "eyj", "-----begin", "passw", "passp",
    "-pass", "_pass", "sshpass", "token", "secret", "credential", "_key", "-key", "apikey", "accesskey", "accountkey",
    "privatekey", "authkey", "_pwd", "-pwd", "authorization", "bearer", "://", "discord", "-u ", "-u=", "--user",
    "--proxy-user",
)  # fmt: skip
"""Without one of these in it, a text holds nothing that would be found: most need no pattern at all."""
HIDDEN = "█"

_compiled: list[re.Pattern[str]] = []
"""Made when the first text needs them: they, and the module that makes them, take longer than a call of `ls`."""


def redact(text: str) -> str:
    """The same text; what is hidden keeps its length, so that a screen keeps its shape."""
    low = text.lower()
    if not any([hint in low for hint in HINTS]):  # noqa: C419  # a list is quicker than a generator here
        return text
    if not _compiled:
        import re  # noqa: PLC0415

        _compiled.extend((re.compile(KEYS), re.compile(NAMED, re.IGNORECASE)))
    text = _compiled[0].sub(lambda found: HIDDEN * len(found[0]), text)
    return _compiled[1].sub(_redact_match, text)


def _redact_match(found: re.Match[str]) -> str:
    kept, hidden = [group for group in found.groups() if group is not None]
    quote = hidden[0] if hidden[0] in "'\"" else ""
    return f"{kept}{quote}{HIDDEN * (len(hidden) - 2 * len(quote))}{quote}"


def redact_words(words: Sequence[str]) -> list[str]:
    """A command line: a word behind an option such as `--password` is its value."""
    found: list[str] = []
    for at, word in enumerate(words):
        before = words[at - 1] if at and "=" not in words[at - 1] else ""
        if before.startswith("-") and redact(f"{before} x") != f"{before} x":
            found.append(HIDDEN * len(word))
        elif before in ("-u", "--user", "--proxy-user"):
            found.append(redact(f"{before} {word}")[len(before) + 1 :])
        else:
            found.append(redact(word))
    return found


def redact_value(value: object) -> object:
    """Something of JSON: every text in it."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_value(each) for each in value]
    if isinstance(value, dict):
        return {key: redact_value(each) for key, each in value.items()}
    return value


def redact_record(found: dict[str, object]) -> dict[str, object]:
    """A record as it is shown: its command without secrets, its variables without values."""
    shown = redact_value(found)
    assert isinstance(shown, dict)
    for key in ("command", "options"):
        words = found.get(key)
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            shown[key] = redact_words(words)
    env = found.get("env")
    if isinstance(env, dict):
        shown["env"] = dict.fromkeys(env, "")
    return shown


class Redactor:
    """Hides secrets, and writes home directories as /home/user."""

    def __init__(self, homes: tuple[str, ...]) -> None:
        import re  # noqa: PLC0415

        parts = sorted({home.rstrip("/") for home in homes if len(home.rstrip("/")) > 1}, key=len, reverse=True)
        self.homes = re.compile("|".join(rf"{re.escape(home)}(?![\w.-])" for home in parts)) if parts else None

    def clean(self, text: str) -> str:
        text = redact(text)
        return self.homes.sub("/home/user", text) if self.homes else text

    def clean_sighting(self, seen: Observation) -> Observation:
        """A look without keys, names of homes, and where its tmux server is."""
        clean = self.clean
        pane = seen.pane._replace(title=clean(seen.pane.title), path=clean(seen.pane.path), server=(), tty="")
        tasks = tuple(task._replace(args=tuple(clean(arg) for arg in task.args)) for task in seen.tasks)
        reports = tuple(
            each._replace(words={word: clean(value) for word, value in each.words.items()}, trouble=clean(each.trouble))
            for each in seen.reports
        )
        return seen._replace(pane=pane, rows=tuple(clean(row) for row in seen.rows), tasks=tasks, reports=reports)
