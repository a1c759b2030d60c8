"""Documents by number and seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hra_lab.inputs.documents.camera import photograph, scan
from hra_lab.inputs.documents.document import Document
from hra_lab.inputs.documents.forms import form
from hra_lab.inputs.documents.letters import letter
from hra_lab.inputs.documents.receipts import receipt

_LAYOUTS = (receipt, form, receipt, letter)


def documents(count: int, seed: int = 0) -> Iterator[Document]:
    """Receipts, forms and letters in turn, every third one photographed, the others scanned.

    Document ``i`` of a seed is the same whatever ``count`` is.

    Raises
    ------
    MissingExtra : Pillow or Matplotlib is not installed.
    """
    for number in range(count):
        random = np.random.default_rng((seed, number))
        page = _LAYOUTS[number % len(_LAYOUTS)](number, random)
        yield (photograph if number % 3 == 2 else scan)(page, random)
