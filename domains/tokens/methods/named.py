"""Allocators by the names of their parts, as commands and jobs over many images have them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hra.console.choosing import choose, choose_metric, choose_traversal
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.foveated import FoveatedRelevance
from hra.domains.tokens.relevance.registry import relevance_named
from hra.errors import HraError

DEFAULT_RELEVANCE = "phrase"


def named_allocator(
    method: str, relevance: str | None, metric: str | None, traversal: str | None
) -> tuple[TokenAllocator[Any], str]:
    """The method by its name, with another relevance, metric or traversal; and the name of the relevance.

    Raises
    ------
    HraError : an unknown name, or a relevance for a method that has one of its own.
    """
    allocator: TokenAllocator[Any] = choose("hra.methods", method, TokenAllocator)
    if metric is not None:
        allocator.metric = choose_metric(metric)
    if traversal is not None:
        allocator.traversal = choose_traversal(traversal)
    return allocator, _set_relevance(allocator, relevance, method)


def _set_relevance(allocator: TokenAllocator[Any], name: str | None, method: str) -> str:
    """The relevance of that name, foveated where the method is; returns the name of what is used.

    Without a name it is the default one, unless the method has a relevance of its own.
    """
    own, chosen = allocator.relevance, relevance_named(name or DEFAULT_RELEVANCE)
    if isinstance(own, FoveatedRelevance):
        allocator.relevance = replace(own, relevance=chosen)
    elif isinstance(own, CueRelevance):
        allocator.relevance = chosen
    elif name is None:
        return type(own).__name__
    else:
        raise HraError(f"the method {method!r} has a relevance of its own", where="--relevance", fix="leave it out")
    return name or DEFAULT_RELEVANCE
