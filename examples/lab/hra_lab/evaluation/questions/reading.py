"""Whether OCR reads an answer from the tokens alone, on made pages and receipts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.meaning import can_embed
from hra.domains.tokens.text.reader import read_lines
from hra_lab.inputs.documents.document import Document, Field
from hra_lab.inputs.documents.fields import FIELDS
from hra_lab.inputs.documents.generate import documents

BUDGETS = (37, 64, 137, 273)
ORACLE, PHRASE, PARAPHRASED, LAYOUT, DOWN, FULL = (
    *("oracle", "phrase", "phrase, paraphrased", "layout, no OCR", "down-sampling", "the image itself"),
)
_MARGIN = 4.0  # pixels around the answer that the judge sees
_SEED = 3


def read_rows(count: int, progress: Callable[[str], None], seed: int | None = None) -> Iterator[dict[str, Any]]:
    """One row per page, method and budget: whether the answer was read, and seconds of the coarse pass.

    Raises
    ------
    MissingExtra : RapidOCR, Pillow or Matplotlib is not installed.
    """
    seed = _SEED if seed is None else seed
    for number, document in enumerate(documents(count, seed)):
        progress(document.name)
        random = np.random.default_rng((seed, 1, number))
        field = document.fields[int(random.integers(len(document.fields)))]
        paraphrase = FIELDS[field.kind].paraphrases[int(random.integers(2))]
        about = {"page": document.name, "photographed": document.photographed, "field": field.kind}
        with one_core():
            rows = list(_page(document, field, paraphrase))
        yield from ({**about, **row} for row in rows)


@contextmanager
def one_core() -> Iterator[None]:
    """Torch uses one thread in the block, as the other networks do."""
    if not can_embed():
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _page(document: Document, field: Field, paraphrase: str) -> Iterator[dict[str, Any]]:
    """All methods on one field of one page."""
    asked = FIELDS[field.kind].question(field.label)
    yield {"method": FULL, "budget": None, "read": _reads(document.image, field)}
    allocator = tokens.PyramidSampling()
    base = allocator.context(document.image, asked)  # its levels and lines are shared; the first method pays for them
    for method, query, relevance in (
        (ORACLE, asked, tokens.OracleRelevance([field.box])),
        (PHRASE, asked, tokens.PhraseRelevance(read=True)),
        (PARAPHRASED, paraphrase, tokens.PhraseRelevance(read=True)),
        (LAYOUT, asked, tokens.PhraseRelevance(read=False)),
        ("uniform", asked, tokens.UniformRelevance()),
    ):
        context = replace(base, query=query, scorer=relevance)
        started = time.process_time()
        _ = context.relevance
        seconds = time.process_time() - started
        for budget in BUDGETS:
            chosen = allocator.realize(allocator.allocate(context, budget))
            found = {"read": _reads(chosen.reconstruct(), field), "seconds": seconds, "counts": dict(context.counts)}
            yield {"method": method, "budget": budget, "query": query, **found}
    for budget in BUDGETS:
        small = tokens.uniform_downsample(document.image, budget)
        yield {"method": DOWN, "budget": budget, "read": _reads(small, field)}


def _reads(image: np.ndarray, field: Field) -> bool:
    """Whether the recogniser reads the value in its place: its letters and digits, case and spaces aside."""
    outward = field.quad - field.quad.mean(axis=0)
    quad = field.quad + _MARGIN * np.sign(outward)
    (line,) = read_lines(image, 1.0, [TextLine(quad)])
    return _letters(line.text or "") == _letters(field.value)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum() or letter in ".:")
