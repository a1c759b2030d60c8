"""What a check of an allocation found."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Verification:
    """What price and flows prove that no choice gains more than, and statements that hold, may hold, or do not hold."""

    bound: Fraction
    proven: tuple[str, ...]
    unproven: tuple[str, ...]
    refuted: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is refuted."""
        return not self.refuted
