from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens

IMAGE = np.random.default_rng(0).random((64, 96, 3), dtype=np.float32)


@pytest.mark.parametrize(
    ("relevance", "query", "by"),
    [
        (tokens.CueRelevance(), "what is at the top left?", "words of place"),
        (tokens.CueRelevance(), "what is this?", "nothing"),
        (tokens.CueRelevance(), "", "nothing"),
        (tokens.UniformRelevance(), "what is at the top left?", "nothing"),
        (lambda context: [[len(context.query), 1.0]], "which?", "relevance"),
    ],
)
def test_a_question_is_used_by_what_it_changes(relevance, query: str, by: str):
    served = tokens.TokenContext.of(IMAGE, query, relevance=relevance).served
    assert (served.by, served.used) == (by, by != "nothing")
