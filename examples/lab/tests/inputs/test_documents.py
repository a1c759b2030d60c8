"""Made pages are the same every time, vary, and say truly where their answers stand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.reader import can_read, read_lines
from hra_lab.inputs.documents.fields import FIELDS
from hra_lab.inputs.documents.generate import documents


@pytest.fixture(scope="module")
def pages():
    return list(documents(8, seed=5))


def test_a_seed_gives_the_same_pages_and_another_gives_others(pages):
    again = list(documents(3, seed=5))
    assert all(np.array_equal(one.image, other.image) for one, other in zip(again, pages, strict=False))
    assert [field.value for field in again[0].fields] != [field.value for field in next(documents(1, seed=6)).fields]


def test_layouts_sizes_and_cameras_vary(pages):
    assert {page.name.split()[-2] for page in pages} == {"receipt", "form", "letter"}
    assert {page.photographed for page in pages} == {True, False}
    assert len({page.image.shape for page in pages}) >= 4
    assert all(page.image.dtype == np.float32 and 0 <= page.image.min() < page.image.max() <= 1 for page in pages)


def test_every_answer_lies_in_its_page_is_printed_once_and_has_ink(pages):
    for page in pages:
        height, width = page.image.shape[:2]
        for field in page.fields:
            x0, y0, x1, y1 = field.box
            assert 0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height, (page.name, field)
            assert np.ptp(page.image[y0:y1, x0:x1]) > 0.3
            assert field.value in page.texts


@pytest.mark.skipif(not can_read(), reason="needs the extra ocr")
def test_what_is_read_at_the_place_of_an_answer_is_the_answer(pages):
    fields = [(page, field) for page in pages for field in page.fields]
    read = [read_lines(page.image, 1.0, [TextLine(field.quad)])[0].text or "" for page, field in fields]
    right = [_plain(text) == _plain(field.value) for text, (_, field) in zip(read, fields, strict=True)]
    assert np.mean(right) > 0.9


def test_paraphrases_share_no_word_with_any_label_of_their_field():
    for kind in FIELDS.values():
        labels = {word for label in kind.labels for word in re.findall(r"[a-z]{4,}", label.lower())}
        for question in kind.paraphrases:
            shared = labels & set(re.findall(r"[a-z]{4,}", question.lower()))
            assert not shared - {"with", "card"}, question


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())
