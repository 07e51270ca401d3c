"""Look for inputs that break a reader, guided by coverage: `python -m tests.fuzz [--seconds N] [TARGET …]`.

Every target runs in a process of its own, which ends at its first finding. Findings are left in build/fuzz/TARGET; move
them to tests/fuzz/corpus/TARGET once the reader is mended. Ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path("build/fuzz")
SLOW = 20
"""Seconds that one input may take."""
LONGEST = 1 << 16
UNITS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        return search(sys.argv[2], int(sys.argv[3]))
    from tests.fuzz.targets import TARGETS  # noqa: PLC0415  # a child imports the readers under its instruments

    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=f"one of {', '.join(TARGETS)}; none means all")
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together (600)")
    asked = parser.parse_args()
    names = asked.target or list(TARGETS)
    if strange := [name for name in names if name not in TARGETS]:
        parser.error(f"there is no target {strange[0]}; choose from {', '.join(TARGETS)}")
    workers = os.cpu_count() or 1
    each = max(2, asked.seconds * workers // len(names))
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(lambda name: run(name, each), names))
    inputs = sum(tried for tried, _ in found)
    broken = [name for name, (_, right) in zip(names, found, strict=True) if not right]
    print(f"{inputs:,} inputs for {len(names)} readers, {each} s each; broken: {', '.join(broken) or 'none'}")
    return 1 if broken else 0


def run(name: str, seconds: int) -> tuple[int, bool]:
    """Fuzz one target in a process of its own: how many inputs, and whether none broke it."""
    command = [sys.executable, "-m", "tests.fuzz", "--child", name, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    told = UNITS.search(done.stderr)
    tried = int(told[1]) if told else 0
    print(f"{name}: {tried:,} inputs{'' if done.returncode == 0 else ', BROKEN'}", flush=True)
    if done.returncode:
        said = [
            line for line in (done.stdout + done.stderr).splitlines() if not line.startswith(("INFO", "#", "stat::"))
        ]
        print("  " + "\n  ".join(said[-25:]), flush=True)
    return tried, done.returncode == 0


def search(name: str, seconds: int) -> int:
    import atheris  # noqa: PLC0415  # only `make fuzz` installs it

    with atheris.instrument_imports(include=["midwatch"]):
        from tests.fuzz.targets import TARGETS, kept, play  # noqa: PLC0415
    place = BUILD / name
    seeds = place / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for at, data in enumerate([*TARGETS[name].seeds, *kept(name)]):
        (seeds / f"seed-{at}").write_bytes(data[:LONGEST])
    limits = [f"-max_total_time={seconds}", f"-timeout={SLOW}", f"-max_len={LONGEST}", "-rss_limit_mb=4096"]
    atheris.Setup(
        [sys.argv[0], *limits, "-print_final_stats=1", f"-artifact_prefix={place}/", str(seeds)],
        lambda data: play(name, data),
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
