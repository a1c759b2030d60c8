"""What kind of answer a question wants, and whether a text is one."""

from __future__ import annotations

import re

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
# A coarse read may lose one of two dots: eight digits and the other.
_MISREAD = r"(?<!\d)(?=(?:\d[./-]?){8}(?![\d./-]))\d+[./-]\d+"
_DATE = rf"\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{2,4}}|{_MISREAD}|\d{{1,2}}\s*(?:{_MONTHS})|(?:{_MONTHS})[a-z]*\.?\s*\d"
_MONEY = r"\d+[.,]\d\d(?!\d|[.,/-])"
# Words of a question, and what its answer looks like; the first that fits counts.
_KINDS = (
    (r"how (?:heavy|light)|weigh|kilogram|\bkg\b|pounds", r"\d\s*(?:kg|g|lb|t)\b"),
    (r"what (?:hour|time)|how late|clock", r"\b\d{1,2}:\d\d\b"),
    (r"\bwhen\b|which day|what day|\bdate\b|deadline", _DATE),
    (r"how much|cost|price|spend|spent|amount|money\b.*\b(?:paid|pay)|charged|coins|how large", _MONEY),
    (r"\bwho\b|whom|whose|employee|person", r"^[^\d]*[A-Za-z]{2,}[^\d]*\s[^\d]*[A-Za-z]{2,}[^\d]*$"),
    (r"\b(?:call|ring|dial|phone)", r"(?:\d[\s()/-]*){7,}"),
    (r"number|reference|identif", r"\d{4,}"),
    (r"transfer|wire", r"[A-Z]{2}\s?\d{6,}|\d{8,}"),
    (r"cash or|card\b", r"(?i)cash|card|visa|debit|credit|amex|paypal"),
    (r"how many|how old|\bage\b", r"\d"),
    (r"\bwhere\b|which (?:town|city|street|house)", r"[A-Za-z]{3,}"),
)


def answer_pattern(question: str) -> re.Pattern[str] | None:
    """What an answer to ``question`` looks like; None where the question does not say."""
    asked = question.lower()
    for words, answer in _KINDS:
        if re.search(words, asked):
            return re.compile(answer, re.IGNORECASE if answer == _DATE else 0)
    return None
