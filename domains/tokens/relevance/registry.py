"""Every relevance that can be had by its name: what the command line chooses from.

>>> from hra.domains import tokens
>>> type(tokens.relevance_named("cues")).__name__
'CueRelevance'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hra.domains.tokens.context.context import Relevance, UniformRelevance
from hra.domains.tokens.relevance.calibrated import calibrated
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.imagenet import ImageNetRelevance
from hra.domains.tokens.relevance.phrase import PhraseRelevance
from hra.domains.tokens.relevance.text_image import TextImageRelevance
from hra.errors import check_choice, check_kind

RELEVANCES: Mapping[str, Callable[[], Relevance]] = MappingProxyType(
    {
        "phrase": PhraseRelevance,
        "layout": lambda: PhraseRelevance(read=False),
        "cues": CueRelevance,
        "imagenet": ImageNetRelevance,
        "uniform": UniformRelevance,
    }
)
"""Name to what makes it: those that read the question first."""

_MODEL = "model:"


def relevance_named(name: str) -> Relevance:
    """The relevance called ``name``; "model:NAME" is a CLIP or SigLIP model of Hugging Face by name or folder.

    Raises
    ------
    HraError : there is none of that name, or its packages are missing.

    Examples
    --------
    >>> from hra.domains import tokens
    >>> tokens.relevance_named("phrase")
    PhraseRelevance(read=None)
    """
    check_kind("name", name, str, "pass a name such as 'phrase', or the relevance itself where one is taken")
    if name.startswith(_MODEL):
        return calibrated(TextImageRelevance(name.removeprefix(_MODEL)), "minmax", floor=0.01)
    check_choice("relevance", name, [*RELEVANCES, "model:NAME"])
    return RELEVANCES[name]()
