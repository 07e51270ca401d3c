"""Verbs that do one step of work, check its result and read its log."""

from midwatch.cli.command_table.common_options import DIR, VERBATIM

TITLE = "Steps of work"
VERBS: dict[str, dict[str, object]] = {
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
}
