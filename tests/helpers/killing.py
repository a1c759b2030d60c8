"""Kill writers at random moments; ``python -m tests.helpers.killing KILLS ROUNDS`` prints a tally as JSON for each.

A program of its own: it forks, which is safe only where nothing else runs.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.helpers.writers import WRITERS, Writer, endless, leftovers, prepared, state


def forked(work: Callable[[], None]) -> int:
    """The process that does ``work`` and nothing else."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def kills(kind: str, wanted: int, seed: int = 0) -> dict[str, int]:
    """Kill a writer until it died mid-write ``wanted`` times; how often the target was torn or something was left."""
    random, mid, all_kills, torn, left = Random(seed), 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        writer, target, allowed = prepared(kind, Path(folder))
        while mid < wanted and all_kills < 50 * wanted:
            child = forked(endless(writer, target, all_kills % 2))
            _await_write(target)
            time.sleep(0.002 * random.random())
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            all_kills += 1
            # A temporary file that its writer could not take away: the write was under way.
            mid += bool(leftovers(target))
            torn += state(target) not in allowed
            writer.write(target, all_kills % 2)
            torn += state(target) not in allowed - {b""}
            left += bool(leftovers(target))
    return {"kills": all_kills, "mid_write": mid, "torn": torn, "not_swept": left}


def _await_write(target: Path) -> None:
    """Wait until a temporary file is there; much of a writer's time goes into what it writes."""
    until = time.monotonic() + 5
    while not leftovers(target) and time.monotonic() < until:
        pass


def builders(kind: str, rounds: int) -> dict[str, int]:
    """Eight processes that write one target at once, again and again."""
    torn, left = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        writer, target, allowed = prepared(kind, Path(folder))
        for _ in range(rounds):
            for child in [forked(_twice(writer, target, number % 2)) for number in range(8)]:
                os.waitpid(child, 0)
            torn += state(target) not in allowed
            left += bool(leftovers(target))
    return {"rounds": rounds, "torn": torn, "not_swept": left}


def _twice(writer: Writer, target: Path, first: int) -> Callable[[], None]:
    def run() -> None:
        writer.write(target, first)
        writer.write(target, 1 - first)

    return run


def main() -> None:
    """One line for each writer."""
    wanted, rounds = map(int, sys.argv[1:])
    for kind in WRITERS:
        tally = {"writer": kind, "kills": kills(kind, wanted), "builders": builders(kind, rounds)}
        sys.stdout.write(json.dumps(tally) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
