"""Verbs that start agents in sessions, and watch them."""

from midwatch.cli.command_table.common_options import DIR, SERVER, VERBATIM

WATCHING = (
    ("--resume", "N", "with --watch: resume it after a crash or a hang, N times (default 3)"),
    ("--on-limit", "WHAT", "with --watch: wait (default) for the end of a limit and go on, or report"),
    ("--continues", "N", "with --watch: have it go on after a limit N times at most (default 10)"),
    ("--deadline", "T", "with --watch: give up after this long (default: never)"),
    ("--stale", "T", "suspected after this long without progress (default 10m)"),
    ("--grace", "T", "stuck when a suspicion has lasted this long (default 30s)"),
)
TITLE = "Agents"
VERBS: dict[str, dict[str, object]] = {
    "spawn": {
        "says": "start a coding agent in its own tmux session, with a prompt",
        "takes": "NAME --agent A [OPTIONS] [-- ARGS…]",
        "options": (
            ("--agent", "A", "claude, codex, opencode, gemini, qwen, agy or program (`midwatch agents` lists them)"),
            ("--cwd", "D", "directory to work in (default: this one)"),
            ("--prompt", "T", "what it is to do; given once it is at its prompt, and seen to have arrived"),
            ("--prompt-file", "F", "the same from a file (- is standard input)"),
            VERBATIM,
            ("--model", "M", "which model, in the agent's own words"),
            ("--verify", "CHECK", "what tells that the work is there when a turn has ended (see `midwatch verify`)"),
            ("--socket", "S", "tmux server: a name as for `tmux -L`, or the path of its socket"),
            ("--no-status-protocol", "", "do not ask the agent to report its state (OSC 7501)"),
            ("--register", "", "write a row into the session registry, as `midwatch session create` does"),
            ("--headless", "", "without tmux: its non-interactive mode as a job, events in the log as they come"),
            ("--watch", "", "leave a monitor behind, as the job NAME.monitor, that watches to the end of the work"),
            *WATCHING,
            DIR,
            ("--json", "", "one JSON line on standard output"),
        ),
        "more": (
            "The agent runs under the shim: its pid, exit code and end are known, whatever becomes of tmux. What it\n"
            "shows is in `midwatch logs NAME`, `tmux attach -t =NAME` shows it as it is, and the pane stays when it\n"
            "has ended. With --prompt-file the prompt stands on no command line. ARGS go to the agent as they are.\n\n"
            "Exit code: 0 started, and the prompt (if any) has arrived; 6 the prompt was sent but nothing proves it;\n"
            "7 it ended before its prompt; 8 a dialog is in the way of the prompt; 125 nothing was started;\n"
            "127 there is no such program; 130 Ctrl-C before the prompt: it runs without.\n\n"
            "With --agent program, ARGS are the command of any other program. It is judged by what it reports of\n"
            "itself (OSC 7501), else as a job."
        ),
        "examples": (
            "midwatch spawn api --agent claude --prompt 'mend the failing tests'",
            "midwatch spawn api --agent claude --prompt-file task.md --verify 'make test' --watch",
            "midwatch spawn docs --agent codex --cwd ../docs --prompt-file task.md --json",
            "midwatch spawn night --agent claude --headless --prompt-file task.md -- --max-turns 50",
        ),
    },
    "monitor": {
        "says": "watch a session until its turn ends; resume it if told to",
        "takes": "NAME|=SESSION|%PANE [OPTIONS]",
        "options": (
            ("-d", "", "leave the monitor behind as a job (NAME.monitor), which watches to the end of the work"),
            (
                "--until",
                "WHAT",
                "outcome (default): return at whatever there is to be said; final: report that, and watch on",
            ),
            ("--deadline", "T", "give up after this long (default never): `abandoned`; the session is left as it is"),
            ("--stale", "T", "suspected after this long without progress (default 10m)"),
            ("--grace", "T", "stuck when a suspicion has lasted this long (default 30s)"),
            (
                "--resume",
                "N",
                "after a crash or a hang: end what is left, resume its conversation, N times (default 0)",
            ),
            ("--verify", "CHECK", "what tells that the work is there; without, what `spawn` was given"),
            (
                "--clock",
                "WHAT",
                "final: while a clock in its status line goes on, never stuck; life (default): no such rule",
            ),
            ("--on-limit", "WHAT", "report (default), or wait for the printed end of the limit and go on"),
            ("--continues", "N", "with --on-limit wait: have it go on after a limit N times at most (default 10)"),
            ("--cleanup", "", "at a final state close the capture and kill exactly that session"),
            ("--exit-zero", "", "exit with 0 whenever the watch came to its end, as the jobs of -d do"),
            (
                "--task-dir",
                "D",
                "a task directory (pid, output.log, manifest.json, done …) of SESSION, by its own rules",
            ),
            ("--wrapper", "F", "with --task-dir: the script to run again, if it was not seen at work"),
            *SERVER,
            DIR,
            ("--json", "", "one JSON line on standard output"),
        ),
        "more": (
            "Returns on final states, and on stuck, waiting and limited, though the session goes on. A turn that has\n"
            "ended is `completed` (nothing to verify against), one that failed `failed`, one that was interrupted\n"
            "`waiting`. Frozen is told after 90 s in which nothing on the screen moves that did move; stalled after\n"
            "--stale. Ending the monitor never ends the session. Of several monitors of one session one acts.\n"
            "An agent that others started (=SESSION, %PANE) is watched. With --resume it is resumed after a crash,\n"
            "in its own shell, if that is at rest; a hang is never ended there.\n"
            "With --until final, what waits for a person, is limited or hangs is told (notices, standard error), and\n"
            "the watch goes on. It ends when the work is completed (the turn has ended, and --verify holds), failed,\n"
            "crashed with no resume left, or was stopped. -d does that in a job; for a session of ours with\n"
            "--on-limit wait --resume 3, unless told otherwise. That job is `completed` when the watch came to its\n"
            "end; its log and `wait NAME.monitor` tell what became of the session. After a reboot,\n"
            "`midwatch session restore` brings back the session and the job.\n\n"
            "Exit code: 0 completed, 1 failed, 3 crashed, 4 stuck, 6 incomplete, 7 not found, 8 waiting, 9 limited,\n"
            "10 stopped, 11 abandoned, 12 unknown."
        ),
        "examples": (
            "midwatch monitor api --resume 2 --json",
            "midwatch monitor -d api",
            "midwatch monitor =work -L agents --deadline 8h",
            "midwatch monitor claude-fix --task-dir /tmp/tmp.Xy12 --cleanup",
        ),
    },
    "limit": {
        "says": "say what happens when a session's limit ends, or cancel that",
        "takes": "NAME [--cancel | --continue]",
        "options": (
            ("--cancel", "", "its monitor reports limits from now on, and has the session continue after none"),
            ("--continue", "", "take that back"),
            DIR,
            ("--json", "", "one JSON line on standard output"),
        ),
        "more": (
            "A monitor with --on-limit wait (such as those of `spawn --watch` and `monitor -d`) tells the agent to go\n"
            "on when its limit is over, 10 times at most (--continues). `ls` shows when: `continues 03:10`.\n"
            "An agent that continues by itself is left to do so; this verb cannot stop that, `midwatch stop` can.\n\n"
            "Exit code: 0; 7 there is no such session; 12 it is none."
        ),
        "examples": ("midwatch limit api", "midwatch limit api --cancel"),
    },
}
