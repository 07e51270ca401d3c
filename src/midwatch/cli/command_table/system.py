"""Verbs about Midwatch itself and the agents it knows."""

from midwatch.cli.command_table.common_options import DIR, JSON, SERVER

TITLE = "Set up and learn"
VERBS: dict[str, dict[str, object]] = {
    "agents": {
        "says": "list the known agents; test how well their screens are read",
        "takes": "list | classify --agent A [--facts F] SCREEN | test DIR",
        "options": (
            ("--agent", "A", "the agent whose screen it is"),
            ("--facts", "FILE", "facts of its pane, as JSON: title, foreground command, process tree, cursor"),
            ("--json", "", "one JSON line per answer on standard output"),
        ),
        "more": (
            "classify reads one screen (`tmux capture-pane -p`; - is standard input) and prints its turn.\n"
            "test reads a folder of cases (screen.txt, facts.json, expected.json); exit code 1 when one is wrong.\n"
            "Your own AGENT.toml in $XDG_CONFIG_HOME/midwatch/agents stands in place of ours."
        ),
        "examples": (
            "midwatch agents list",
            "tmux capture-pane -p -t %3 | midwatch agents classify --agent claude -",
            "midwatch agents test tests/goldens/agents/screens",
        ),
    },
    "doctor": {
        "says": "check what Midwatch needs, and which agents it was tested with",
        "takes": "[OPTIONS]",
        "options": (DIR, ("--all", "", "look at the agents of all tmux servers"), *SERVER, JSON),
        "more": "Exit code: 1 when something is wrong, as wherever `run` would refuse to start; warnings do not count.",
        "examples": ("midwatch doctor", "midwatch doctor --all --json"),
    },
    "init": {
        "says": "write a commented midwatch.toml, or your first notification channel",
        "takes": "[--notify URL] [OPTIONS]",
        "options": (
            ("--notify", "URL", "write your own config.toml instead, with this service, such as ntfy://TOPIC"),
            ("--dry-run", "", "print the file, and write nothing"),
            ("--json", "", "one JSON line: the file, and what was found in the project"),
        ),
        "more": (
            "Finds the agents that are installed, the command that runs the tests, and who keeps the tasks.\n"
            "Asks nothing, runs nothing, and never changes a file that is there.\n\n"
            "Exit code: 12 then."
        ),
        "examples": ("midwatch init", "midwatch init --dry-run", "midwatch init --notify ntfy://a-long-secret-topic"),
    },
    "hooks": {
        "says": "have agents report each step of a turn to Midwatch, or stop that",
        "takes": "[list | add [AGENT…] | remove [AGENT…]] [OPTIONS]",
        "options": (("--json", "", "one JSON line per agent on standard output"),),
        "more": (
            "add writes an entry for Midwatch into the agent's own settings file (of your user, for all\n"
            "projects). Other entries stay. What was there is kept beside it as FILE.midwatch.bak. An agent\n"
            "that runs must be started again. Without AGENT it is done for each agent that is installed.\n"
            "remove takes out only what add put in. Midwatch also works without hooks, from the agent's state\n"
            "file, transcript and screen.\n\n"
            "Exit code: 1 when a file could not be changed, which is then as it was."
        ),
        "examples": ("midwatch hooks", "midwatch hooks add", "midwatch hooks remove codex"),
    },
    "demo": {
        "says": "watch four jobs end, fail, hang and work in silence (20 s)",
        "takes": "",
        "options": (),
        "examples": ("midwatch demo",),
    },
    "completion": {
        "says": "print the script of completion for a shell",
        "takes": "bash | zsh | fish",
        "options": (),
        "more": (
            'bash: eval "$(midwatch completion bash)" in ~/.bashrc; zsh: eval "$(midwatch completion zsh)"\n'
            "in ~/.zshrc, after compinit; fish: midwatch completion fish | source in ~/.config/fish/config.fish."
        ),
        "examples": ('eval "$(midwatch completion bash)"',),
    },
    "_overview": {"says": "", "takes": "", "options": (), "examples": ()},
    "_complete": {"says": "", "takes": "-- WORD…", "options": (), "examples": ()},
    "_decide": {"says": "", "takes": "NAME", "options": (DIR,), "examples": ()},
}
