"""A query as a vector without a trained text encoder: what it asks for, and an embedding if there is one."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor

from hra.domains.tokens.channels.texture_array import MODEL_CHANNELS
from hra.domains.tokens.features import project
from hra.errors import ArrayError

CUES = ("text", "anomaly", "object")
"""What a query may ask for; entry i of its vector is 1 for cue i."""

EMBEDDING = slice(len(CUES), len(CUES) + len(MODEL_CHANNELS))
"""Where the projected embedding lies in the vector."""

_TEXT = """
read say says text word words letter letters number numbers digit digits date total sum price amount title heading
caption label name sign written print printed page paragraph line table invoice phone address
"""
_ANOMALY = """
anomaly anomalous unusual odd strange weird wrong different abnormal defect defects defective damage damaged broken
missing unexpected suspicious outlier error fault crack cracked
"""
# Words that name nothing to be seen.
_EMPTY = """
a an and any are as at be by can describe do does for from has have how i image in is it me my of on or photo picture
please see show tell that the their there these they this to us was we what when where which who why with you s
top upper above bottom lower below left right centre center central middle
"""


def cue_query(query: str, width: int = 1024, embedding: Any = None) -> Tensor:
    """The vector of a query for an untrained `RelevanceScorer`.

    The first cue found counts: a word about text, a word about anomalies, else any word that may name an object.

    Parameters
    ----------
    query : the question in English; other words name objects.
    width : of the vector, at least 19.
    embedding : [D], of the query in the space of the model features, or None.

    Returns
    -------
    float32 [width]: one-hot `CUES`, the embedding projected as the model channels are, zeros.

    Raises
    ------
    ArrayError : the width is too small.
    """
    if width < EMBEDDING.stop:
        raise ArrayError(f"a query of width {width}", where="cue_query", fix=f"use at least {EMBEDDING.stop}")
    vector = torch.zeros(width)
    cue = _cue(query)
    if cue is not None:
        vector[CUES.index(cue)] = 1
    if embedding is not None:
        vector[EMBEDDING] = torch.from_numpy(project(embedding, len(MODEL_CHANNELS)))
    return vector


def _cue(query: str) -> str | None:
    words = set(re.findall(r"[^\W\d_]+", query.lower())).difference(_EMPTY.split())
    if words.intersection(_TEXT.split()):
        return "text"
    if words.intersection(_ANOMALY.split()):
        return "anomaly"
    return "object" if words else None
