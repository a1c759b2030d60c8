"""How objects are shown: those of large arrays in a line, and tables as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

_LONGEST = 80


class ShortRepr:
    """Base of dataclasses made with ``repr=False``, whose arrays would fill screens: dtype and shape stand for them."""

    def __repr__(self) -> str:
        """The class with its fields."""
        names = (field.name for field in fields(self))  # pyright: ignore[reportArgumentType]: of dataclasses
        return short_repr(self, names)


def short_repr(value: Any, names: Iterable[str]) -> str:
    """The class of ``value`` with its attributes of these ``names``."""
    shown = (f"{name}={_shown(getattr(value, name))}" for name in names)
    return f"{type(value).__name__}({', '.join(shown)})"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"{value.dtype} [{', '.join(map(str, value.shape))}]"
    if isinstance(value, (list, tuple)) and len(value) > 3:
        return f"{len(value)} of {type(value[0]).__name__}"
    if callable(value) and hasattr(value, "__qualname__"):
        return value.__qualname__
    text = repr(value)
    # Addresses say nothing, and are others in every process.
    return text if len(text) <= _LONGEST and "\n" not in text and " at 0x" not in text else type(value).__name__


def html_table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """``rows`` as an HTML table, under a ``head`` if there is one; the first column is aligned to the left."""
    body = "".join(_row(row, "td") for row in rows)
    return f"<table>{_row(head, 'th') if head else ''}{body}</table>"


def _row(cells: Sequence[str], kind: str) -> str:
    sides = ("left" if number == 0 else "right" for number in range(len(cells)))
    styled = (f'<{kind} style="text-align: {side}">{escape(text)}' for side, text in zip(sides, cells, strict=True))
    return f"<tr>{''.join(f'{cell}</{kind}>' for cell in styled)}</tr>"
