"""Options that several verbs take."""

DIR = ("--dir", "D", "sentinel directory (default: $MIDWATCH_HOME, else this project's)")
SERVER = (
    ("-L", "NAME", "with panes: the tmux server of that name (default: the one we run in, else the default one)"),
    ("-S", "PATH", "with panes: the tmux server at that socket"),
)
JSON = ("--json", "", "one JSON line per job on standard output")
VERBATIM = ("--verbatim", "", "type the text with characters that no reader sees; they are dropped otherwise")
