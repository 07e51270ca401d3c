"""Verbs about the list of sessions that people keep."""

TITLE = "The session registry"
VERBS: dict[str, dict[str, object]] = {
    "reconcile": {
        "says": "correct the session registry by what tmux and the agents show",
        "takes": "[OPTIONS]",
        "options": (
            ("--once", "", "one pass (as without --watch, --subscribe and a card)"),
            ("--emit-diff", "", "print what is new as one JSON object"),
            ("--dry-run", "", "show everything that differs and what is left out, and write nothing"),
            ("--watch", "", "stay; look when a file or a process stirs, else every --interval"),
            ("--interval", "T", "for --watch (default 30s; 60s from five sessions on)"),
            ("--subscribe", "", "stay; look at once when the MQTT broker of [mqtt] tells of a session"),
            ("--timeout", "T", "for what stays: end after this long (default 0: never)"),
            ("--idle-timeout", "T", "end after this long without news (default 600 with --subscribe; 0: never)"),
            ("--registry", "F", "the list (default: .hermes/agent-sessions.yaml or midwatch-sessions.yaml above here)"),
            ("--socket", "S", "tmux server of rows that name none: a name as for `tmux -L`, or a path"),
            ("--prune", "", "take out rows that ended longer ago than `keep` of [registry] (30 days)"),
            ("--kanban-task", "ID", "keep a Hermes card: comments, heartbeat, `stop` (default: $HERMES_KANBAN_TASK)"),
            ("--kanban-new", "", "the same with a new card"),
            ("--json", "", "the same as --emit-diff"),
        ),
        "more": (
            "A: running in the list, but tmux has no such session: reported at once, and its row marked terminated\n"
            "5 s after tmux lost it, unless the row changes meanwhile. B: a session named like ours that is not in\n"
            "the list: registered if its pane's directory is in the workspace; --dry-run shows those left out. C: the\n"
            "id of its conversation has appeared: noted. D: the file of its conversation is gone: told only. Besides:\n"
            "duplicate, moved, exited, alive, elsewhere, shared, other, old (docs/guides/reconcile.md). Each is told\n"
            "once until it changes. Nothing is ended while a server cannot be asked or a process lives, and no\n"
            "session is started, stopped or typed to.\n\n"
            "Exit code: 0, with or without drifts; 12 when tmux or the list\n"
            "could not be read; 2 usage; 130 Ctrl-C."
        ),
        "examples": (
            "midwatch reconcile --dry-run",
            "midwatch reconcile --once --emit-diff | jq .drifts",
            "midwatch reconcile --subscribe --idle-timeout 300 --timeout 3600",
        ),
    },
}
