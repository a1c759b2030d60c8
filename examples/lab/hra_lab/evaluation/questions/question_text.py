"""The text of the page about questions."""

from __future__ import annotations

from hra_lab.templates import template

PAGE = template(__package__, "question_text.page.txt")
"""Placeholders are filled in by `hra_lab.evaluation.questions.question_page.render`."""
