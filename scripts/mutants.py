#!/usr/bin/env python
"""Change one operator, number, condition or statement at a time, and see whether a test fails; prints a Markdown table.

Run ``python scripts/mutants.py [--rooms solver,pool] [--mutants 300] [--seconds S] [--docs docs/promises.md]``
(`make mutants`). Each room's tests are collected once and each runs once, to see which lines it runs; a change is put
into a forked process, judged by the tests that run its line, then those that run its function, the quickest first,
until one fails, and lies on no disk. Kernels run without Numba's compiler, so that a change takes no compilation; tests
that take longer than five processor seconds so judge nothing. Killed is what fails a test, ends the process, or takes
more than thrice as long. Survivors are printed with their lines; those that change nothing hra promises stand in
tests/mutants.toml with the reason, are not judged and do not count. The sample is drawn by ``--seed`` from all changes
of the room. The exit code is 1 if a share is below ``--least``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.helpers.mutation.changes import Mutant, mutants  # noqa: E402
from tests.helpers.mutation.explained import explained  # noqa: E402
from tests.helpers.mutation.judging import Session, warm  # noqa: E402
from tests.helpers.mutation.putting import Unchanged  # noqa: E402
from tests.helpers.mutation.rooms import ROOMS  # noqa: E402

BEGIN, END = "<!-- made by scripts/mutants.py -->", "<!-- until here, by scripts/mutants.py -->"
COLUMNS = {
    "room": "room", "all": "changes there are", "judged": "judged", "tests": "tests", "killed": "killed",
    "time": "of these by time", "explained": "explained", "share": "share of the rest", "minutes": "CPU minutes",
}  # fmt: skip


@dataclass
class Judging:
    """Judge a sample of a room's changes, and count what came of them."""

    name: str
    chosen: argparse.Namespace
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    row: dict[str, object] = field(default_factory=dict)

    def loop(self, session: Session) -> None:
        """All of the sample, or as many as there is time for; those that were killed before are not judged again."""
        store = self.folder / f"{self.name}-killed.jsonl"
        killed = dict(map(json.loads, store.read_text().splitlines())) if store.exists() else {}
        begin, every = time.monotonic(), mutants(ROOMS[self.name].sources)
        _tell(f"{self.name}: {len(session.seconds)} of {len(session.items)} tests judge")
        for mutant in Random(self.chosen.seed).sample(every, len(every)):
            late = self.chosen.seconds and time.monotonic() - begin > self.chosen.seconds
            if late or self.counts.total() - self.counts["absent"] == self.chosen.mutants:
                break
            key = f"{mutant.file}:{mutant.number}"
            outcome = killed.get(key) or _outcome(session, mutant)
            self.counts[outcome] += 1
            if outcome in ("test", "time") and key not in killed:
                with store.open("a") as out:
                    out.write(json.dumps([key, outcome]) + "\n")
            if outcome in ("survives", "explained"):
                _tell(f"{self.name}: {outcome} {mutant.file}:{mutant.line} {mutant.name}: {mutant.words()}")
        self._sum(len(every), len(session.seconds))

    def _sum(self, every: int, tests: int) -> None:
        counts, used = self.counts, [resource.getrusage(who).ru_utime for who in (0, resource.RUSAGE_CHILDREN)]
        judged, killed = counts.total() - counts["absent"], counts["test"] + counts["time"]
        self.row |= {"room": self.name, "all": every, "tests": tests, "judged": judged, "killed": killed}
        self.row |= {"time": counts["time"], "explained": counts["explained"], "minutes": round(sum(used) / 60)}
        self.row["share"] = f"{100 * killed / max(judged - counts['explained'], 1):.1f} %"


def _outcome(session: Session, mutant: Mutant) -> str:
    if any(one.has(mutant) for one in explained()):
        return "explained"
    try:
        found = session.judge(mutant)
    except Unchanged:
        return "absent"
    if found == 0:
        return "survives"
    return "time" if found in (None, -signal.SIGPROF, -signal.SIGKILL) else "test"


def _tell(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def main() -> int:
    """Judge the rooms one after another, each in a process of its own; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", default=",".join(ROOMS), help="only these, separated by commas")
    parser.add_argument("--mutants", type=int, default=300, help="of each room")
    parser.add_argument("--seconds", type=int, default=0, help="at most, of each room; 0 for no limit")
    parser.add_argument("--least", type=float, default=85, help="percent that have to be killed")
    parser.add_argument(
        "--seen", type=Path, help="folder that keeps what tests run and what they killed, of these sources"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    warm()
    with tempfile.TemporaryDirectory() as folder:
        rows = [_row(name, chosen, chosen.seen or Path(folder)) for name in chosen.rooms.split(",")]
    lines = [f"| {' | '.join(COLUMNS.values())} |", "| -- |" + " --: |" * (len(COLUMNS) - 1)]
    lines += [f"| {' | '.join(str(row[name]) for name in COLUMNS)} |" for row in rows]
    print("\n".join(lines))
    if chosen.docs is not None:
        head, _, rest = chosen.docs.read_text().partition(BEGIN)
        chosen.docs.write_text("\n".join([head + BEGIN, *lines, END]) + rest.partition(END)[2])
    return 1 if any(float(row["share"].removesuffix(" %")) < chosen.least for row in rows) else 0


def _row(name: str, chosen: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Judge one room in a fork: pytest and what it imports serve one session only."""
    out = folder / f"{name}-row.json"
    out.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        judging, room = Judging(name, chosen, folder), ROOMS[name]
        files = sorted({mutant.file for mutant in mutants(room.sources)})
        Session(files, folder / f"{name}-seen.jsonl", judging.loop).run(room.tests)
        out.write_text(json.dumps(judging.row))
        os._exit(0)
    os.waitpid(child, 0)
    if not out.exists() or not (row := json.loads(out.read_text())):
        raise SystemExit(f"{name}: no test was collected")
    return row


if __name__ == "__main__":
    raise SystemExit(main())
