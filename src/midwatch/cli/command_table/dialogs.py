"""Verbs about the dialogs of agents."""

from midwatch.cli.command_table.common_options import DIR, SERVER, VERBATIM

TITLE = "Agents"
VERBS: dict[str, dict[str, object]] = {
    "answer": {
        "says": "show the open dialog of an agent, and select one of its choices",
        "takes": "NAME|=SESSION|%PANE [CHOICE] [OPTIONS]",
        "options": (
            ("--dialog", "ID", "only if the open dialog is this one, as `midwatch answer NAME --json` named it"),
            ("--text", "T", "the words of your own that a choice asks for"),
            VERBATIM,
            *SERVER,
            DIR,
            ("--json", "", "one JSON line on standard output"),
        ),
        "more": (
            "Without CHOICE it shows the dialog and types nothing. CHOICE is the number of a choice. On a terminal\n"
            "the dialog is shown and you are asked first, unless --dialog names it. The key is pressed only while\n"
            "exactly that dialog is on the screen: tmux compares its rows in the command that presses the key.\n"
            "Nothing is typed while a person types there, or where the choices cannot be read. The journal keeps who\n"
            "selected what and when. An agent cannot answer its own dialogs. docs/guides/answer.md tells all.\n\n"
            "Exit code: 0 the dialog is shown, or was answered and is gone; 6 it is gone from the screen and other\n"
            "sources still tell of it; 7 no agent is there; 8 the key was pressed and the dialog is still open; 12\n"
            "nothing was selected; 130 you did not confirm."
        ),
        "examples": (
            "midwatch answer api",
            "midwatch answer api 1",
            "midwatch answer api 2 --dialog 5f0c2a81d9e4 --json",
            "midwatch answer =work --text 'call it Gamma'",
        ),
    },
}
