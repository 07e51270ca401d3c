"""`midwatch agents`: what is known of each agent, and how well it reads their screens."""

import sys

from midwatch.agents import catalog
from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.core.errors import FormatError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.replay import golden_runner

WORDS = ("list", "classify", "test")


def main(options: Options) -> int:
    word, *names = options.names or ["list"]
    if word not in WORDS:
        raise UsageError(f"agents does {', '.join(WORDS)}, not {word!r}")
    return {"list": _print_agents, "classify": _print_class, "test": _test_screens}[word](options, names)


def _print_agents(options: Options, names: list[str]) -> int:
    wrong = 0
    for agent, path in catalog.definition_paths().items():
        if names and agent not in names:
            continue
        try:
            found = catalog.load(agent)
        except FormatError as error:
            output.print_remark(str(error))
            wrong = 1
            continue
        about = {"agent": agent, "title": found.title, "tested": found.tested, "rules": len(found.rules), "file": path}
        if options.flag("--json"):
            print(dump(about, spaced=True))
        else:
            tested = ", ".join(found.tested) or "nothing"
            print(f"{visible(agent):<12} {visible(found.title):<14} tested on {visible(tested)}   {visible(path)}")
    return wrong


def _print_class(options: Options, names: list[str]) -> int:
    agent = options.text("--agent")
    if agent is None or len(names) != 1:
        raise UsageError("classify needs --agent A and one file with a screen (- is standard input)")
    facts = options.text("--facts")
    found = golden_runner.classify(
        catalog.load(agent), _read(names[0]), _read(facts) if facts else "{}", facts or "--facts"
    )
    if options.flag("--json"):
        told: dict[str, object] = {"turn": found.turn, "detail": found.detail, "rule": found.rule}
        if found.until:
            told["until"] = found.until
        print(dump(told, spaced=True))
    else:
        detail = f" ({found.detail})" if found.detail else ""
        print(f"{found.turn}{detail}{f' until {found.until.line()}' if found.until else ''}, by rule {found.rule}")
        for said in found.against:
            print(f"  against: {said.source} says {said.turn}, by rule {said.rule}")
    return 0


def _test_screens(options: Options, names: list[str]) -> int:
    if len(names) != 1:
        raise UsageError("test needs one folder of cases")
    done = list(golden_runner.judge_screens(names[0]))
    if not done:
        raise UsageError(f"no case below {names[0]}: a case is a folder with screen.txt, facts.json and expected.json")
    for trial in done:
        if options.flag("--json"):
            print(dump({**trial._asdict(), "right": trial.right, "danger": trial.danger}, spaced=True))
        elif not trial.right:
            danger = f"  DANGEROUS: {trial.danger}" if trial.danger else ""
            print(f"{visible(trial.case)}: {visible(trial.truth)} read as {trial.read}, by rule {trial.rule}{danger}")
    wrong = sum(not trial.right for trial in done)
    dangerous = sum(bool(trial.danger) for trial in done)
    print(f"{len(done)} screens, {len(done) - wrong} right, {wrong} wrong, {dangerous} dangerous", file=sys.stderr)
    return 1 if wrong else 0


def _read(path: str) -> str:
    if path == "-":
        text = sys.stdin.read(golden_runner.LARGEST + 1)
    else:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(golden_runner.LARGEST + 1)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {path}: {error}") from error
    if len(text) > golden_runner.LARGEST:
        raise UsageError(f"cannot read {path}: it is larger than {golden_runner.LARGEST >> 20} MB")
    return text
