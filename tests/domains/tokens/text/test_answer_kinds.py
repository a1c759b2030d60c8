from __future__ import annotations

import pytest

from hra.domains.tokens.text.answer_kinds import answer_pattern
from hra.domains.tokens.text.glosses import gloss


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("how much did they pay?", "33.21", "2023-08-14"),
        ("when was it?", "14 Aug 2023", "33.21"),
        ("on which day did this happen?", "2023-08-14", "Kim Tanaka"),
        ("who ordered this?", "Kim Tanaka", "0886 432605"),
        ("which number should I ring?", "0886 432605", "33.21"),
        ("how heavy is it?", "2.5 kg", "33.21"),
        ("at what hour was it?", "07:16", "716"),
        ("when was it?", "202408-14", "20240814"),
        ("what is the issued on?", "14 Aug 2023", "33.21"),
    ],
)
def test_a_question_says_what_its_answer_looks_like(question, right, wrong):
    pattern = answer_pattern(question) or answer_pattern(gloss(question) or "")
    assert pattern is not None and pattern.search(right) and not pattern.search(wrong)


def test_most_questions_say_nothing_of_their_answers_look():
    assert answer_pattern("what is the total?") is None
