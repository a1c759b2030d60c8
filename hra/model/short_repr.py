"""Objects of large arrays in a line: what is in them, not what they hold."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

_LONGEST = 80


class ShortRepr:
    """Base of dataclasses made with ``repr=False``, whose arrays would fill screens: dtype and shape stand for them."""

    def __repr__(self) -> str:
        """The class with its fields."""
        shown = (f"{field.name}={_shown(getattr(self, field.name))}" for field in fields(self))  # pyright: ignore[reportArgumentType]: of dataclasses
        return f"{type(self).__name__}({', '.join(shown)})"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"{value.dtype} [{', '.join(map(str, value.shape))}]"
    if isinstance(value, (list, tuple)) and len(value) > 3:
        return f"{len(value)} of {type(value[0]).__name__}"
    if callable(value) and hasattr(value, "__qualname__"):
        return value.__qualname__
    text = repr(value)
    return text if len(text) <= _LONGEST and "\n" not in text else type(value).__name__
