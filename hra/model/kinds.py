"""Arguments of the kind that is meant: swapped ones are named at once, not deep inside by a missing attribute."""

from __future__ import annotations

from typing import Any

from hra.errors import HraError


def require_kind(name: str, value: Any, kinds: type | tuple[type, ...], fix: str) -> None:
    """Raise HraError unless ``value`` is an instance of one of ``kinds``.

    Parameters
    ----------
    name : of the argument; fix : how to call it right.
    """
    if isinstance(value, kinds):
        return
    wanted = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
    given = f"the class {value.__name__} itself" if isinstance(value, type) else f"a {type(value).__name__}"
    raise HraError(f"{name} must be a {wanted}, got {given}", where=name, fix=fix)
