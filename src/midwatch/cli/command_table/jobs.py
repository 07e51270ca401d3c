"""Verbs that run and watch jobs."""

from midwatch.cli.command_table.common_options import DIR, JSON, SERVER

ENV = ("--env", "K=V", "set a variable for the work; K alone takes ours; may be repeated")

TITLE = "Jobs"
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
            ("--retries", "N", "try again up to N times when it failed, crashed, got stuck or timed out (default: 0)"),
            ("--backoff", "T", "wait this long before the first retry, twice as long before each next (default: 30s)"),
            ("--breaker", "KEY", "refuse to start after three failures in a row under this key; see `breaker`"),
            ("--preflight", "", "refuse to start when a check of `midwatch preflight` fails"),
            ENV,
            ("--cwd", "D", "directory to run it in"),
            ("--json", "", "say in JSON what became of it, as the last line"),
        ),
        "more": (
            "T is seconds, or 90s, 15m, 2h.\n\n"
            "Exit code: the command's; 128 + signal; 124 timed out; 125 refused or stopped by Midwatch;\n"
            "126 or 127 could not be started."
        ),
        "examples": (
            "midwatch run -d --name build -- make all",
            "midwatch run --timeout 20m --on-stuck stop -- pytest -x",
            "midwatch run -d --name night --retries 3 --breaker night --preflight -- ./loop.sh",
        ),
    },
    "wait": {
        "says": "wait for jobs and sessions; print one line each on how they ended",
        "takes": "NAME… [OPTIONS]",
        "options": (
            DIR,
            ("--timeout", "T", "give up waiting after this time (exit 13); the job goes on"),
            ("--start", "T", "how long a name may not be there yet (default: not at all)"),
            ("--any", "", "return with the first"),
            ("--until", "STATE", "a state; final: not stuck, waiting or limited; exited: the end of the process alone"),
            ("--match", "REGEX", "return when a line of the log matches, also one already written"),
            ("--verify", "CHECK", "what tells that the work is there, else it is incomplete (see `midwatch verify`)"),
            ("--policy", "P", "with --dir: patient (default), or strict, which ends a step that is stuck or too slow"),
            ("--work-timeout", "T", "with --policy strict: end a step this long after its start (default: 30m)"),
            ("--stale", "T", "with --dir: suspect a step after this long without any progress (strict: 60s)"),
            ("--grace", "T", "with --dir: call it stuck when the suspicion lasted this long (default: 30s)"),
            ("--progress", "S,…", "with --dir: what counts as progress: output,cpu,io,beat (default), heartbeat"),
            JSON,
        ),
        "more": (
            "Returns on final states, and on stuck, waiting, limited and unknown. For a session it reports the\n"
            "outcome as `midwatch monitor` does, and takes no action: `completed` (or, by its check,\n"
            "`incomplete`) when the turn has ended, `failed` when the turn failed.\n\n"
            "With --dir D --policy strict it ends the wrapper of a step, and everything below it, when the step\n"
            "is stuck or its time is up. Only this option does so; no variable and no settings file can.\n\n"
            "Exit code: 0 completed, 1 failed, 2 usage, 3 crashed, 4 stuck, 5 timeout, 6 incomplete,\n"
            "7 not found, 8 waiting for a person, 9 limited, 10 stopped, 11 abandoned, 12 unknown,\n"
            "13 --timeout ran out. Several names: the first that is not 0."
        ),
        "examples": (
            "midwatch wait build --json",
            "midwatch wait server --match 'listening on' --timeout 30s",
            "midwatch wait lint test docs --any",
            "midwatch wait api --until exited",
            "midwatch wait build --dir /tmp/pipeline --policy strict",
        ),
    },
    "ls": {
        "says": "list jobs and sessions, or agents in panes, with their states",
        "takes": "[NAME…] [OPTIONS]",
        "options": (
            DIR,
            ("--all", "", "the jobs of all projects; with --panes the panes of all tmux servers"),
            ("--panes", "", "the coding agents in tmux panes, whoever started them"),
            ("--children", "", "also attempts of jobs, and sub-agents and shells of agents, each below its parent"),
            ("--watch", "", "stay, and show each change in place until Ctrl-C; with --json a line for each change"),
            *SERVER,
            JSON,
        ),
        "more": (
            "What needs you comes first (waiting, stuck, limited, unknown), then what is at work, then what has\n"
            "ended, newest first. JSON lines are in order of names, and have `ended_at`, `note` and `done` besides.\n\n"
            "Exit code: 0; 7 when a name is not there; with --panes 12 when a tmux server could not be asked, so\n"
            "that panes may be missing."
        ),
        "examples": (
            "midwatch ls",
            "midwatch ls api build",
            "midwatch ls --watch",
            "midwatch ls --panes",
            "midwatch ls --children",
        ),
    },
    "why": {
        "says": "show the evidence for and against a verdict",
        "takes": "NAME… [OPTIONS]",
        "options": (DIR, *SERVER, JSON),
        "more": (
            "A name that begins with % is a tmux pane with a coding agent in it; =SESSION means all agents of that\n"
            "tmux session. For a pane that `reconcile` does not register because of its directory, it says so."
        ),
        "examples": ("midwatch why build", "midwatch why %3", "midwatch why =lab", "midwatch why %0 -L work --json"),
    },
    "logs": {
        "says": "print what a job wrote",
        "takes": "NAME [OPTIONS]",
        "options": (
            DIR,
            ("-f", "", "follow until the job has ended"),
            ("-n", "N", "only the last N lines"),
            ("--raw", "", "every byte as the job wrote it; a terminal obeys what stands there"),
        ),
        "more": (
            "Text, tabs and colours are printed. Other escape sequences are taken out, a carriage return becomes a\n"
            "line break, and what cannot be seen is shown as an escape, also where the output goes to a pipe."
        ),
        "examples": ("midwatch logs build -f", "midwatch logs build -n 50", "midwatch logs build --raw > build.log"),
    },
    "stop": {
        "says": "stop jobs with everything below them",
        "takes": "NAME… [OPTIONS] | --all [OPTIONS]",
        "options": (
            ("--all", "", "every job and session of this directory that Midwatch started; asks first"),
            ("--yes", "", "with --all: do not ask"),
            DIR,
            JSON,
        ),
        "more": (
            "TERM first, KILL after 5 s. A process is signalled only after checking that it is the one meant.\n\n"
            "--all names what it will stop, and asks; without a terminal it needs --yes. What was adopted, the steps\n"
            "of a script, and the job that the call runs in are stopped only by their names."
        ),
        "examples": ("midwatch stop build", "midwatch stop --all", "midwatch stop --all --yes"),
    },
    "orphans": {
        "says": "list what agents and jobs left running; with --stop, end it",
        "takes": "[NAME|PID…] [OPTIONS]",
        "options": (
            ("--stop", "", "end them, after you confirmed it on a terminal; NAME or PID say which"),
            ("--yes", "", "with --stop: do not ask"),
            ("--all", "", "those of every project, not only of this one"),
            DIR,
            ("--json", "", "one JSON line per process on standard output"),
        ),
        "more": (
            "They are found by the variables that `run` and `spawn` export, also after setsid and a double fork,\n"
            "among the processes of this user. NAME is the job or session that they come from; it has ended, or its\n"
            "record is gone. What belongs to a job or session that is alive is never listed.\n"
            "KIND: leftover; server (it listens on a socket); daemon (shared, as the agent's file says); midwatch.\n"
            "--stop without NAME or PID ends leftovers only. TERM, then KILL after 5 s; each process is checked by\n"
            "its pid and start time. This command and what it was called from are never ended.\n\n"
            "Exit code: 0 listed, or all ended; 7 something that was named is no orphan; 12 something could not be\n"
            "ended; 130 you did not confirm."
        ),
        "examples": (
            "midwatch orphans",
            "midwatch orphans --stop",
            "midwatch orphans --stop 4711 --yes",
            "midwatch orphans api --json",
        ),
    },
    "clean": {
        "says": "remove ended jobs and sessions, archived runs and read mail",
        "takes": "[NAME…] [OPTIONS]",
        "options": (
            ("--older", "T", "only what ended longer ago than this, such as 7d (default: all that has ended)"),
            ("--dry-run", "", "show what would be removed, and remove nothing"),
            DIR,
            ("--json", "", "one JSON line per thing: what it is, whether it was removed, why not, bytes"),
        ),
        "more": (
            "With names, those jobs and sessions with their archived runs. Without, all that have ended; also read\n"
            "mail, spools that were taken in, and events older than --older (30 days without it) of runs that are\n"
            "gone. The dead tmux pane of a session goes with it.\n\n"
            "What lives stays, with its archived runs. So does what a monitor watches, whose processes still run,\n"
            "whose notification or prompt was not delivered, whose pane somebody looks at, and a thread of mail\n"
            "with an unread message. What is left is named with the reason.\n\n"
            "Exit code: 0; with names 7 when one is not there, 12 when one stays."
        ),
        "examples": ("midwatch clean", "midwatch clean --older 7d --dry-run", "midwatch clean build api"),
    },
    "retry": {
        "says": "run jobs again as they were",
        "takes": "NAME… [OPTIONS]",
        "options": (ENV, DIR, JSON),
        "more": "Detached, as with `run -d`. One that still runs is refused: stop it first.\n"
        "The values of --env are not kept: give them again.",
        "examples": ("midwatch retry build", "midwatch retry build --env TOKEN=…"),
    },
    "adopt": {
        "says": "watch a process, a pane or a script that Midwatch did not start",
        "takes": "--pid P [OPTIONS] | %PANE [OPTIONS] | --dir D [STEP…] [OPTIONS]",
        "options": (
            ("--pid", "P", "the process; its children count as its work"),
            *SERVER,
            ("--dir", "D", "the directory that the script writes STEP.pid, STEP.status … to, not ours"),
            ("--name", "N", "name of the job (default: program and pid, or the name of the step)"),
            ("--stop", "", "let --timeout and --on-stuck end the work; without it they only end the watch, or report"),
            ("--policy", "P", "patient (default) or strict: stale 60s, grace 30s, timeout 30m"),
            ("--timeout", "T", "give it up as abandoned this long from now; with --stop, end it (default: never)"),
            ("--stale", "T", "suspect it after this long without any progress (default: 10m)"),
            ("--grace", "T", "call it stuck when the suspicion lasted this long (default: 30s)"),
            ("--on-stuck", "A", "report (default) or, with --stop, stop"),
            ("--heartbeat", "T", "how often it is looked at, and its keeper shows that it lives (default: 20s)"),
            ("--progress", "S,…", "what counts as progress: output,cpu,io,beat (default), heartbeat"),
            JSON,
        ),
        "more": (
            "A keeper of its own watches it from now on; `wait`, `ls`, `why`, `logs` and `stop` work as on any job.\n"
            "Without a STEP, all of D that are at work are adopted. Their new files are where those of `run` are.\n"
            "Output counts where it goes to a file. How a process ended is told by the kernel, if it still can\n"
            "(always since Linux 6.15); else its last state is `unknown`. `midwatch stop` ends it, --stop or not."
        ),
        "examples": (
            "midwatch adopt --pid 4711 --name train",
            "midwatch adopt --pid $! --timeout 2h --on-stuck stop --stop",
            "midwatch adopt %3 --name api",
            "midwatch adopt --dir /tmp/pipeline",
        ),
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
        "examples": ('midwatch beat --note "epoch 3" --progress 0.4', "midwatch beat --result out.json"),
    },
}
