"""Verbs about agents in sessions, and about telling people."""

from midwatch.cli.command_table.common_options import DIR, SERVER, VERBATIM

TITLE = "Agents"
VERBS: dict[str, dict[str, object]] = {
    "attach": {
        "says": "show the session of an agent in this terminal",
        "takes": "NAME|=SESSION|%PANE [OPTIONS]",
        "options": (*SERVER, DIR, ("--json", "", "do not attach: print where it is, and the command, in JSON")),
        "more": (
            "In tmux it switches your client to that session (your own one stays: `prefix L` goes back); outside it\n"
            "attaches, and `prefix d` leaves again. Without a terminal it prints the command that does so.\n"
            "=SESSION is a tmux session by its exact name, %PANE one of its panes; NAME is a session of ours. A job\n"
            "has no session: `midwatch logs -f NAME` follows what it prints.\n\n"
            "Exit code: 0; 7 no such session; 12 it is no session, or tmux does not answer."
        ),
        "examples": ("midwatch attach api", "midwatch attach =work -L agents", "midwatch attach %3"),
    },
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
            "as `midwatch monitor` does. restore resumes what ended though nobody wanted it to: after a reboot, all.\n"
            "\nExit code: 0 done; 1 restore could not bring back all; 2 usage; 7 no such session in the list; 12 it\n"
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
