"""What may be an answer, what speaks for it, and what the ranker makes of that."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.text import candidates as module
from hra.domains.tokens.text.candidates import FEATURES, asks, candidate_features, candidates, kind_of
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.ranker import ranker


def line(text: str | None, x: float, y: float) -> TextLine:
    wide = 10.0 * len(text or "four")
    return TextLine(np.array([[x, y], [x + wide, y], [x + wide, y + 20], [x, y + 20]], float), text)


def best(question: str, lines: list[TextLine]) -> tuple[str, float]:
    found = candidates(lines)
    shares = ranker().probabilities(candidate_features(question, lines, found))
    return found[int(shares.argmax())].text, float(shares.max())


RECEIPT = [
    *(line("Bread", 10, 0), line("3.20", 360, 0), line("Milk", 10, 30), line("8.80", 360, 30)),
    *(line("Subtotal", 10, 70), line("12.00", 350, 70), line("TOTAL", 10, 100), line("12.72", 350, 100)),
    *(line("Cash", 10, 130), line("20.00", 350, 130), line("Change", 10, 160), line("7.28", 360, 160)),
    line("Your total savings 0.00", 10, 200),
]
TABLE = [
    line(text, 180.0 * column, 30.0 * row)
    for row, texts in enumerate((("Engine", "Power", "Weight"), ("Falcon", "81", "140"), ("Heron", "96", "215")))
    for column, text in enumerate(texts)
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [("what is the total?", "12.72"), ("how much change was given?", "7.28"), ("what is the subtotal?", "12.00")],
)
def test_of_several_amounts_the_one_with_the_label_is_most_likely(question, answer):
    assert best(question, RECEIPT)[0] == answer


@pytest.mark.parametrize(
    ("question", "answer"), [("what is the power of Heron?", "96"), ("what is the weight of Falcon?", "140")]
)
def test_a_question_that_names_row_and_column_points_at_the_cell(question, answer):
    assert best(question, TABLE)[0] == answer


@pytest.mark.parametrize(
    ("question", "compared"),
    [
        ("on which page is Reading Long Files?", False),
        ("on which page is Long Files and what they hold?", True),  # a label with other words
        ("on which page is Writing?", True),  # one word may stand in a label of something else
        ("how are large and small files that were opened twice told from reading long files?", True),
    ],
)
def test_meaning_is_compared_unless_a_label_says_most_of_what_is_asked_and_nothing_else(
    question, compared, monkeypatch
):
    asked: list[str] = []

    def same_meaning(text: str, labels: list[str]) -> np.ndarray:
        asked.append(text)
        return np.zeros(len(labels))

    monkeypatch.setattr(module, "same_meaning", same_meaning)
    titles = ["Reading long files", "Writing", "Long files in memory"]
    lines = [part for i, text in enumerate(titles) for part in (line(text, 10, 30 * i), line(str(i + 3), 400, 30 * i))]
    candidate_features(question, lines, candidates(lines))
    assert bool(asked) is compared


def test_a_label_and_its_value_may_overlap_a_little():
    lines = [line("Served by", 0, 0), line("Hugo Tanaka", 82, 0)]
    rows = candidate_features("what is the served by?", lines, candidates(lines))
    assert rows[-1, FEATURES.index("left recall")] == 1


def test_what_is_not_there_is_elsewhere():
    _, there = best("what is the power of Heron?", TABLE)
    _, missing = best("who signed the letter to the landlord?", TABLE)
    assert missing < there / 2


def test_parts_of_a_line_that_look_like_values_are_candidates_and_others_are_not():
    texts = {one.text for one in candidates([line("Printed 25/12/2018 at 18:13, thank you", 0, 0), line(None, 0, 40)])}
    assert {"25/12/2018", "18:13"} <= texts
    assert all(one.line == 0 for one in candidates([line("a", 0, 0), line(None, 0, 40)]))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("12.50", "money"),
        ("25/12/2018", "date"),
        ("18:13", "time"),
        ("6%", "percent"),
        ("81", "number"),
        ("ab", "words"),
    ],
)
def test_kinds_of_values(text, kind):
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    ("question", "said"), [("why?", False), ("what is this?", False), ("what is the total?", True)]
)
def test_a_question_without_a_word_that_means_something_asks_for_nothing(question, said):
    assert asks(question) is said


SUMS = ("is sum", "is larger part", "is smaller part", "is column's sum")


def told_of(lines: list[TextLine]) -> dict[str, set[str]]:
    """The sums that each amount takes part in."""
    found = candidates(lines)
    rows = candidate_features("what is the total?", lines, found)
    columns = {name: FEATURES.index(name) for name in SUMS}
    return {
        one.text: {name for name, column in columns.items() if row[column]}
        for one, row in zip(found, rows, strict=True)
    }


def test_amounts_know_the_sums_that_they_take_part_in():
    tax = [line("0.72", 360, 85)]
    told = told_of([*RECEIPT, *tax])
    assert told["12.72"] == {"is sum", "is column's sum", "is larger part"}  # of subtotal and tax; of what was paid
    assert told["20.00"] == {"is sum"}
    assert told["7.28"] == {"is smaller part"}
    assert told["12.00"] == {"is sum", "is larger part", "is column's sum"}
    assert told["TOTAL"] == told["0.00"] == set()


def test_an_amount_is_no_sum_of_values_in_its_own_line():
    assert told_of([line("3.00 + 4.00 = 7.00", 0, 0)])["7.00"] == set()
    assert told_of([line("3.00", 0, 0), line("4.00", 0, 30), line("7.00", 0, 60)])["7.00"] == {
        "is sum",
        "is column's sum",
    }


def test_sums_of_a_page_full_of_amounts_or_with_a_huge_one_are_left_out():
    full = [line(f"{number}.00", 0, 30 * number) for number in range(1, 150)]
    assert not any(told_of(full).values())
    assert told_of([line("1" + ",000" * 9 + ".00", 0, 0), line("3.00", 0, 30)])["3.00"] == set()


@pytest.mark.parametrize(
    ("read", "meant"),
    [("12.7Z", "12.72"), ("1O5.0O", "105.00"), ("2O/12/2018", "20/12/2018"), ("is.so", "is.so"), ("v1.2S3", "v1.2S3")],
)
def test_letters_that_look_like_digits_are_digits_in_amounts_and_dates(read, meant):
    assert meant in {one.text for one in candidates([line(read, 0, 0)])}


FORM = [
    line(text, 390.0 * (number % 2), 80.0 * (number // 2) + 26 * below)
    for number, pair in enumerate(
        (
            *(("Gross weight", "61.4 kg"), ("Customer", "Hugo Rossi"), ("Place of delivery", "Norwich")),
            *(("Phone", "0245 881023"), ("Bank account", "GB77120938475566"), ("Due date", "2021-06-12")),
        )
    )
    for below, text in enumerate(pair)
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is the gross weight?", "61.4 kg"),
        ("where can money be wired?", "GB77120938475566"),
        ("what is the due date?", "2021-06-12"),
    ],
)
def test_where_values_stand_below_labels_the_next_label_is_none_of_them(question, answer):
    assert best(question, FORM)[0] == answer


def test_what_names_something_and_what_is_a_value_is_told():
    found = candidates(FORM)
    rows = candidate_features("what is the phone?", FORM, found)
    told = {one.text: dict(zip(FEATURES, row, strict=True)) for one, row in zip(found, rows, strict=True)}
    assert told["Phone"]["names"] and told["Phone"]["is fit"] == 1 and told["Phone"]["is about"] == 1
    assert not told["Norwich"]["names"] and not told["Norwich"]["is fit"]
    assert told["2021-06-12"]["left is value"] and not told["2021-06-12"]["above is value"]
    assert told["Due date"]["above is value"] and not told["Due date"]["left is value"]
    marked = [line("Phone:", 10, 0), line("0245 881023", 200, 0)]
    ends = candidate_features("what is the phone?", marked, candidates(marked))[:, FEATURES.index("ends in colon")]
    assert ends.tolist() == [1, 0]


def test_the_part_of_a_line_that_is_a_value_begins_where_its_letters_do():
    even = line("Paid: 12.50", 0, 0)
    said = even.saying("Paid: 12.50", np.array([0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.5, 0.6, 0.7, 0.8, 0.9, 1]))
    spans = [{(round(one.start, 3), one.end) for one in candidates([each])} for each in (even, said)]
    assert spans == [{(0, 1), (0.545, 1)}, {(0, 1), (0.5, 1)}]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Total: 12.50", "12.50"),
        ("Served by: Kim Tanaka", "Kim Tanaka"),
        ("Net sum 33.21", "33.21"),
        ("Printed at:07:16", "07:16"),
        ("Please note the due date: 2023-08-14", "2023-08-14"),
        ("Grand total", None),
        ("VAT 20%", "20%"),
    ],
)
def test_the_value_of_a_line_is_a_candidate(text, value):
    found = [one.text for one in candidates([line(text, 10, 0)])]
    assert set(found) == {text, value or text}
