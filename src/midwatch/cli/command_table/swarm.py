"""Verbs for one agent that leads others: its watchdog, the tasks, the mail between them."""

from midwatch.cli.command_table.common_options import DIR, SERVER

TITLE = "Teams of agents"
VERBS: dict[str, dict[str, object]] = {
    "task": {
        "says": "list, add, start and close the tasks of a project",
        "takes": "[list | ready | show ID | add TITLE | start | block | reopen | close ID | note ID TEXT]",
        "options": (
            ("--status", "S", "list: only these: open, in_progress, blocked, deferred, closed, or all"),
            ("--epic", "ID", "add: the epic that it belongs to"),
            ("--needs", "A,B", "add: tasks that must be closed before it can begin"),
            ("--priority", "N", "add: 0 (the most urgent) to 4 (default 2)"),
            ("--label", "L", "add: a label; may be repeated"),
            ("--type", "T", "add: task (default), bug, feature, epic, chore …"),
            ("--assignee", "W", "start: who is at it; nobody else can start it then"),
            ("--reason", "R", "block, close: why"),
            ("--project-dir", "P", "the project whose tasks are meant (default: the one that we are in)"),
            DIR,
            ("--json", "", "one JSON line per task on standard output"),
        ),
        "more": (
            "Tasks are kept by beads (.beads/), by BMAD (sprint-status.yaml), by a Hermes board, or by us, in\n"
            "midwatch-tasks.jsonl; [tracker] in midwatch.toml says which, else what is there. list, ready and show\n"
            "work with each. We write our own; to beads add, note and close are given through br or bd.\n"
            "`unblock` is another word for reopen. `close` is refused while a report about the task is unread, and\n"
            "for a companion whose quality loops are not recorded. docs/guides/tasks.md tells all."
        ),
        "examples": (
            "midwatch task add 'Parse the header' --epic dw-k3x --priority 1",
            "midwatch task ready --json",
            "midwatch task start dw-8fq --assignee pane2",
            "midwatch task block dw-8fq --reason 'the API key is missing'",
            "midwatch task close dw-8fq --reason 'merged'",
        ),
    },
    "ready": {
        "says": "say whether an agent can take a message, and why not",
        "takes": "TARGET [--recover] | --session S [--any] [OPTIONS]",
        "options": (
            ("--recover", "", "send our own draft, wake a suspended agent, resume one that ended; then look again"),
            ("--session", "S", "all panes of all windows of exactly that tmux session"),
            ("--any", "", "with --session: print one pane that is ready"),
            *SERVER,
            DIR,
            ("--json", "", "one JSON line per pane on standard output"),
        ),
        "more": (
            "TARGET is a pane (%3), a tmux session with one agent in it (=work), or the name of a session of ours.\n"
            "Ready is only an agent that is seen at its prompt, with nothing in its box and nobody in its pane.\n"
            "--recover never touches the pane that you are in, never answers a dialog, and leaves a draft that is not\n"
            "ours as it is. Each step is said on standard error, with why.\n\nExit code: 0 ready (with --session: at\n"
            "least one is); 7 no agent there; 8 it waits for a person; 9 it hit a limit; 12 not ready for another\n"
            "reason. docs/guides/ready.md tells more."
        ),
        "examples": (
            "midwatch ready %3",
            "midwatch ready =work --recover",
            "midwatch ready --session project",
            "midwatch send $(midwatch ready --session project --any) 'take the next task'",
        ),
    },
    "watchdog": {
        "says": "prompt an idle controller agent when there is something to do",
        "takes": "start | stop | status | run --session S [OPTIONS]",
        "options": (
            ("--session", "S", "the tmux session that is watched, by its exact name"),
            ("--project-dir", "D", "the project with the tracker (default: here)"),
            ("--controller-title-regex", "RE", "which pane leads, by its title (default: controller)"),
            ("--epic", "ID", "the work is done when this is closed"),
            ("--beads", "A,B", "the tasks with quality loops (default: no loops, and the tasks of the epic)"),
            ("--interval-seconds", "N", "between ticks (default 420; at least 60)"),
            ("--exit-mode", "M", "epic closed: confirm (default) says so up to ten times and stays; auto ends"),
            ("--log-file", "F", "the log (default: <state>/<session>-watchdog.log, with a link to it in /tmp)"),
            ("--force", "", "start: also if the epic, a bead or the controller's pane does not exist"),
            ("--once", "", "run: one tick"),
            ("--dry-run", "", "run: send nothing; log what would be sent"),
            ("-L", "NAME", "the tmux server's socket name"),
            ("-S", "PATH", "the tmux server's socket path"),
            ("--json", "", "stop, status: one JSON object"),
        ),
        "more": (
            "At each tick the tracker is read (docs/guides/tasks.md), and the panes are looked at all the time. The\n"
            "controller gets a message when a task became ready or blocked, loops are due, a report is unread, a\n"
            "worker came to rest; the same again after 1, 2, 4 … intervals, at most hourly. Never while it works,\n"
            "while a dialog is open, while you are in its pane, or while the last message is unread. The watchdog\n"
            "assigns, claims and closes nothing. What fails is logged and tried again.\n\n"
            "Exit code of status: 0 while\n"
            "it runs, else 7; of run: 0, 130 or 143; 12 when it cannot begin."
        ),
        "examples": (
            "midwatch watchdog start --session project --epic bd-epic --beads bd-a,bd-b",
            "midwatch watchdog status --session project",
            "midwatch watchdog run --session project --once --dry-run",
        ),
    },
    "quality": {
        "says": "have finished tasks reviewed, and record what was found",
        "takes": "[due | ensure | record ID LOOP [TEXT] | close ID] [OPTIONS]",
        "options": (
            ("--beads", "A,B", "with due and ensure: these tasks (default: those in progress or with a companion)"),
            ("--none", "", "with record: the loop found nothing"),
            ("--project-dir", "P", "the project whose tasks are meant (default: the one that we are in)"),
            DIR,
            ("--json", "", "JSON lines on standard output"),
        ),
        "more": (
            "A task has an open companion, titled `Quality loops for <id>`, until it is closed and its companion\n"
            "after it. `ensure` makes those that are missing. ID is a task or its companion, LOOP one of self-review,\n"
            "cross-review, random exploration. A companion is closed once all three are recorded and its task is\n"
            "closed; the label no-quality-loops exempts a task. A TEXT that begins with - comes after `--`.\n"
            "docs/guides/quality-loops.md tells all."
        ),
        "examples": (
            "midwatch quality due --beads bd-1,bd-2",
            "midwatch quality ensure --beads bd-1,bd-2",
            'midwatch quality record bd-1 self-review "the parser drops the last line; mended"',
            "midwatch quality record bd-1 random-exploration --none",
            "midwatch quality close bd-1",
        ),
    },
    "mail": {
        "says": "send and read messages between agents",
        "takes": "[inbox] | send --to W --subject S TEXT | show ID… | ack ID… [OPTIONS]",
        "options": (
            ("--to", "W", "send: whom; inbox: only what is for them"),
            ("--subject", "S", "send: what it is about, in one line"),
            ("--from", "W", "send: who sends it (default: pane<N> of our tmux session, else the job's or user's name)"),
            ("--topic", "T", "send: a word for several messages; inbox: only those"),
            ("--task", "ID", "send: the task that it is about; it cannot be closed while this is unread"),
            ("--thread", "ID", "send: go on with the thread of that message; inbox: only that thread"),
            ("--file", "F", "send: the text from a file (- is standard input)"),
            ("--unread", "", "inbox: only what nobody has read"),
            ("--raw", "", "show: the file as it is, not a quoted text; a terminal obeys what stands there"),
            DIR,
            ("--json", "", "one JSON line per message on standard output"),
        ),
        "more": (
            "One Markdown file per message, below the project's sentinel directory, the same for all its worktrees.\n"
            "`show` prints messages and marks them as read; `ack` marks them as dealt with. The first letters of an\n"
            "id suffice. docs/guides/mail.md tells more."
        ),
        "examples": (
            "midwatch mail inbox --to controller --unread",
            "midwatch mail show k3fw2a",
            "midwatch mail send --to controller --task bd-1 --subject 'a question' 'Which of the two formats?'",
        ),
    },
    "handoff": {
        "says": "hand a task over: a report by mail, a ping to the controller",
        "takes": "--task ID --status TEXT [--report FILE] [OPTIONS]",
        "options": (
            ("--task", "ID", "the task"),
            ("--status", "TEXT", "how it stands, in a few words"),
            ("--report", "F", "the report from a file (- is standard input; default: the status is all)"),
            ("--controller", "TARGET", "whom to ping: %PANE, =SESSION or a name (default: see below)"),
            ("--to", "W", "whose mail it is (default: controller)"),
            ("--wait", "T", "how long the ping waits for the controller's prompt (default: 60s)"),
            *SERVER,
            DIR,
            ("--json", "", "one JSON line on standard output: the message's id, and what became of the ping"),
        ),
        "more": (
            "The controller is the one given, else $MIDWATCH_CONTROLLER, else the one that the watchdog of this tmux\n"
            "session has found, else the only other pane of it that has the word controller in its title.\n"
            "The ping is never typed into a dialog, a turn or a draft. One that could not be delivered is no error:\n"
            "the report is in the mail, and the watchdog tells of it.\n\nExit code: 0 the report is in the mail."
        ),
        "examples": (
            "midwatch handoff --task bd-1 --status done --report report.md",
            "midwatch handoff --task bd-2 --status 'blocked: no database' --controller %1",
        ),
    },
}
