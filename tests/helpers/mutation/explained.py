"""The changes of tests/mutants.toml that no test can see, each with the reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from tests.helpers.mutation.changes import ROOT, Mutant


@dataclass(frozen=True)
class Explained:
    """Changes of one line of a file, by their names, that change nothing that hra promises.

    Attributes
    ----------
    file : below the root; line : its words, without indentation; changes : their names; why : the reason.
    """

    file: str
    line: str
    changes: tuple[str, ...]
    why: str

    def has(self, mutant: Mutant) -> bool:
        """Whether it explains a change."""
        return (mutant.file, mutant.words()) == (self.file, self.line) and mutant.name in self.changes


def explained() -> list[Explained]:
    """All of them."""
    found = tomllib.loads((ROOT / "tests/mutants.toml").read_text("utf-8"))["explained"]
    return [Explained(**{**one, "changes": tuple(one["changes"])}) for one in found]
