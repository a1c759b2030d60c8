"""The half page before the table of token methods."""

from __future__ import annotations

from hra_lab.templates import text

GUIDE = text(__package__, "guide.guide.txt")
