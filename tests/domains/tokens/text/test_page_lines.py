"""Pages that lie on their side or stand on their head, and light print on dark ground."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.relevance import phrase
from hra.domains.tokens.text import page_lines as module
from hra.domains.tokens.text.candidates import candidates
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.page_lines import PageLines, overlooked, page_lines
from hra.domains.tokens.text.reader import can_read
from hra_lab.inputs.documents.typeset import Sheet

needs_ocr = pytest.mark.skipif(not can_read(), reason="needs the extra ocr")
_ROWS = [("Invoice number", "48213"), ("Issued on", "14.03.2019"), ("TOTAL AMOUNT", "319.10"), ("Change given", "4.64")]


def page() -> tuple[np.ndarray, np.ndarray]:
    """A page, and the corners of its total."""
    sheet = Sheet((640, 480), "DejaVuSans.ttf", 30)
    for i, (label, _) in enumerate(_ROWS):
        sheet.text(20, 60 + 90 * i, label)
    quads = [sheet.right(620, 60 + 90 * i, value) for i, (_, value) in enumerate(_ROWS)]
    return np.ascontiguousarray(sheet.pixels()), quads[2]


@needs_ocr
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
@pytest.mark.parametrize("dark", [False, True])
def test_a_page_is_read_as_it_lies_and_its_total_is_found_there(turns, dark, monkeypatch):
    image, quad = page()
    mark = np.zeros(image.shape[:2], bool)
    (x0, y0), (x1, y1) = quad.min(axis=0).astype(int), quad.max(axis=0).astype(int)
    mark[y0:y1, x0:x1] = True
    turned = np.ascontiguousarray(np.rot90(1 - image if dark else image, -turns))
    reads: list[PageLines] = []
    monkeypatch.setattr(phrase, "page_lines", lambda image: reads.append(page_lines(image)) or reads[-1])
    context = tokens.PyramidSampling(tokens.PhraseRelevance(read=True)).context(turned, "what is the total amount?")
    y, x = np.unravel_index(int(context.relevance.argmax()), context.relevance.shape)
    assert np.rot90(mark, -turns)[16 * y : 16 * y + 16, 16 * x : 16 * x + 16].any()
    assert context.served.used and context.served.by == "phrase" and 0.3 < (context.served.confidence or 0) <= 1
    (read,) = reads
    assert read.counts["quarter turns"] == turns
    assert {value for _, value in _ROWS} <= {line.text for line in read.lines}


@needs_ocr
@pytest.mark.parametrize(("contrast", "noise"), [(0.3, 0.0), (0.15, 0.01), (0.08, 0.01)])
@pytest.mark.parametrize("dark", [False, True])
def test_faint_print_on_shaded_paper_is_found_and_read(contrast, noise, dark):
    image, _ = page()
    shade = 0.08 * np.linspace(-1, 1, image.shape[1])[None, :, None] * np.linspace(-1, 1, image.shape[0])[:, None, None]
    grain = noise * np.random.default_rng(0).standard_normal((*image.shape[:2], 1))
    faint = (0.3 - contrast * (image - 1) if dark else 0.75 + contrast * (image - 1)) + shade + grain
    read = page_lines((np.round(255 * faint) / 255).astype(np.float32))
    assert len(read.lines) == 2 * len(_ROWS)
    told = {line.text for line in read.lines}
    assert "319.10" in told and (contrast < 0.1 or {value for _, value in _ROWS} <= told)


@needs_ocr
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_figures_that_the_detector_leaves_out_are_read_as_the_page_lies(turns, monkeypatch):
    sheet = Sheet((640, 480), "DejaVuSans.ttf", 30)
    figures = ["4", "6", "9", "52"]
    for i, (label, _) in enumerate(_ROWS):
        sheet.text(20, 60 + 90 * i, label)
        sheet.right(620, 60 + 90 * i, figures[i])
    found = module.reader.found_lines
    monkeypatch.setattr(
        module.reader, "found_lines", lambda *a: [one for one in found(*a) if max(np.ptp(one.quad, axis=0)) > 100]
    )
    read = page_lines(np.ascontiguousarray(np.rot90(sheet.pixels(), -turns)))
    assert read.counts["quarter turns"] == turns
    assert sorted(line.text or "" for line in read.lines if line.aspect < 3) == sorted(figures)
    numbers = [one.box for one in read.upright if (one.text or "").isdigit()]
    assert len(numbers) == 4 and all(box[0] > 400 for box in numbers)


@needs_ocr
def test_of_running_text_what_ends_before_the_margin_is_read_though_the_rest_is_too_much():
    sheet = Sheet((1500, 1100), "DejaVuSans.ttf", 14)
    words = "how the handlers of signals are called in threads and what they may do there while others wait for them"
    for i in range(60):
        text = f"the digest of file number {i} is {i}abc{i}def{i}" if i % 20 == 7 else f"{words} {words[:30]}"
        sheet.text(30, 10 + 20 * i, text)
    read = page_lines(np.ascontiguousarray(sheet.pixels()))
    assert read.counts["lines read"] < 0.7 * read.counts["lines found"]
    assert sum("digest" in (one.text or "") for one in read.lines) == 3


def line(x0: float, y0: float, x1: float, text: str | None) -> TextLine:
    return TextLine(np.array([[x0, y0], [x1, y0], [x1, y0 + 12], [x0, y0 + 12]]), text)


def contents(gone: set[int], rows: int = 8) -> list[TextLine]:
    """A table of contents: titles, and numbers at the right, some of which were not found."""
    titles = [line(20, 20 * i, 20 + 12 * (i + 4), f"Chapter {'x' * i}") for i in range(rows)]
    return [*titles, *(line(300, 20 * i, 316, str(i + 7)) for i in range(rows) if i not in gone)]


@pytest.mark.parametrize("gone", [set(), {3}, {0}, {2, 5}])
def test_values_that_were_not_found_are_supposed_beside_their_labels(gone):
    made = overlooked(contents(gone))
    assert sorted(round(one.box[1] / 20) for one in made) == sorted(gone)
    for one in made:
        assert one.box[0] == pytest.approx(300) and one.box[2] == pytest.approx(316) and (one.text or "").isdigit()


def test_amounts_are_not_supposed_since_none_is_too_narrow_to_be_found():
    amounts = [line(284, 20 * i, 316, f"{i + 2}.50") for i in range(8) if i != 3]
    assert overlooked([*(line(20, 20 * i, 80, "Article") for i in range(8)), *amounts]) == []


def test_few_values_are_no_column_and_what_is_below_one_is_none_of_it():
    assert overlooked(contents({0, 1, 2, 3})) == []
    assert overlooked([*contents(set()), line(20, 400, 120, "A footnote")]) == []
    assert overlooked([]) == []


def test_numbers_that_were_taken_for_one_line_are_no_value_beside_a_label():
    tall = TextLine(np.array([[300.0, 50], [316, 50], [316, 92], [300, 92]]))
    assert [round(one.box[1] / 20) for one in overlooked([*contents({3}), tall])] == [3]


@given(st.lists(st.integers(1, 900), max_size=120))
def test_labels_are_cut_at_one_width_that_spends_the_budget(widths):
    cut = module._longest(np.array(widths, int))
    spent = sum(min(width, cut) for width in widths)
    if np.isinf(cut):
        assert sum(widths) <= module._READ_WIDTH
    elif cut > module._HEAD:
        assert module._READ_WIDTH - len(widths) < spent <= module._READ_WIDTH < sum(widths)
    else:
        assert sum(min(width, module._HEAD + 1) for width in widths) > module._READ_WIDTH


@needs_ocr
def test_of_titles_that_are_too_many_the_beginnings_are_read_and_the_rest_is_blank():
    """Eighty titles of some fifty letters: more of those that are found than the budget reads to the end."""
    sheet = Sheet((1640, 960), "DejaVuSans.ttf", 13)
    titles = [f"{chr(97 + i % 26) * 3}{i} signals and how their handlers are called in threads" for i in range(80)]
    for i, title in enumerate(titles):
        sheet.text(30, 10 + 20 * i, title)
        sheet.right(930, 10 + 20 * i, str(100 + i))
    read = page_lines(np.ascontiguousarray(sheet.pixels()))
    assert read.counts["pixels of width read"] <= module._READ_WIDTH
    heads = [one.text or "" for one in read.lines if one.box[0] < 60]
    assert len(heads) >= 40
    # The last words are blank, so that letters stand where they are said to stand.
    assert all(6 <= len(text.rstrip()) < 0.8 * len(text) for text in heads)


@needs_ocr
def test_titles_with_a_page_number_are_read_however_long_and_many_they_are():
    """Forty titles of some thirty letters: more of them are read to the letter than running text has a budget for."""
    sheet = Sheet((1040, 760), "DejaVuSans.ttf", 13)
    titles = [f"Signals of kind {chr(97 + i % 26) * 3} and their handlers, part {i}" for i in range(40)]
    for i, title in enumerate(titles):
        sheet.text(30, 20 + 25 * i, title)
        sheet.right(730, 20 + 25 * i, str(10 + i))
    read = page_lines(np.ascontiguousarray(sheet.pixels()))
    heads = [one for one in read.lines if one.text and "handlers" in one.text.replace(" ", "")]
    assert len(heads) >= 18 and read.counts["pixels of width read"] <= module._READ_WIDTH


def test_of_running_text_what_stands_alone_and_what_stands_beside_a_short_line_is_read_first():
    paragraph = [line(20, 20 * i, 500, None) for i in range(6)]
    stated, after = line(20, 180, 320, None), [line(20, 200 + 20 * i, 500, None) for i in range(6)]
    field, short = line(20, 400, 200, None), line(300, 400, 380, None)
    lines = [*paragraph, stated, *after, field, short]
    labels, order = module._order(lines)
    assert np.flatnonzero(labels).tolist() == [len(lines) - 1]
    assert order[0] == len(lines) - 1 and set(order[1:3]) == {6, 13}
    assert sorted(order) == list(range(len(lines)))


def test_of_a_line_that_is_read_in_part_letters_stand_in_that_part():
    whole = line(0, 0, 400, None)
    begun = whole.saying("ab c", np.array([0, 0.2, 0.4, 0.6, 1]))
    known = module._with_blanks(begun, whole, 0.4)
    assert known.text == "ab c" + 6 * " "
    assert known.edges is not None and np.allclose(known.edges, [0, 0.08, 0.16, 0.24, 0.4, *np.linspace(0.5, 1, 6)])
    nearly = module._with_blanks(begun, whole, 0.95)
    assert nearly.text == "ab c" and (nearly.share(0), nearly.share(4)) == (0, 1)
    assert [one.end for one in candidates([nearly]) if one.text == "ab c"] == [1]
