from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra_lab.inputs.documents.typeset import Sheet
from tests.helpers.reader_cases import needs_reader, page


@needs_reader
def test_of_a_long_letter_the_first_lines_of_paragraphs_are_read_first():
    sheet = Sheet((1024, 1440), "DejaVuSans.ttf", 24)
    filler = "and please keep this copy of our terms for your own records"
    for number in range(7):
        sheet.text(60, 60 + 180 * number, "Please note the total of all these goods: 83.40" if number == 6 else filler)
        for below in (38, 76):
            sheet.text(60, 60 + 180 * number + below, filler)
    context = tokens.PyramidSampling(tokens.PhraseRelevance(read=True)).context(sheet.pixels(), "what is the total?")
    y, x = np.unravel_index(int(context.relevance.argmax()), context.relevance.shape)
    assert abs(16 * y - (60 + 180 * 6)) < 40 and 16 * x > 400
    assert context.counts["pixels of width read"] <= 9000


@needs_reader
@pytest.mark.parametrize(("query", "number"), [("what is the total?", 2), ("what is the change?", 4)])
def test_the_answer_is_the_most_relevant_though_its_word_stands_elsewhere(query, number):
    image, quads = page()
    context = tokens.PyramidSampling(tokens.PhraseRelevance(read=True)).context(image, query)
    x, y = (quads[number].mean(axis=0) // 16).astype(int)
    assert context.relevance[y, x] > 0.99 * context.relevance.max()
    assert context.counts["lines read"] <= context.counts["lines found"] == 5
    assert context.query_matters


@needs_reader
def test_two_questions_on_one_image_give_different_tokens_and_lines_are_searched_once():
    image, _ = page()
    allocator = tokens.PyramidSampling(tokens.PhraseRelevance(read=True))
    one = allocator.context(image, "what is the total?")
    other = one.asking("what is the change?")
    cuts = [set(allocator.allocate(context, 30).cut.tolist()) for context in (one, other)]
    assert cuts[0] != cuts[1]
    assert "lines found" in one.counts and "lines found" not in other.counts


def test_by_layout_what_stands_to_the_right_counts_most():
    image, quads = page()
    scores = tokens.PhraseRelevance(read=False)(tokens.TokenContext.of(image, "what is the total?"))
    (label_x, y), (value_x, _) = ((quads[i].mean(axis=0) // 16).astype(int) for i in (1, 2))
    assert scores[y, value_x] > scores[y, label_x] > scores[0, 0]


def test_an_image_without_text_has_the_relevance_of_its_cues():
    image = np.full((96, 96, 3), 0.5, np.float32)
    image[30:50, 40:60] = (0.9, 0.1, 0.1)
    context = tokens.TokenContext.of(image, "what is on the left?")
    for read in (None, False):
        assert tokens.PhraseRelevance(read)(context) == pytest.approx(tokens.CueRelevance()(context))


@needs_reader
def test_a_question_for_a_place_alone_goes_to_the_place():
    image, _ = page()
    there = tokens.PyramidSampling(tokens.PhraseRelevance(read=True)).context(image, "what is at the bottom left?")
    cues = tokens.PyramidSampling(tokens.CueRelevance()).context(image, "what is at the bottom left?")
    np.testing.assert_array_equal(there.relevance, cues.relevance)
    assert there.served.by == cues.served.by == "words of place" and "lines read" not in there.counts
