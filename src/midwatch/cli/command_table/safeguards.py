"""Verbs that keep a loop from burning a night: checks before work, breakers, trust."""

from midwatch.cli.command_table.common_options import DIR

TITLE = "Before work starts"
VERBS: dict[str, dict[str, object]] = {
    "preflight": {
        "says": "check that environments, services, disk and variables are there",
        "takes": "[OPTIONS]",
        "options": (
            ("--fix", "", "run the configured fixes of what failed, then check again"),
            DIR,
            ("--json", "", "one JSON line per check on standard output"),
        ),
        "more": (
            "Built in: the project's .venv (Python, place, scripts, packages), disk space, tmux. The rest stands in\n"
            "midwatch.toml as [[check]]; what runs something needs `midwatch trust`.\n"
            "docs/guides/preflight.md tells all.\n\n"
            "Exit code: 0 when all pass, 1 when one fails or could not be carried out."
        ),
        "examples": ("midwatch preflight", "midwatch preflight --fix", "midwatch preflight --json"),
    },
    "trust": {
        "says": "let a project's midwatch.toml run its commands",
        "takes": "[PATH] [OPTIONS]",
        "options": (
            ("--list", "", "the files that are trusted, and whether they still are what they were"),
            ("--remove", "", "trust it no longer"),
            ("--yes", "", "do not ask: it has been read"),
            ("--json", "", "one JSON line per command, and one for the file, on standard output"),
        ),
        "more": (
            "Shows every command in the file (checks that run something, fixes) and asks. PATH is this project's\n"
            "midwatch.toml unless another is named. One changed byte, and it must be trusted again.\n"
            "Of a list of sessions (FILE.yaml) it shows the tmux sockets that its rows name, and trusts those."
        ),
        "examples": ("midwatch trust", "midwatch trust --list", "midwatch trust --yes --json"),
    },
    "breaker": {
        "says": "show, open or close the breaker that stops repeated failures",
        "takes": "[status] [KEY…] | reset KEY… | trip KEY… [OPTIONS]",
        "options": (
            ("--reason", "TEXT", "with trip: why, for whoever is refused"),
            DIR,
            ("--json", "", "one JSON line per breaker on standard output"),
        ),
        "more": (
            "`run --breaker KEY` is refused after 3 of failed, crashed, stuck, timeout in a row under KEY. 15 min\n"
            "later one trial is let through: success closes the breaker, failure makes it wait again. Both numbers\n"
            "can be set in midwatch.toml. `trip` opens a breaker until it is `reset`.\n\n"
            "Exit code of status: 0 when a run is let through now, 1 when it is not (any of several)."
        ),
        "examples": (
            "midwatch breaker status",
            "midwatch breaker reset nightly",
            'midwatch breaker trip nightly --reason "the API key has expired"',
        ),
    },
}
