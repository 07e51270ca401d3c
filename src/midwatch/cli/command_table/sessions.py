"""Verbs about agents in sessions, and about telling people."""

from midwatch.cli.command_table.common_options import DIR, SERVER, VERBATIM

TITLE = "Agents"
VERBS: dict[str, dict[str, object]] = {
    "listen": {
        "says": "read what the program in a pane reports of itself (OSC 7501)",
        "takes": "%PANE [OPTIONS]",
        "options": (
            ("--off", "", "stop reading"),
            *SERVER,
        ),
        "more": (
            "Sessions that `midwatch spawn` started are read without this. The pane is only read (tmux's pipe-pane);\n"
            "where a pipe is in use, it is left as it is and the call is refused. Agents that wait to be asked\n"
            "(Claude Code) report only in sessions that `spawn` started."
        ),
        "examples": ("midwatch listen %3", "midwatch listen %3 -L work --off"),
    },
    "step": {
        "says": "do one step of work in one call: spawn, monitor, verify, clean up",
        "takes": "NAME --agent A (--prompt T | --prompt-file F) [OPTIONS] [-- ARGS…]",
        "options": (
            ("--agent", "A", "claude, codex, opencode, gemini, qwen, agy or program (`midwatch agents` lists them)"),
            ("--prompt", "T", "what it is to do"),
            ("--prompt-file", "F", "the same from a file (- is standard input)"),
            VERBATIM,
            ("--step", "STEP", "create, dev, auto, review or retro: its output is read as one of these"),
            ("--verify", "CHECK", "what tells that the work is there when a turn has ended (see `midwatch verify`)"),
            ("--creates", "GLOB", "exactly one more file of these must be there at the end"),
            ("--rules", "", "read its output by rules; no model is asked"),
            ("--no-parse", "", "do not read its output"),
            ("--deadline", "T", "end it after this long, all attempts together (default 5h)"),
            ("--crash-retries", "N", "how often it may be begun again after a crash or a hang (default 2)"),
            ("--cycles", "N", "how often a review may be gone through (default 5)"),
            ("--keep", "", "leave its last session open, however it ends"),
            ("--preflight", "", "first look whether everything is there that it needs; else start nothing"),
            ("--cwd", "D", "directory to work in (default: this one)"),
            ("--model", "M", "which model, in the agent's own words"),
            ("--socket", "S", "tmux server: a name as for `tmux -L`, or the path of its socket"),
            DIR,
            ("--json", "", "one JSON line on standard output"),
        ),
        "more": (
            "What is next (next_action) is proceed, retry or escalate, with the reason. A crash or a hang is begun\n"
            "again; a review with something left to mend, or not verified, is gone through again; all else that did\n"
            "not go well is for a person. After a limit it is up to you to retry. What the session showed last is\n"
            "saved (output), and the session is always closed, also after Ctrl-C.\n\n"
            "Exit code: that of the last state\n"
            "(0 completed, 1 failed, 3 crashed, 4 stuck, 5 timeout, 6 incomplete, 8 waiting, 9 limited, 10 stopped,\n"
            "12 nothing was started); 6 also if it completed but is not to be gone on with; 130 Ctrl-C."
        ),
        "examples": (
            "midwatch step api --agent claude --prompt 'mend the failing tests' --verify 'make test' --json",
            "midwatch step s5-3 --agent codex --prompt-file dev.md --step dev --verify git:commit-since-start",
            "midwatch step new --agent claude --prompt 'write story 5.4' --step create --creates 'docs/stories/*.md'",
        ),
    },
    "verify": {
        "says": "check that the result of the work is there",
        "takes": "CHECK [OPTIONS]",
        "options": (
            ("--name", "NAME", "of this job or session: in its directory, since it began"),
            ("--since", "T", "what is older than this does not count"),
            ("--cwd", "D", "where to look (default: this directory, or that of NAME)"),
            DIR,
            ("--json", "", "one JSON line on standard output"),
        ),
        "more": (
            "CHECK is a command (exit code 0: it is there), file:GLOB (a file that is not empty, written since\n"
            "then), git:commit-since-start, sprint:KEY=done (sprint-status.yaml of BMAD) or bead:ID=closed\n"
            "(.beads/issues.jsonl). What cannot be asked is not verified.\n\n"
            "Exit code: 0 verified, 6 not."
        ),
        "examples": (
            "midwatch verify 'make test'",
            "midwatch verify file:docs/*.md --since 2h",
            "midwatch verify git:commit-since-start --name api --json",
        ),
    },
    "parse": {
        "says": "read the log of a step, and say what to do next",
        "takes": "FILE --step STEP [--rules]",
        "options": (
            ("--step", "STEP", "what it is the log of: create, dev, auto, review or retro"),
            ("--rules", "", "without a model, by what runners and agents print"),
            ("--json", "", "one JSON line on standard output, as without it"),
        ),
        "more": (
            "Prints status (SUCCESS, FAILURE, AMBIGUOUS), summary, next_action (proceed, retry, escalate), what is\n"
            "asked of this step alone, and `by`: model or rules. The last 150 lines count. The model is asked through\n"
            "$MIDWATCH_PARSE_COMMAND, else `[parse] command` of midwatch.toml, else `claude -p --model haiku`;\n"
            "its answer is checked, it is asked twice at most, for 2 minutes each.\n\n"
            "Exit code: 0 it was read, whatever is next; 6 the model could not tell (escalate, with the reason);\n"
            "2 usage; 12 no such file, an empty one, or a command that is not trusted."
        ),
        "examples": (
            "midwatch parse /tmp/dev.log --step dev | jq -r .next_action",
            "midwatch parse review.log --step review --rules",
        ),
    },
    "resume": {
        "says": "start the agent of a session again, with its conversation",
        "takes": "NAME [OPTIONS]",
        "options": (
            ("--prompt", "T", "what to say to it then"),
            ("--prompt-file", "F", "the same from a file (- is standard input)"),
            VERBATIM,
            DIR,
            ("--json", "", "one JSON line on standard output"),
        ),
        "more": (
            "In its pane if that is still there, else in a new one. What is left of it is ended first. An agent that\n"
            "is suspended is not started a second time: it is woken. Refused while it runs, or while anybody else has\n"
            "its conversation open."
        ),
        "examples": ("midwatch resume api", "midwatch resume api --prompt 'the disk is free again; go on'"),
    },
    "send": {
        "says": "type a prompt to an agent, and confirm that it arrived",
        "takes": "TARGET [TEXT] [OPTIONS] | --again ID [TARGET] | --undelivered | --drop ID",
        "options": (
            ("--file", "F", "take the text from a file (- is standard input); it is then not visible in `ps`"),
            VERBATIM,
            ("--task", "ID", "append how to report on this task and hand it over (see `midwatch handoff`)"),
            ("--wait", "T", "wait this long for what passes by itself: a turn, a start, a person who types"),
            ("--via", "WAY", "tmux (default), or ntm: have `ntm --robot-send` type it"),
            ("--undelivered", "", "list what did not arrive"),
            ("--again", "ID", "try once more to send what did not arrive, to the same pane or to TARGET"),
            ("--drop", "ID", "forget what did not arrive"),
            *SERVER,
            DIR,
            ("--json", "", "one JSON line on standard output: what became of it, and how that is known"),
        ),
        "more": (
            "TARGET is a pane (%3), a tmux session with one agent in it (=work), or the name of a session of ours.\n\n"
            "TEXT is one word to the shell: put it in quotes; else give --file.\n"
            "Nothing is typed unless the agent is at its prompt and its box is empty: not while it works, not into\n"
            "a dialog, not within 30 s of a person's last key in that pane. Control characters are taken out, tabs\n"
            "become blanks; what begins with ! is refused, because agents run it as a command. What no reader sees\n"
            "(marks of direction, tags, characters without width but ZWJ and ZWNJ) is dropped, unless --verbatim.\n"
            "Delivered means that the agent's transcript, hook or state file has told so. What it does not take is\n"
            "taken out of its box again. What was typed or waited for in vain is kept, and shown by --undelivered, by\n"
            "`why` and by `ls --panes`, until it arrives.\n\n"
            "Exit code: 0 delivered; 1 typed, but not taken; 6 gone, but\n"
            "nothing proves that it arrived; 7 no such agent; 8 it waits for a person; 9 it hit a limit; 12 nothing\n"
            "was typed for another reason; 130 Ctrl-C. docs/guides/send.md tells what to do then."
        ),
        "examples": (
            "midwatch send %3 'go on with the next step'",
            "midwatch send =work --file prompt.md --json",
            "git diff | midwatch send review --file - --wait 10m",
            "midwatch send --again 3f2a",
        ),
    },
    "session": {
        "says": "create, resume, stop and restore sessions of the registry",
        "takes": "create NAME | resume NAME | stop NAME | status [NAME] | list | delegate NAME | restore",
        "options": (
            ("--agent", "A", "create: which: claude, codex, opencode, gemini, qwen, agy"),
            ("--cwd", "D", "create: directory to work in (default: this one)"),
            ("--model", "M", "create: which model, in the agent's own words"),
            ("--prompt", "T", "create, resume, delegate: what it is to do"),
            ("--prompt-file", "F", "the same from a file (- is standard input)"),
            VERBATIM,
            ("--verify", "CHECK", "create, delegate: what tells that the work is there (see `midwatch verify`)"),
            ("--timeout", "T", "delegate: give up after this long (default 5h); the session is left as it is"),
            ("--capture-id", "", "stop: note its conversation's id first; without one nothing is stopped"),
            ("--reason", "TEXT", "stop: why, for its row"),
            ("--graceful", "", "stop: let the agent leave by itself first, and end what is left"),
            ("--purge-conversation", "", "stop: remove its transcript and its id, after you have typed its name"),
            ("--yes", "", "with --purge-conversation: do not ask"),
            ("--dry-run", "", "restore: show what would be resumed, and with which command"),
            ("--registry", "F", "the list (default: .hermes/agent-sessions.yaml or midwatch-sessions.yaml above here)"),
            ("--socket", "S", "tmux server of rows that name none: a name as for `tmux -L`, or a path"),
            DIR,
            ("--json", "", "one JSON line per session on standard output"),
        ),
        "more": (
            "create spawns an agent and puts it into the list, which is made if there is none; what follows -- is for\n"
            "the agent. resume brings one back with exactly the conversation that its row names, also one that\n"
            "Midwatch has not spawned; one that goes on is noted as running. stop marks the row first, then ends\n"
            "session and pane; what has ended already is no error. list shows the rows, status also where list and\n"
            "world differ (DRIFT). delegate gives a session that runs a task, waits for its turn, verifies, and exits\n"
            "as `midwatch monitor` does. restore resumes what ended though nobody wanted it to: after a reboot, all.\n\n"
            "Exit code: 0 done; 1 restore could not bring back all; 2 usage; 7 no such session in the list; 12 it\n"
            "could not be done or seen; of create those of `midwatch spawn`. docs/guides/session.md tells all."
        ),
        "examples": (
            "midwatch session create lab-creator-claude --agent claude --prompt-file task.md",
            "midwatch session stop lab-creator-claude --capture-id --reason 'end of the day'",
            "midwatch session delegate api --prompt 'mend the tests' --verify 'make test' --timeout 2h --json",
            "midwatch session restore --dry-run",
        ),
    },
    "notify": {
        "says": "show and test the channels of notifications",
        "takes": "[OPTIONS]",
        "options": (
            ("--test", "TEXT", "say this through every channel now, and tell what became of it"),
            ("--pending", "", "try now what could not be delivered yet, and show what is left or waits for its time"),
            DIR,
            ("--json", "", "one JSON line per channel, or per notice, on standard output"),
        ),
        "more": (
            "Channels stand under [notify] in midwatch.toml (which needs `midwatch trust`) or in your own\n"
            "config.toml: `urls` for services that Apprise knows, `command` for a program, `level` for\n"
            "what is sent (needs-you, ended, all), `quiet` for quiet hours, `remind` for reminders.\n"
            "docs/guides/notifications.md tells all.\n\n"
            "Exit code: 1 when a channel cannot be used, a test did not arrive, or something is still undelivered."
        ),
        "examples": ("midwatch notify", 'midwatch notify --test "is anybody there?"', "midwatch notify --pending"),
    },
    "_deliver": {
        "says": "",
        "takes": "[NAME]",
        "examples": (),
        "options": (DIR, ("--run", "RUN", ""), ("--report", "FILE", "")),
    },
}
