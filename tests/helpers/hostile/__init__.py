"""Hostile and odd files with the answer that each one must get, made from nothing but a seed.

`all_cases` lists them, `mutation` damages valid files at random, `judging` runs a reader and says what came of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tests.helpers.hostile import gltf, gltf_extensions, obj, pictures, plain, ply, traces
from tests.helpers.hostile.cases import Case

KINDS = {
    "ply": ply,
    "obj": obj,
    "off and stl": plain,
    "gltf": gltf,
    "gltf extensions": gltf_extensions,
    "images": pictures,
    "traces": traces,
}


def all_cases() -> Iterator[Case]:
    """Every made-up file."""
    return chain.from_iterable(module.cases() for module in KINDS.values())
