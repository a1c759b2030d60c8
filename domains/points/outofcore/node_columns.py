"""The nodes of all parts on disk, an array after the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np


class NodeColumns:
    """Files of what nodes have, to which parts are added.

    Parameters
    ----------
    folder : for the files; forms : dtype and length of a row, 0 for a number, by name.
    """

    def __init__(self, folder: Path, forms: Mapping[str, tuple[str, int]]) -> None:
        self.forms = dict(forms)
        self._files = {name: folder / f"nodes-{name}" for name in forms}
        for file in self._files.values():
            file.write_bytes(b"")

    def add(self, **arrays: np.ndarray) -> None:
        """Add rows to some of the columns."""
        for name, values in arrays.items():
            with self._files[name].open("ab") as out:
                np.ascontiguousarray(values, self.forms[name][0]).tofile(out)

    def read(self, name: str, first: int, count: int) -> np.ndarray:
        """Some rows of a column."""
        kind, width = self.forms[name]
        numbers, size = max(width, 1), np.dtype(kind).itemsize
        # Not mapped: mapped pages count as memory of this process for as long as the system likes.
        values = np.fromfile(self._files[name], kind, count * numbers, offset=first * numbers * size)
        return values.reshape(count, width) if width else values
