"""How often functions were compiled."""

from __future__ import annotations

from typing import Any


def kinds_compiled(*functions: Any) -> list[int]:
    """The kinds of arguments that each is compiled for; 1 where NUMBA_DISABLE_JIT leaves functions as they are."""
    return [len(getattr(each, "signatures", [()])) for each in functions]
