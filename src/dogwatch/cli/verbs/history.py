"""Verbs that show what was: events, timelines, recordings."""

from dogwatch.cli.verbs.shared import SERVER

VERBS: dict[str, dict[str, object]] = {
    "record": {
        "says": "write down what is seen of an agent's pane, to be judged again",
        "takes": "%PANE [OPTIONS]",
        "options": (
            ("-o", "FILE", "write to this file, which must be new (default: standard output)"),
            ("--every", "T", "look this often (default: 0.5s)"),
            ("--for", "T", "stop after this time (default: when the pane is gone, or at Ctrl-C)"),
            ("--raw", "", "keep keys and the name of the home directory, which are taken out otherwise"),
            *SERVER,
        ),
        "more": (
            "One JSON line per look: screen, title, processes, transcript, hooks, the agent's own state, as far as\n"
            "they changed. Keys are recognised by their form only: read a recording before you give it away."
        ),
        "examples": ("dogwatch record %3 -o night.jsonl", "dogwatch record %0 -L work --every 2s --for 10m -o t.jsonl"),
    },
}
