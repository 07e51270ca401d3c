"""Verbs that show what was: events, timelines, recordings."""

from midwatch.cli.command_table.common_options import DIR, SERVER

TITLE = "Diagnosis and history"
VERBS: dict[str, dict[str, object]] = {
    "show": {
        "says": "show the record, the timeline and the earlier runs of a job",
        "takes": "NAME [OPTIONS]",
        "options": (
            DIR,
            ("--run", "RUN", "this run of it, not the last one"),
            ("-n", "N", "only the last N events"),
            ("--json", "", "one JSON line per run, oldest first: record, verdict and events"),
        ),
        "more": "Exit code 7 when no job of that name, or no such run of it, is known.",
        "examples": ("midwatch show build", "midwatch show night -n 20", "midwatch show build --json"),
    },
    "events": {
        "says": "print what happened to all jobs, in order; follow with --follow",
        "takes": "[NAME…] [OPTIONS]",
        "options": (
            ("--since", "SEQ", "only what came after this number; each event has one"),
            ("--follow", "", "go on with what comes (from now on, unless --since or -n say otherwise) until Ctrl-C"),
            ("-n", "N", "only the last N; with --since the first N after it"),
            (
                "--changes",
                "",
                "only changes of state; with --follow also observe all subjects and record theirs",
            ),
            DIR,
            ("--json", "", "one JSON line per event"),
        ),
        "more": (
            "Numbers only grow, and an event keeps its own. Whoever remembers the last number seen goes on with\n"
            "--since exactly there, however it was ended: nothing is told twice and nothing left out.\n"
            "Subjects are jobs, sessions, agents in panes, rows of the session registry, and their children."
        ),
        "examples": (
            "midwatch events",
            "midwatch events --follow --since 412 --json",
            "midwatch events --follow --changes --json",
            "midwatch events build -n 20",
        ),
    },
    "report": {
        "says": "show what ran, how it spent its time, and what needs you now",
        "takes": "[OPTIONS]",
        "options": (
            ("--since", "WHEN", "begin of the time: 22:00, 8h, 2026-11-19 or 2026-11-19T22:00 (default: 12h)"),
            ("--until", "WHEN", "its end, in the same forms (default: now)"),
            ("--all", "", "the jobs and sessions of all projects"),
            ("--html", "FILE", "write one HTML file with a timeline (- is standard output)"),
            DIR,
            ("--json", "", "one JSON line per job or session on standard output"),
        ),
        "more": (
            "The journal tells what happened. What an agent did in its session is known only while a monitor\n"
            "watched it; all other time of a session is `not observed`, and is never counted as work."
        ),
        "examples": (
            "midwatch report --since 22:00",
            "midwatch report --since 8h --html night.html",
            "midwatch report --since 2026-11-19T22:00 --until 06:00 --all --json",
        ),
    },
    "record": {
        "says": "record what is seen of an agent's pane, to be judged again",
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
        "examples": ("midwatch record %3 -o night.jsonl", "midwatch record %0 -L work --every 2s --for 10m -o t.jsonl"),
    },
    "replay": {
        "says": "judge recorded evidence again, also under another policy",
        "takes": "FILE|NAME [OPTIONS]",
        "options": (
            ("--policy", "P", "as if it had run under this policy: patient or strict"),
            ("--stale", "T", "as if it had been suspected after this long without any progress"),
            ("--grace", "T", "as if it had been called stuck when the suspicion lasted this long"),
            ("--timeout", "T", "as if it had been ended after this time"),
            ("--on-stuck", "A", "as if it had been dealt with like this when stuck: report or stop"),
            ("--progress", "S,…", "as if this had counted as progress: output,cpu,io,beat,heartbeat"),
            DIR,
            ("--json", "", "one JSON line per verdict"),
        ),
        "more": (
            "FILE is a recording (`record`), lines of `events --json` or `show --json`, a spool, or - for standard\n"
            "input. NAME, where there is no such file, is a job: its last run. Each line tells when, what was given\n"
            "and what is said now: = the same, ≠ another, ? the evidence does not tell.\n\n"
            "Exit code: 1 when a verdict is another than the one that was given, and no other policy was asked for;\n"
            "7 no such job; 12 the evidence cannot be read."
        ),
        "examples": (
            "midwatch replay build --policy strict",
            "midwatch events build --json | midwatch replay - --stale 2m",
            "midwatch replay night.jsonl --json",
        ),
    },
}
