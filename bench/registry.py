"""The registry's file: one change written, and rows read, beside a round trip of ruamel, which keeps comments too."""

import importlib.util
import io
from collections.abc import Callable, Iterator
from statistics import median

from bench.stage import Stage
from bench.table import Row, in_ms, informs, percentile, ratio_at_most
from bench.waiting import now
from midwatch.registry.codec import registry_file
from midwatch.registry.model import SetFields
from midwatch.registry.store import RegistryFile

ROWS = 100
ROUNDS = 20
UNCHANGED = 2000
ROW = """\
  - name: project-{n}-creator-claude  # number {n}
    status: running
    pane:
      pid: {pid}
      cmd: claude
      cwd: /home/me/project-{n}
      id: "%{n}"
      start: 8123456
      boot: 3f0c2a52-1111-4000-8000-000000000000
    created_at: "2026-06-20T15:48:27Z"
    claude_session_id_own: b3a70000-0000-4000-8000-{n:012}
    resumable: true
    last_visible_status: working
"""


def rows(stage: Stage) -> Iterator[Row]:
    path = f"{stage.dir('registry')}/midwatch-sessions.yaml"
    text = _text(ROWS)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    yield from _writes(path)
    yield from _reads(path)


def _text(count: int) -> str:
    return "# Sessions.\nsessions:\n" + "".join(ROW.format(n=n, pid=1000 + n) for n in range(count))


def _writes(path: str) -> Iterator[Row]:
    """All of it: lock, read, decide, change, check, backup, two files and a directory on the disk."""
    ours = RegistryFile(path)
    ways: dict[str, Callable[[str], object]] = {
        "ours": lambda word: ours.update(lambda _: [SetFields(ROWS // 2, {"last_visible_status": word})])
    }
    if importlib.util.find_spec("ruamel") is not None:
        ways["ruamel"] = lambda word: _ruamel(path, word)
    taken: dict[str, list[float]] = {"ours": [], "ruamel": []}
    for number in range(ROUNDS):
        for way, write in ways.items():
            began = now()
            write(f"{way} {number}")
            taken[way].append(now() - began)
    anchor = in_ms("ruamel: load, change, dump", taken["ruamel"])
    note = f"{ROUNDS} of each in turn; the slowest {max(taken['ours']) * 1000:.0f} ms; ruamel's is not on the disk"
    yield ratio_at_most(f"one change to {ROWS} rows", median(taken["ours"]) * 1000, "ms", 1 / 5, anchor, note)


def _ruamel(path: str, word: str) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415  # an anchor, which may not be installed

    with open(path, encoding="utf-8") as file:
        library = YAML()
        data = library.load(file)
    data["sessions"][ROWS // 2]["last_visible_status"] = word
    written = io.StringIO()
    library.dump(data, written)
    return written.getvalue()


def _reads(path: str) -> Iterator[Row]:
    for count in (ROWS, 10 * ROWS):
        text = _text(count)
        taken = []
        for _ in range(ROUNDS):
            began = now()
            registry_file.parse_registry(text)
            taken.append(now() - began)
        yield informs(f"reading {count:,} rows that have changed", median(taken) * 1000, "ms")
    file = RegistryFile(path)
    file.read()
    taken = []
    for _ in range(UNCHANGED):
        began = now()
        file.read()
        taken.append(now() - began)
    note = f"{UNCHANGED} times; one in a hundred takes more than {percentile(taken, 99) * 1e6:.0f} µs"
    yield informs("reading rows that have not changed", median(taken) * 1e6, "µs", note=note)
