"""Verbs that run and watch jobs."""

from dogwatch.cli.verbs.shared import DIR, JSON, SERVER

VERBS: dict[str, dict[str, object]] = {
    "run": {
        "says": "run a command as a job, watched by a shim",
        "takes": "[OPTIONS] -- CMD…",
        "options": (
            ("-d", "", "detach: return at once with the name; the job outlives caller, terminal and shell"),
            ("--name", "N", "name of the job (default: made from the command)"),
            DIR,
            ("--policy", "P", "patient (default) or strict: stale 60s, grace 30s, timeout 30m, stop when stuck"),
            ("--timeout", "T", "end the work after this time (default: never)"),
            ("--stale", "T", "suspect it after this long without any progress (default: 10m)"),
            ("--grace", "T", "call it stuck when the suspicion lasted this long (default: 30s)"),
            ("--on-stuck", "A", "report (default) or stop"),
            ("--heartbeat", "T", "how often the shim shows that it lives (default: 20s)"),
            ("--progress", "S,…", "what counts as progress: output,cpu,io,beat (default), heartbeat"),
            ("--env", "K=V", "set a variable for the work; may be repeated"),
            ("--cwd", "D", "directory to run it in"),
            ("--json", "", "say in JSON what became of it, as the last line"),
        ),
        "more": (
            "T is seconds, or 90s, 15m, 2h.\n"
            "Exit code: the command's; 128 + signal; 124 timed out; 125 refused or stopped by Dogwatch;\n"
            "126 or 127 could not be started."
        ),
        "examples": (
            "dogwatch run -d --name build -- make all",
            "dogwatch run --timeout 20m --on-stuck stop -- pytest -x",
        ),
    },
    "wait": {
        "says": "block until jobs end, or a person must be told; print one line each",
        "takes": "NAME… [OPTIONS]",
        "options": (
            DIR,
            ("--timeout", "T", "give up waiting after this time (exit 13); the job goes on"),
            ("--start", "T", "how long a name may not be there yet (default: not at all)"),
            ("--any", "", "return with the first"),
            ("--until", "STATE", "wait for this state, or `final`: not for stuck, waiting or limited"),
            ("--match", "REGEX", "return when a line of the log matches, also one already written"),
            JSON,
        ),
        "more": (
            "Exit code: 0 completed, 1 failed, 2 usage, 3 crashed, 4 stuck, 5 timeout, 6 incomplete,\n"
            "7 not found, 8 waiting for a person, 9 limited, 10 stopped, 11 abandoned, 12 unknown,\n"
            "13 --timeout ran out. Several names: the first that is not 0."
        ),
        "examples": (
            "dogwatch wait build --json",
            "dogwatch wait server --match 'listening on' --timeout 30s",
            "dogwatch wait lint test docs --any",
        ),
    },
    "ls": {
        "says": "list jobs, or agents in panes, each judged on the spot",
        "takes": "[OPTIONS]",
        "options": (
            DIR,
            ("--all", "", "the jobs of all projects; with --panes the panes of all tmux servers"),
            ("--panes", "", "the coding agents in tmux panes, whoever started them"),
            *SERVER,
            JSON,
        ),
        "examples": ("dogwatch ls", "dogwatch ls --all --json", "dogwatch ls --panes"),
    },
    "why": {
        "says": "show the evidence for and against a verdict",
        "takes": "NAME… [OPTIONS]",
        "options": (DIR, *SERVER, JSON),
        "more": "A name that begins with % is a tmux pane with a coding agent in it.",
        "examples": ("dogwatch why build", "dogwatch why %3", "dogwatch why %0 -L work --json"),
    },
    "logs": {
        "says": "print what a job wrote",
        "takes": "NAME [OPTIONS]",
        "options": (
            DIR,
            ("-f", "", "follow until the job has ended"),
            ("-n", "N", "only the last N lines"),
        ),
        "examples": ("dogwatch logs build -f", "dogwatch logs build -n 50"),
    },
    "stop": {
        "says": "stop jobs with everything below them",
        "takes": "NAME… [OPTIONS]",
        "options": (DIR, JSON),
        "more": "TERM first, KILL after 5 s. A process is signalled only after checking that it is the one meant.",
        "examples": ("dogwatch stop build",),
    },
    "beat": {
        "says": "say from inside a job that it makes progress",
        "takes": "[OPTIONS]",
        "options": (
            ("--note", "TEXT", "what is being done"),
            ("--progress", "0…1", "how much is done"),
            ("--result", "FILE", "leave this file (JSON; - is standard input) as the job's result"),
            DIR,
            ("--name", "N", "the job (default: the one we run in, from the environment)"),
        ),
        "examples": ('dogwatch beat --note "epoch 3" --progress 0.4', "dogwatch beat --result out.json"),
    },
}
