"""Numbers as a person reads them, for tables and reports."""

from __future__ import annotations

from typing import Any


def readable(value: Any) -> str:
    """Integers with thousands separators, other numbers with four digits, anything else as it is."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:,.0f}" if isinstance(value, float) else str(value)
