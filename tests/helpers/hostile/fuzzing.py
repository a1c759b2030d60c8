"""Damaged files by number: the same seed gives the same file, so that every fault can be looked at again."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.helpers.hostile.judging import measured
from tests.helpers.hostile.mutation import mutated
from tests.helpers.hostile.seeds import FILE_KINDS, seeds_of

FAULTS = ("wrong", "untyped", "no fix", "over")


@dataclass
class Tally:
    """How many inputs ended how.

    Attributes
    ----------
    verdicts : counts by verdict; peak : bytes of memory of the greediest input.
    faults : number, verdict and detail of those that ended in a fault.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    peak: int = 0
    faults: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count what another tally counted."""
        self.verdicts += other.verdicts
        self.peak = max(self.peak, other.peak)
        self.faults += other.faults


def damaged(kind: str, seed: int, number: int) -> tuple[bytes, str]:
    """Damaged file ``number`` of a kind, with the suffix of its name."""
    files = seeds_of(kind).files
    rng = np.random.default_rng([seed, FILE_KINDS.index(kind), number])
    content, suffix = files[int(rng.integers(len(files)))]
    other, _ = files[int(rng.integers(len(files)))]
    return mutated(rng, content, other), suffix


def run(kind: str, seed: int, numbers: range) -> Tally:
    """Read damaged files and count what came of them; decoders' own messages are not shown."""
    seeds, tally = seeds_of(kind), Tally()
    beside = sum(len(content) for content in seeds.beside.values())
    with tempfile.TemporaryDirectory() as folder, _quiet():
        for name, content in seeds.beside.items():
            Path(folder, name).write_bytes(content)
        for number in numbers:
            content, suffix = damaged(kind, seed, number)
            path = Path(folder, f"damaged{suffix}")
            path.write_bytes(content)
            outcome, _ = measured(lambda path=path: seeds.run(path), len(content) + beside)
            tally.verdicts[outcome.verdict] += 1
            tally.peak = max(tally.peak, outcome.peak)
            if outcome.verdict in FAULTS:
                tally.faults.append((number, outcome.verdict, outcome.detail))
    return tally


@contextmanager
def _quiet() -> Iterator[None]:
    """libpng and others write to the file descriptor of standard error."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
