#!/usr/bin/env python
"""Kill every writer in the middle, let eight write one target at once, and print the table.

Run ``python scripts/check_writers.py [--kills 100] [--rounds 50] [--docs docs/promises.md]`` (`make kills`). The
exit code is 1 if a target was torn, or something was left over after the next write.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- made by scripts/check_writers.py -->", "<!-- end of writers -->"
HEAD = """| writer | kills | mid-write | torn | not swept | rounds of eight writers | torn | not swept |
| --- | --: | --: | --: | --: | --: | --: | --: |
"""


def main() -> int:
    """Kill, print, write; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="that land mid-write, for each writer")
    parser.add_argument("--rounds", type=int, default=50, help="of eight writers of one target")
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    command = [sys.executable, "-m", "tests.helpers.killing", str(chosen.kills), str(chosen.rounds)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    tallies = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [[tally["writer"], *tally["kills"].values(), *tally["builders"].values()] for tally in tallies]
    table = HEAD + "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)
    print(table)
    if chosen.docs is not None:
        head, _, rest = chosen.docs.read_text().partition(BEGIN)
        chosen.docs.write_text(f"{head}{BEGIN}\n{table}{END}{rest.partition(END)[2]}")
    return int(any(row[i] for row in rows for i in (3, 4, 6, 7)))


if __name__ == "__main__":
    sys.exit(main())
